// SPDX-License-Identifier: Apache-2.0
// What must hold before Halide sees a schedule. Halide accepts most nonsense silently (a block that
// does not divide, a huge unroll) and the kernel then fails when it runs, or the compiler does not
// end.
#pragma once

#include <cstdint>

#include "schedules/result.h"
#include "schedules/schedule.h"
#include "schedules/workload.h"

namespace tilewright {

struct EmissionLimits {
  std::int64_t vector = 16;        // elements of the target's natural fp32 vector
  std::int64_t vector_cores = 40;  // npu
};

// Errors (usage) name the knob or the field, its value, and the nearest one that works.
Result<void> check_emission(const Workload& workload, const Schedule& schedule,
                            const EmissionLimits& limits);

// The vector width that the schedule asks for: knob vec, where 0 stands for the natural one.
std::int64_t vector_elements(const Schedule& schedule, std::int64_t natural);

}  // namespace tilewright
