// SPDX-License-Identifier: Apache-2.0
#include "schedules/dealing.h"

namespace tilewright {

Dealing deal(std::int64_t items, const Schedule& schedule, const Limits& limits) {
  const std::int64_t stride = schedule[Knob::deal_stride];
  return {.items = items,
          .cube_cores = limits.cube_cores,
          .clients = limits.vector_cores / limits.cube_cores,
          .cube_first = schedule[Knob::deal] == word::cube_first,
          .stride = stride > 0 ? stride : limits.vector_cores};
}

}  // namespace tilewright
