// SPDX-License-Identifier: Apache-2.0
// What the model needs of a variant on an NPU: its two readings. One row per variant.
#pragma once

#include <cstdint>
#include <vector>

#include "schedules/limits.h"
#include "schedules/schedule.h"
#include "schedules/tile_program.h"
#include "schedules/work.h"

namespace tilewright {

// Cores that do the same: so many items each, or one part of a result.
struct CoreGroup {
  std::int64_t cores = 0;
  std::int64_t items = 0;
  std::int64_t m = 0, n = 0;  // of the part, where a core grid splits the result
};

using CoreGroups = FixedList<CoreGroup, 4>;

// Which cores do how much, and what no operation of a core's program carries.
struct ChipShare {
  std::vector<CoreGroup> groups;       // of cores that have work
  std::int64_t cores = 0;              // that the kernel is launched on, idle ones included
  std::int64_t vector_once_bytes = 0;  // GM -> UB, over all vector cores, once each
};

struct NpuVariantModel {
  Variant variant;
  ChipShare (*share)(const Workload&, const Schedule&, const Limits&);
  // The groups of which one ends last: the busiest one, or all where parts differ in shape.
  void (*latest)(const Workload&, const Schedule&, const Limits&, CoreGroups&);
  // The program of a core of this group.
  void (*lower)(const Workload&, const Schedule&, const Limits&, const CoreGroup&, TileProgram&);
  // Of the busiest core.
  void (*summarize)(const Workload&, const Schedule&, const Limits&, WorkSummary&);
  // One item of a core of this group: its first one, or any other.
  void (*summarize_item)(const Workload&, const Schedule&, const Limits&, const CoreGroup&,
                         bool first_item, WorkSummary&);
};

const NpuVariantModel* find_npu_model(const Workload& workload, Variant variant);

}  // namespace tilewright
