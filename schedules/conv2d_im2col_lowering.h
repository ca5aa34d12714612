// SPDX-License-Identifier: Apache-2.0
// conv2d_pool as `im2col` on an NPU: one product of K = Kh*Kw*Cin per strip of `rows` output rows.
// Lowered twice: to the TileProgram of the busiest core, and to the closed-form Work summary of the
// same.
#pragma once

#include <cstdint>

#include "schedules/dealing.h"
#include "schedules/limits.h"
#include "schedules/schedule.h"
#include "schedules/tile_program.h"
#include "schedules/work.h"

namespace tilewright {

// The numbers that both readings start from. Every strip is computed at full height: the last one
// of an image is padded, as a tiling record with one N for all items demands.
struct Im2colItem {
  std::int64_t m = 0, n = 0, k = 0;  // of one item's product, padded to the fractal
  std::int64_t element_bytes = 0;
  Dealing dealing;
  std::int64_t active_cores = 0;  // that have at least one item
  std::int64_t result_bytes = 0;  // what an item hands from the cube core to its vector client
  std::int64_t pooled_bytes = 0;  // what the vector client writes per item
  std::int64_t bias_bytes = 0;    // what every active vector core reads once
};
Im2colItem im2col_item(const Conv2dPool& workload, const Schedule& schedule, const Limits& limits);

// Precondition of both: the schedule is feasible. `items` < 0 takes the busiest core's number;
// another number lowers the program of a core with so many items.
void lower_im2col(const Conv2dPool& workload, const Schedule& schedule, const Limits& limits,
                  TileProgram& program, std::int64_t items = -1);
// `first_item`: with the reads of a core's first item (nobody has read the weights before); the
// first form takes them only if there is no other item, so that the summary is never more than the
// program.
void summarize_im2col(const Conv2dPool& workload, const Schedule& schedule, const Limits& limits,
                      WorkSummary& summary);
void summarize_im2col_item(const Conv2dPool& workload, const Schedule& schedule,
                           const Limits& limits, bool first_item, WorkSummary& summary);

}  // namespace tilewright
