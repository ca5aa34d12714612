// SPDX-License-Identifier: Apache-2.0
// matmul as `blocked` on an NPU: the program of one core of the grid and its closed form. A pure
// matmul kernel has neither head nor call.
#pragma once

#include <cstdint>

#include "schedules/limits.h"
#include "schedules/schedule.h"
#include "schedules/tile_program.h"
#include "schedules/work.h"

namespace tilewright {

// A part of the result, in elements as they are, not padded.
struct MatmulPart {
  std::int64_t m = 0, n = 0;
};

// Precondition of both: the schedule is feasible.
void lower_matmul(const Matmul& workload, const Schedule& schedule, const Limits& limits,
                  const MatmulPart& part, TileProgram& program);
void summarize_matmul(const Matmul& workload, const Schedule& schedule, const Limits& limits,
                      const MatmulPart& part, WorkSummary& summary);

}  // namespace tilewright
