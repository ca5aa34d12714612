// SPDX-License-Identifier: Apache-2.0
// The closed-form lower bound of a systolic plan, and its totals: no tree, no allocation.
#pragma once

#include <array>
#include <cstdint>

#include "device_model/systolic_costing.h"
#include "schedules/systolic_lowering.h"

namespace tilewright {

struct SystolicBound {
  std::int64_t cycles = 0;
  std::array<std::int64_t, kSystolicEngines> busy{};
  std::int64_t loaded_bytes = 0, stored_bytes = 0, macs = 0;
};

SystolicBound systolic_bound(const SystolicPlan& plan, const SystolicCosting& costing);

}  // namespace tilewright
