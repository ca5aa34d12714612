// SPDX-License-Identifier: Apache-2.0
// A matrix product on a chip with one systolic array, one SRAM and one off-chip channel:
//   blocked   base_m x base_n x base_k blocks at the array's flat peak (matmul)
//   systolic  weight stationary: the reduction on the array's R rows, output channels on its C
//             columns, up to base_m positions streamed through each R x C tile of weights (matmul,
//             and a convolution as its im2col product, which lies in memory ready-made)
// Every block of the result is finished before the next one starts; its partial sums stay in SRAM.
// Nothing is kept between blocks. Sizes are as they are, not padded.
#pragma once

#include <cstdint>

#include "schedules/limits.h"
#include "schedules/schedule.h"
#include "schedules/tile_program.h"
#include "schedules/units.h"
#include "schedules/work.h"

namespace tilewright {

// The product of a workload: a matmul, or the im2col product of the rows that pooling keeps.
struct ProductSizes {
  std::int64_t m = 0, n = 0, k = 0;
};
ProductSizes product_sizes(const Workload& workload);

struct SystolicPlan {
  ProductSizes product;
  ProductSizes base;  // of a block, at most the product's
  std::int64_t element_bytes = 0;
  DType dtype = DType::fp16;
  bool stationary = false;                   // variant systolic
  std::int64_t slots = 1, accumulators = 1;  // of A and of B; of the result

  // A number of blocks of one size along an axis, and a smaller last one (0 = none).
  struct Axis {
    std::int64_t full = 0, size = 0, tail = 0;
    std::int64_t count() const { return full + (tail > 0); }
    std::int64_t first() const { return full > 0 ? size : tail; }
    std::int64_t last() const { return tail > 0 ? tail : size; }
  };
  static Axis split(std::int64_t extent, std::int64_t base) {
    return {extent / base, base, extent % base};
  }
  Axis m() const { return split(product.m, base.m); }
  Axis n() const { return split(product.n, base.n); }
  Axis k() const { return split(product.k, base.k); }
  // With a second accumulator a block's result leaves while the next block is computed.
  bool late_store() const { return accumulators > 1; }

  // Bytes of one block of A and of B.
  std::int64_t a_bytes() const { return tilewright::product(base.m, base.k, element_bytes); }
  std::int64_t b_bytes() const { return tilewright::product(base.k, base.n, element_bytes); }
  std::int64_t accumulator_bytes() const { return tilewright::product(base.m, base.n, 4); }

  Work load_a(std::int64_t rows, std::int64_t depth) const;
  Work load_b(std::int64_t columns, std::int64_t depth) const;
  Work multiply(std::int64_t rows, std::int64_t columns, std::int64_t depth) const;
  Work store(std::int64_t rows, std::int64_t columns) const;
};
SystolicPlan systolic_plan(const Workload& workload, const Schedule& schedule,
                           const Limits& limits);

// Precondition: the schedule is feasible.
void lower_systolic(const SystolicPlan& plan, TileProgram& program);

}  // namespace tilewright
