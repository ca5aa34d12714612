// SPDX-License-Identifier: Apache-2.0
// The grid of im2col and the sums that its limits and its enumeration share.
#pragma once

#include <cstdint>

#include "schedules/conv2d_pool.h"
#include "schedules/npu_rules.h"
#include "schedules/variants.h"

namespace tilewright {

// Bytes of im2col's matrix buffers: resident weights lie in L1 as a whole.
struct MatrixBytes : BlockBytes {
  std::int64_t l1_weights = 0;

  MatrixBytes(const Conv2dPool& w, const Schedule& s) : BlockBytes(bytes_of(w.dtype), s) {
    if (s[Knob::weights] != word::resident) return;
    l1_a_blocks = 0;
    l1_weights =
        product(bytes_of(w.dtype), round_up(w.cout, 16), round_up(reduction_length(w), 16));
  }
  std::int64_t l1() const { return saturating_add(BlockBytes::l1(), l1_weights); }
};

void im2col_for_each_point(const Workload& workload, const Limits& limits, Grid grid,
                           const PointVisitor& visit);
SpaceSize im2col_space_size(const Workload& workload, const Limits& limits, Grid grid);

}  // namespace tilewright
