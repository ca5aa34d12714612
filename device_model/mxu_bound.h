// SPDX-License-Identifier: Apache-2.0
// The closed-form lower bound of a Work summary whose whole program is one item:
//   max( over engines: way in + work + way out;  over rings: way in + holds/slots + way out )
// Never above the simulation of the tile program with the same Work; no tree, no allocation.
#pragma once

#include <array>
#include <cstdint>

#include "device_model/mxu_costing.h"
#include "schedules/work.h"

namespace tilewright {

struct MxuBound {
  std::int64_t ticks = 0;
  std::array<std::int64_t, kMxuEngines> busy{};  // ticks
  bool ring_bound = false;                       // slots, not an engine, set the time
};

MxuBound mxu_bound(const WorkSummary& summary, const MxuCosting& costing);

}  // namespace tilewright
