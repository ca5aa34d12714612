// SPDX-License-Identifier: Apache-2.0
// How much a simulated time rests on single numbers of a device: each is halved and doubled, one at
// a time, everything else as it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device_model/model.h"

namespace tilewright {

struct NumberEffect {
  std::string key;
  DeviceNumber number;
  // Cycles with half and with twice the number; none where the schedule does not fit then.
  std::optional<std::int64_t> at_half, at_double;
};

struct Sensitivity {
  std::int64_t cycles = 0;  // with the device as it is
  // The largest spread first: most() decides the result.
  std::vector<NumberEffect> effects;
  // The range over all of them, cycles.
  std::int64_t least = 0, largest = 0;
  // Of largest to smallest cycles; 1 where no other value fits or none changes anything.
  static double spread(const NumberEffect& effect, std::int64_t cycles);
  const NumberEffect& most() const { return effects.front(); }
};

// Keys of the numbers with this origin that can be halved and doubled (switches and sizes of the
// unit's blocks can not): what a range is usually asked over.
std::vector<std::string> numbers_of_origin(const Device& device, Origin origin);

// Errors: an unknown number (the nearest is offered), an infeasible schedule, a device without
// simulator or without model of the variant.
Result<Sensitivity> sensitivity(const Workload& workload, const Schedule& schedule,
                                const Device& device, const std::vector<std::string>& numbers);

}  // namespace tilewright
