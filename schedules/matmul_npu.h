// SPDX-License-Identifier: Apache-2.0
// matmul as `blocked` on an NPU: a grid of cores splits the result, each core multiplies its part
// in blocks. Its limits, its grid of schedules and its hand schedule.
#pragma once

#include "schedules/units.h"
#include "schedules/variants.h"

namespace tilewright {

const VariantRow& matmul_blocked_npu_row();

// The parts of the result, in elements: every core has single_m x single_n, the last ones of each
// axis what is left.
struct CoreGrid {
  std::int64_t single_m = 0, single_n = 0, last_m = 0, last_n = 0;
  std::int64_t active_m = 0, active_n = 0;  // cores along each axis that have a part

  CoreGrid(const Matmul& w, const Schedule& s) : CoreGrid(w, s[Knob::cores_m], s[Knob::cores_n]) {}
  CoreGrid(const Matmul& w, std::int64_t cores_m, std::int64_t cores_n)
      : single_m(ceil_div(w.m, cores_m)),
        single_n(ceil_div(w.n, cores_n)),
        active_m(ceil_div(w.m, single_m)),
        active_n(ceil_div(w.n, single_n)) {
    last_m = w.m - (active_m - 1) * single_m;
    last_n = w.n - (active_n - 1) * single_n;
  }
};

void matmul_for_each_point(const Workload& workload, const Limits& limits, Grid grid,
                           const PointVisitor& visit);
SpaceSize matmul_space_size(const Workload& workload, const Limits& limits, Grid grid);

}  // namespace tilewright
