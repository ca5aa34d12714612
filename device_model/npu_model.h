// SPDX-License-Identifier: Apache-2.0
// What the model needs of a variant on an NPU: its two readings. One row per variant.
#pragma once

#include <cstdint>

#include "schedules/dealing.h"
#include "schedules/limits.h"
#include "schedules/schedule.h"
#include "schedules/tile_program.h"
#include "schedules/work.h"

namespace tilewright {

// Which cores do how much, and what no operation of a core's program carries.
struct ChipShare {
  Dealing dealing;
  std::int64_t vector_core_once_bytes = 0;  // GM -> UB, once on every vector core that has an item
};

struct NpuVariantModel {
  Variant variant;
  ChipShare (*share)(const Workload&, const Schedule&, const Limits&);
  // The program of a core with so many items.
  void (*lower)(const Workload&, const Schedule&, const Limits&, std::int64_t items, TileProgram&);
  // Of the busiest core.
  void (*summarize)(const Workload&, const Schedule&, const Limits&, WorkSummary&);
  void (*summarize_item)(const Workload&, const Schedule&, const Limits&, bool first_item,
                         WorkSummary&);
};

const NpuVariantModel* find_npu_model(const Workload& workload, Variant variant);

}  // namespace tilewright
