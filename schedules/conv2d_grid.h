// SPDX-License-Identifier: Apache-2.0
// The grid of im2col and the sums that its limits and its enumeration share.
#pragma once

#include <cstdint>

#include "schedules/conv2d_pool.h"
#include "schedules/variants.h"

namespace tilewright {

// Bytes of the matrix buffers; e = bytes of an element, accumulators are fp32. The steps count
// under both loads.
struct MatrixBytes {
  std::int64_t l0a = 0, l0b = 0, l0c = 0;
  std::int64_t l1_a_blocks = 0, l1_weights = 0, l1_b_blocks = 0;

  MatrixBytes(const Conv2dPool& w, const Schedule& s);
  std::int64_t l1() const {
    return saturating_add(saturating_add(l1_a_blocks, l1_weights), l1_b_blocks);
  }
};
inline MatrixBytes::MatrixBytes(const Conv2dPool& w, const Schedule& s) {
  using K = Knob;
  const std::int64_t e = bytes_of(w.dtype);
  const std::int64_t a = product(e, s[K::base_m], s[K::base_k]),
                     b = product(e, s[K::base_k], s[K::base_n]);
  l0a = product(a, s[K::db_l0]);
  l0b = product(b, s[K::db_l0]);
  l0c = product(s[K::base_m], s[K::base_n], 4, s[K::db_l0c]);
  if (s[K::weights] == word::resident) {
    l1_weights = product(e, round_up(w.cout, 16), round_up(reduction_length(w), 16));
  } else {
    l1_a_blocks = product(a, s[K::step_ka], s[K::l1]);
  }
  l1_b_blocks = product(b, s[K::step_kb], s[K::l1]);
}
// One of the K steps divides the other.
constexpr bool steps_divide(std::int64_t a, std::int64_t b) { return a % b == 0 || b % a == 0; }

void im2col_for_each_point(const Workload& workload, const Limits& limits, Grid grid,
                           const PointVisitor& visit);
SpaceSize im2col_space_size(const Workload& workload, const Limits& limits, Grid grid);

}  // namespace tilewright
