// SPDX-License-Identifier: Apache-2.0
#include "schedules/matmul_lowering.h"

#include <algorithm>

#include "schedules/blocked_product.h"
#include "schedules/matmul_npu.h"

namespace tilewright {
namespace {

// A row of cores reads the same rows of A, a column of cores the same columns of B, all in step.
// Nobody has read them before; between two reads of the same block all cores together read
//   order m: A again after one column block of B; B again after all of B (and a row block of A)
//   order n: B again after one row block of A; A again after all of A (and a column block of B)
void set_reads(const Matmul& w, const CoreGrid& grid, ProductShape& shape) {
  const std::int64_t e = shape.element_bytes;
  const auto bytes = [&](std::int64_t lines) { return product(lines, shape.k, e); };
  const std::int64_t rows = bytes(std::min(grid.active_m * shape.base_m, w.m));
  const std::int64_t columns = bytes(std::min(grid.active_n * shape.base_n, w.n));
  const std::int64_t blocks = saturating_add(rows, columns);
  shape.a.again_reuse_bytes = shape.order_n ? saturating_add(bytes(w.m), columns) : blocks;
  shape.b.again_reuse_bytes = shape.order_n ? blocks : saturating_add(bytes(w.n), rows);
  const auto share = [](OperandReads& reads, std::int64_t sharers) {
    reads.first_read = true;
    reads.sharing = sharers > 1 ? Sharing::grid : Sharing::none;
    reads.sharers = sharers;
  };
  share(shape.a, grid.active_n);
  share(shape.b, grid.active_m);
}

ProductShape product_shape(const Matmul& w, const Schedule& s, const Limits& limits,
                           const MatmulPart& part) {
  const CoreGrid grid(w, s);
  ProductShape shape;
  shape.m = round_up(part.m, limits.fractal);
  shape.n = round_up(part.n, limits.fractal);
  shape.k = round_up(w.k, limits.fractal);
  shape.element_bytes = bytes_of(w.dtype);
  shape.dtype = w.dtype;
  shape.base_m = s[Knob::base_m];
  shape.base_n = s[Knob::base_n];
  shape.base_k = s[Knob::base_k];
  shape.step_ka = s[Knob::step_ka];
  shape.step_kb = s[Knob::step_kb];
  shape.mdl = s[Knob::load] == word::mdl;
  shape.order_n = s[Knob::order] == word::order_n;
  shape.db_l0 = s[Knob::db_l0];
  shape.db_l0c = s[Knob::db_l0c];
  shape.l1 = s[Knob::l1];
  shape.l2_bytes = limits.l2;
  shape.b_transposed = w.trans_b;
  shape.a_row = w.k;
  shape.b_row = w.trans_b ? w.k : w.n;
  if (!w.trans_b && grid.active_n > 1) shape.b_spread = grid.single_n;
  set_reads(w, grid, shape);
  return shape;
}

}  // namespace

void lower_matmul(const Matmul& workload, const Schedule& schedule, const Limits& limits,
                  const MatmulPart& part, TileProgram& program) {
  const ProductShape shape = product_shape(workload, schedule, limits, part);
  BlockedProduct blocked(shape);
  program.clear();
  blocked.add_rings(program);
  const std::uint8_t result =
      program.add_ring("C", Memory::gm, 1, product(shape.m, shape.n, shape.element_bytes));
  program.add("bind").access(result, verb::take);
  blocked.emit(program, result);
}

void summarize_matmul(const Matmul& workload, const Schedule& schedule, const Limits& limits,
                      const MatmulPart& part, WorkSummary& summary) {
  BlockedProduct(product_shape(workload, schedule, limits, part)).summarize(summary);
  summary.launch = summary.call = summary.pool = Work{};
  summary.items = summary.client_items = summary.client_slots = 1;
}

}  // namespace tilewright
