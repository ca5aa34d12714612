// SPDX-License-Identifier: Apache-2.0
// conv2d_pool as a workload: its row of the operator table, and the matrix product that its
// convolution is.
#pragma once

#include <cstdint>

#include "schedules/operators.h"
#include "schedules/units.h"

namespace tilewright {

Operator conv2d_pool_operator();

// Rows of the convolution that pooling keeps: a remainder of hout mod pool is never computed.
inline std::int64_t kept_rows(const Conv2dPool& w) { return w.pooled_h() * w.pool; }
// Reduction length of the direct form and of im2col: Kh*Kw*Cin/groups.
inline std::int64_t reduction_length(const Conv2dPool& w) {
  return w.kh * w.kw * (w.cin / w.groups);
}
// OWp: one output row as columns of the matrix product, padded to the fractal of 16.
inline std::int64_t padded_row(const Conv2dPool& w) { return round_up(w.wout(), 16); }

}  // namespace tilewright
