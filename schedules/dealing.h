// SPDX-License-Identifier: Apache-2.0
// Dealing work items over cores. A cube core j serves the vector cores 2j and 2j+1 (its clients) in
// turn, so a core's work is known by the number of items it has: client 0, client 1, client 0, ...
// Closed forms, no allocation.
#pragma once

#include <cstdint>

#include "schedules/limits.h"
#include "schedules/schedule.h"
#include "schedules/units.h"

namespace tilewright {

struct Dealing {
  std::int64_t items = 0;                    // distinct ones
  std::int64_t cube_cores = 0, clients = 0;  // clients of a cube core
  bool cube_first = false;
  std::int64_t stride = 0;  // between the items of one vector core (paired)

  // Items that vector core v executes.
  std::int64_t items_of_vector_core(std::int64_t v) const {
    if (!cube_first) return items > v ? ceil_div(items - v, stride) : 0;
    const std::int64_t core = v / clients;
    const std::int64_t client = v % clients;
    const std::int64_t mine = items_of_cube_core(core);
    return mine > client ? ceil_div(mine - client, clients) : 0;
  }
  // Items that cube core j executes for all its clients.
  std::int64_t items_of_cube_core(std::int64_t j) const {
    if (cube_first) return items > j ? ceil_div(items - j, cube_cores) : 0;
    std::int64_t sum = 0;
    for (std::int64_t c = 0; c < clients; ++c) sum += items_of_vector_core(j * clients + c);
    return sum;
  }
  // Core 0 is the busiest: it gets the first item of every round.
  std::int64_t busiest() const { return items_of_cube_core(0); }
  std::int64_t busiest_client() const { return items_of_vector_core(0); }
  // Executions on all cores: more than `items` where a stride below the number of vector cores
  // repeats items.
  std::int64_t executions() const {
    std::int64_t sum = 0;
    for (std::int64_t j = 0; j < cube_cores; ++j) sum += items_of_cube_core(j);
    return sum;
  }
};

// paired: vector core v takes items v, v + stride, v + 2*stride ... (stride: deal_stride, 0 = the
// number of vector cores). cube_first: item i goes to cube core i mod cores, and there to its
// clients in turn.
Dealing deal(std::int64_t items, const Schedule& schedule, const Limits& limits);

}  // namespace tilewright
