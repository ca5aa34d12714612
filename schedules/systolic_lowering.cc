// SPDX-License-Identifier: Apache-2.0
#include "schedules/systolic_lowering.h"

#include <algorithm>
#include <optional>

#include "schedules/conv2d_pool.h"

namespace tilewright {
namespace {

Work copy(Path path, DType dtype, std::int64_t rows, std::int64_t row_bytes) {
  Work work;
  work.kind = WorkKind::copy;
  work.path = path;
  work.dtype = dtype;
  work.rows = rows;
  work.row_bytes = row_bytes;
  return work;
}

class Emitter {
 public:
  Emitter(const SystolicPlan& plan, TileProgram& program)
      : p_(plan), program_(program), m_(plan.m()), n_(plan.n()), k_(plan.k()) {}

  void emit() {
    program_.clear();
    a_ = program_.add_ring("A", Memory::on_chip, p_.slots, p_.a_bytes());
    b_ = program_.add_ring("B", Memory::on_chip, p_.slots, p_.b_bytes());
    c_ = program_.add_ring("C", Memory::on_chip, p_.accumulators, p_.accumulator_bytes());
    const Block of_full_row{m_.size, n_.last()};
    row(m_.first(), std::nullopt);
    if (m_.full > 0) {
      program_.repeat(m_.full - 1, [&] { row(m_.size, of_full_row); });
      if (m_.tail > 0) row(m_.tail, of_full_row);
    }
    if (p_.late_store()) store({m_.last(), n_.last()}, 0);
  }

 private:
  struct Block {
    std::int64_t rows, columns;
  };
  using Before = std::optional<Block>;  // the block before, none at the very start

  void row(std::int64_t rows, Before before) {
    block({rows, n_.first()}, before);
    if (n_.full == 0) return;
    const Block full{rows, n_.size};
    program_.repeat(n_.full - 1, [&] { block(full, full); });
    if (n_.tail > 0) block({rows, n_.tail}, full);
  }

  void block(const Block& b, const Before& before) {
    load(b, k_.first());
    program_.add("bind").access(c_, verb::take);
    if (before) turn();
    multiply(b, k_.first());
    if (before && p_.late_store()) store(*before, 1);
    if (k_.full > 0) {
      program_.repeat(k_.full - 1, [&] { pass(b, k_.size); });
      if (k_.tail > 0) pass(b, k_.tail);
    }
    if (!p_.late_store()) store(b, 0);
  }

  void pass(const Block& b, std::int64_t depth) {
    load(b, depth);
    turn();
    multiply(b, depth);
  }
  void load(const Block& b, std::int64_t depth) {
    program_.add("load_b", p_.load_b(b.columns, depth)).access(b_, verb::take | verb::write);
    program_.add("load_a", p_.load_a(b.rows, depth)).access(a_, verb::take | verb::write);
  }
  void turn() {
    if (!p_.stationary) return;
    Work work;
    work.kind = WorkKind::turn;
    program_.add("turn", work);
  }
  void multiply(const Block& b, std::int64_t depth) {
    program_.add(p_.stationary ? "stream" : "product", p_.multiply(b.rows, b.columns, depth))
        .access(a_, verb::read)
        .access(b_, verb::read)
        .access(c_, verb::write);
  }
  void store(const Block& b, std::uint8_t lag) {
    program_.add("store", p_.store(b.rows, b.columns)).access(c_, verb::read, lag);
  }

  const SystolicPlan& p_;
  TileProgram& program_;
  SystolicPlan::Axis m_, n_, k_;
  std::uint8_t a_ = 0, b_ = 0, c_ = 0;
};

}  // namespace

ProductSizes product_sizes(const Workload& workload) {
  if (const auto* w = std::get_if<Matmul>(&workload)) return {w->m, w->n, w->k};
  const auto& conv = std::get<Conv2dPool>(workload);
  return {product(conv.n, kept_rows(conv), conv.wout()), conv.cout, reduction_length(conv)};
}

Work SystolicPlan::load_a(std::int64_t rows, std::int64_t depth) const {
  return copy(Path::dma_in, dtype, rows, depth * element_bytes);
}
Work SystolicPlan::load_b(std::int64_t columns, std::int64_t depth) const {
  return copy(Path::dma_in, dtype, depth, columns * element_bytes);
}
Work SystolicPlan::store(std::int64_t rows, std::int64_t columns) const {
  return copy(Path::dma_out, dtype, rows, columns * element_bytes);
}
Work SystolicPlan::multiply(std::int64_t rows, std::int64_t columns, std::int64_t depth) const {
  Work work;
  work.kind = stationary ? WorkKind::stream : WorkKind::product;
  work.dtype = dtype;
  work.m = rows;
  work.n = columns;
  work.k = depth;
  return work;
}

SystolicPlan systolic_plan(const Workload& workload, const Schedule& schedule,
                           const Limits& limits) {
  SystolicPlan plan;
  plan.product = product_sizes(workload);
  plan.dtype = dtype_of(workload);
  plan.element_bytes = bytes_of(plan.dtype);
  plan.stationary = schedule.variant == Variant::systolic;
  plan.slots = limits.sram_slots;
  plan.accumulators = schedule[Knob::db_l0c];
  const auto base = [](std::int64_t extent, std::int64_t wanted) {
    return std::clamp<std::int64_t>(wanted, 1, extent);
  };
  plan.base.m = base(plan.product.m, schedule[Knob::base_m]);
  plan.base.n =
      base(plan.product.n, plan.stationary ? limits.array_columns : schedule[Knob::base_n]);
  plan.base.k = base(plan.product.k, plan.stationary ? limits.array_rows : schedule[Knob::base_k]);
  return plan;
}

void lower_systolic(const SystolicPlan& plan, TileProgram& program) {
  Emitter(plan, program).emit();
}

}  // namespace tilewright
