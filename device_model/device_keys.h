// SPDX-License-Identifier: Apache-2.0
// Which numbers a device file of each kind must have, and what each may be. The reader accepts
// these and no others.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "device_model/device.h"

namespace tilewright {

enum class NumberRule : std::uint8_t {
  positive,      // a rate, a frequency, a fraction above 0
  not_negative,  // a time or a latency
  fraction,      // in (0, 1]
  count,         // a whole number of at least 1
  power_of_two,  // a count that is one
  on_off,        // 0 or 1
};

struct DeviceKey {
  std::string_view name;  // dotted
  NumberRule rule;
};

std::span<const DeviceKey> device_keys(DeviceKind kind);
// What is wrong between numbers that are right one by one: "must ... , not ..." of one of them.
struct RelationProblem {
  std::string_view key;
  std::string text;
};
std::optional<RelationProblem> relation_problem(const Device& device);
// What is wrong with this value, or nothing: "must be a whole number of at least 1, not 0.5".
std::optional<std::string> number_problem(NumberRule rule, double value);

}  // namespace tilewright
