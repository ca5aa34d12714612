// SPDX-License-Identifier: Apache-2.0
// The closed-form lower bound of a Work summary:
//   head + n*(call + item) + result latency + pool
//   item = max( over engines: way in + work + way out;  over rings: way in + holds/slots + way out
//   )
// Never above the simulation of the tile program with the same Work; no tree, no allocation; rounds
// down.
#pragma once

#include <array>
#include <cstdint>

#include "device_model/costing.h"
#include "schedules/work.h"

namespace tilewright {

struct BoundDetail {
  std::int64_t cycles = 0;
  std::int64_t item = 0;                         // of one item, call not included
  std::array<std::int64_t, kNpuEngines> busy{};  // of one item, per engine
  NpuEngine engine = NpuEngine::mte2;            // the busiest one
  bool ring_bound = false;                       // slots, not an engine, set the item's time
};

std::int64_t bound_cycles(const WorkSummary& summary, const Costing& costing);
BoundDetail bound_detail(const WorkSummary& summary, const Costing& costing);

}  // namespace tilewright
