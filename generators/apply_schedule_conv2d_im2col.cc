// SPDX-License-Identifier: Apache-2.0
// THE SCHEDULE of the twin: every knob of the NPU schedule becomes the loop, the copy or the buffer
// it stands for. Rings of slots are ring buffers without threads: they show that the slots suffice,
// overlap is the model's affair.
#include <algorithm>
#include <string>
#include <vector>

#include "generators/conv2d_im2col.h"

namespace tilewright {

using Halide::Func;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

namespace {

constexpr int kFractal = 16;
// Rows of a fractal in registers; times 2 or 3 fractals of columns they fill the vector registers.
constexpr int kRegisterRows = 8;

// Loops of the output that other stages refer to.
struct ItemLoops {
  Var core{"core"};          // parallel; cores never synchronise
  Var item{"item"};          // the innermost loop over the items of a core
  std::int64_t items = 1;    // its iterations
  Var ub_block{"ub_block"};  // blocks of ub_m channels of the item
  Var row{"row"};            // pooled rows of a block
};

// Schedules one kernel; a class only to keep the many names at hand.
class Im2colSchedule {
 public:
  Im2colSchedule(Conv2dIm2col& kernel, const Conv2dPool& layer, const Im2colShape& shape,
                 const Schedule& schedule, const KernelContext& context)
      : k_(kernel), layer_(layer), shape_(shape), schedule_(schedule), context_(context) {}

  void apply() {
    output();
    vector_tail();
    slot_in_gm();
    product();
    staging();
    operands_in_gm();
  }

 private:
  int knob(Knob name) const { return schedule_[name]; }
  int fractals(Knob name) const { return schedule_[name] / kFractal; }
  // A buffer of so many slots, filled at `level` and allocated once for all of the loop `owner`
  // runs: the index of `dim` wraps around after `extent`. Halide's ring_buffer() would say the
  // same, but in Halide 21 it forgets the slot where an update reads what it adds to (wrong sums,
  // silently) and fails on loops of one iteration.
  template <class Owner, class OwnerLoop>
  void slots(Func& func, const Owner& owner, const OwnerLoop& owner_loop, const Var& dim,
             std::int64_t extent) const {
    func.store_at(owner, owner_loop)
        .hoist_storage(k_.out, loops_.item)
        .fold_storage(dim, as_int(extent));
  }

  // Items (strip, or part of its channels) are dealt to cores; a core runs its items one after the
  // other.
  void output() {
    Var yo("yo"), yi("yi"), cu("cu"), part("part"), strip("strip"), index("index");
    const Var ub_block = loops_.ub_block;
    const int part_channels = as_int(ceil_div(shape_.m_fractals, knob(Knob::split_m))) * kFractal;
    loops_.row = yi;
    k_.out.bound(k_.xx, 0, as_int(layer_.pooled_w())).bound(k_.y, 0, as_int(layer_.pooled_h()));
    k_.out.bound(k_.c, 0, as_int(layer_.cout)).bound(k_.n, 0, as_int(layer_.n));
    k_.out.split(k_.y, yo, yi, shape_.pooled_rows, TailStrategy::GuardWithIf);
    k_.out.split(k_.c, part, k_.c, part_channels, TailStrategy::GuardWithIf);
    k_.out.split(k_.c, ub_block, cu, knob(Knob::ub_m), TailStrategy::GuardWithIf);
    k_.out.vectorize(k_.xx, vector_for(layer_.pooled_w(), kFractal), TailStrategy::ShiftInwards);
    k_.out.reorder(k_.xx, cu, yi, ub_block, part, yo, k_.n);
    k_.out.fuse(part, yo, strip).fuse(strip, k_.n, index);
    deal(index);
    k_.out.parallel(loops_.core).never_partition_all();
  }

  void deal(const Var& index) {
    const std::int64_t clients =
        context_.vector_cores / context_.cube_cores;  // vector cores of a cube core
    if (knob(Knob::deal) == word::cube_first) {
      loops_.items = ceil_div(layer_.n * shape_.strips * knob(Knob::split_m), context_.cube_cores);
      k_.out.split(index, loops_.item, loops_.core, as_int(context_.cube_cores),
                   TailStrategy::GuardWithIf);
      k_.out.reorder(loops_.item, loops_.core);
      return;
    }
    // Vector core v takes items v, v + stride, ...; a cube core serves its vector cores in turn. A
    // stride below the number of vector cores makes the device repeat items; here each is computed
    // once.
    const int stride =
        knob(Knob::deal_stride) > 0 ? knob(Knob::deal_stride) : as_int(context_.vector_cores);
    Var round("round"), vector_core("vector_core");
    loops_.items = clients;
    k_.out.split(index, round, vector_core, stride, TailStrategy::GuardWithIf);
    k_.out.split(vector_core, loops_.core, loops_.item, as_int(clients), TailStrategy::GuardWithIf);
    k_.out.reorder(loops_.item, round, loops_.core);
  }

  void vector_tail() {
    Var xi("xi");
    k_.ub.compute_at(k_.out, loops_.row).bound(k_.xx, 0, shape_.row_fractals * kFractal);
    k_.ub.vectorize(k_.xx, kFractal);
    // One tile is one row; pooling needs `pool` of them at once.
    slots(k_.ub, k_.out, loops_.ub_block, k_.y,
          std::max<std::int64_t>(knob(Knob::ub_tiles), layer_.pool));
    if (knob(Knob::pool_buf) == word::own) {
      k_.pooled.compute_at(k_.out, loops_.row);
      k_.pooled.vectorize(k_.xx, vector_for(layer_.pooled_w(), kFractal),
                          TailStrategy::ShiftInwards);
    }
  }

  void slot_in_gm() {
    Var ni("ni"), mi("mi");
    const bool m_outermost = knob(Knob::order) == word::order_m;
    k_.c_gm.compute_at(k_.out, loops_.item).hoist_storage(k_.out, loops_.core);
    if (knob(Knob::async) > 1 && loops_.items > 1) k_.c_gm.ring_buffer(knob(Knob::async));
    k_.c_gm.bound(k_.jl, 0, kFractal)
        .bound(k_.ml, 0, kFractal)
        .bound(k_.jf, 0, shape_.n_fractals());
    k_.c_gm.split(k_.jf, n_block_, ni, fractals(Knob::base_n), TailStrategy::GuardWithIf);
    k_.c_gm.split(k_.mf, m_block_, mi, fractals(Knob::base_m), TailStrategy::GuardWithIf);
    const Var inner = m_outermost ? n_block_ : m_block_, outer = m_outermost ? m_block_ : n_block_;
    k_.c_gm.reorder(k_.jl, ni, k_.ml, mi, inner, outer).vectorize(k_.jl);
    k_.c_gm.bound_extent(k_.s, 1).bound_extent(k_.n, 1).never_partition_all();
    block_ = inner;
    outer_block_ = outer;
  }

  void product() {
    k_.sums.compute_at(k_.c_gm, block_).bound(k_.jl, 0, kFractal).bound(k_.ml, 0, kFractal);
    if (knob(Knob::order) == word::order_m) {
      slots(k_.sums, k_.c_gm, outer_block_, k_.jf, knob(Knob::db_l0c) * fractals(Knob::base_n));
    } else {
      slots(k_.sums, k_.c_gm, outer_block_, k_.mf, knob(Knob::db_l0c) * fractals(Knob::base_m));
    }
    k_.sums.vectorize(k_.jl);

    Var mo("mo"), mi("mi"), jo("jo"), ji("ji");
    Halide::Stage update = k_.sums.update();
    const RVar kf = split_reduction(update);
    update.split(k_.ml, mo, mi, kRegisterRows);
    update.split(k_.jf, jo, ji, register_columns(), TailStrategy::GuardWithIf);
    std::vector<VarOrRVar> order{k_.jl, ji, mi, k_.taps.x, kf, mo, jo, k_.mf};
    for (auto block = k_blocks_.rbegin(); block != k_blocks_.rend(); ++block)
      order.emplace_back(block->loop);
    order.emplace_back(k_.s);
    order.emplace_back(k_.n);
    update.reorder(order).vectorize(k_.jl).unroll(ji).unroll(mi).never_partition_all();
  }

  // K: the larger L1 block, the smaller one in it, base blocks, then fractals (returned) and
  // elements: one chain in this order. Blocks that hold all of K, or equal ones, need no loop of
  // their own.
  RVar split_reduction(Halide::Stage& update) {
    const int base = fractals(Knob::base_k);
    const auto [small, large] = std::minmax({knob(Knob::step_ka), knob(Knob::step_kb)});
    RVar rest = k_.taps.y;
    for (const std::int64_t size :
         {std::int64_t{large} * base, std::int64_t{small} * base, std::int64_t{base}}) {
      const bool innermost = size == base;
      if (!innermost && size >= shape_.k_fractals) continue;
      if (!k_blocks_.empty() && k_blocks_.back().size == size) continue;
      const std::string number = std::to_string(k_blocks_.size());
      const RVar loop("k_block" + number), inner("in_k_block" + number);
      update.split(rest, loop, inner, as_int(size), TailStrategy::GuardWithIf);
      k_blocks_.push_back({loop, size});
      rest = inner;
    }
    return rest;
  }

  // Fractals of columns in registers: as many as divide both whole blocks and the tail block.
  int register_columns() const {
    const int block = fractals(Knob::base_n), tail = shape_.n_fractals() % block;
    for (const int columns : {3, 2}) {
      if (block % columns == 0 && tail % columns == 0) return columns;
    }
    return 1;
  }

  void staging() {
    if (knob(Knob::weights) == word::resident) {
      k_.a_l1.compute_at(k_.out, loops_.core);
    } else {
      stage_l1(k_.a_l1, knob(Knob::step_ka), word::order_m, k_.mf, fractals(Knob::base_m));
    }
    stage_l1(k_.b_l1, knob(Knob::step_kb), word::order_n, k_.jf, fractals(Knob::base_n));
    const int base = fractals(Knob::base_k);
    for (Func* copy : {&k_.a_l0, &k_.b_l0})
      copy_k_block(*copy, base, std::int64_t{knob(Knob::db_l0)} * base);
    for (Func* copy : {&k_.a_l1, &k_.a_l0}) copy->bound(k_.ml, 0, kFractal).vectorize(k_.ml);
    for (Func* copy : {&k_.b_l1, &k_.b_l0}) copy->bound(k_.jl, 0, kFractal).vectorize(k_.jl);
  }

  // norm: one base block a copy, step*l1 slots. mdl: a step block a copy, l1 slots; one that holds
  // all of K stays while the other operand's blocks pass by, if its own block loop is outermost.
  void stage_l1(Func& copy, int step, int outermost_for, const Var& dim, int block) {
    const std::int64_t base = fractals(Knob::base_k), step_fractals = step * base,
                       slots_l1 = knob(Knob::l1);
    if (knob(Knob::load) == word::norm) {
      copy_k_block(copy, base, slots_l1 * step_fractals);
    } else if (knob(Knob::order) == outermost_for && step_fractals >= shape_.k_fractals) {
      copy.compute_at(k_.c_gm, outer_block_);
      slots(copy, k_.out, loops_.item, dim, slots_l1 * block);
    } else {
      copy_k_block(copy, step_fractals, slots_l1 * step_fractals);
    }
  }

  // A copy of `size` fractals of K at a time, in a buffer of `depth` that wraps around within the
  // next larger block. Where the larger blocks do not divide K, the last one has iterations without
  // work that repeat the last copy: they would break the order in which a buffer wraps around, so
  // it keeps one slot.
  void copy_k_block(Func& copy, std::int64_t size, std::int64_t depth) {
    std::size_t i = 0;
    while (i < k_blocks_.size() && k_blocks_[i].size != size) ++i;
    if (i == k_blocks_.size()) {  // all of K
      copy.compute_at(k_.c_gm, block_).hoist_storage(k_.out, loops_.item);
      return;
    }
    copy.compute_at(k_.sums, k_blocks_[i].loop);
    if (i == 0) {
      slots(copy, k_.c_gm, block_, k_.kf, depth);
    } else if (shape_.k_fractals % k_blocks_[0].size == 0) {
      slots(copy, k_.sums, k_blocks_[i - 1].loop, k_.kf, depth);
    } else {
      copy.hoist_storage(k_.out, loops_.item);
    }
  }

  // The layout step: for all strips before the product (host), or strip by strip on the core that
  // needs it (device).
  void operands_in_gm() {
    k_.zero.compute_root();
    k_.a_gm.compute_root().bound(k_.ml, 0, kFractal).vectorize(k_.ml).parallel(k_.mf);
    k_.b_gm.bound(k_.jl, 0, kFractal).vectorize(k_.jl);
    k_.image.vectorize(k_.xx, kFractal);
    if (knob(Knob::transdata) == word::on_host) {
      Var task("task");
      k_.b_gm.compute_root().fuse(k_.s, k_.n, task).parallel(task);
      k_.image.compute_root().parallel(k_.ci);
    } else {
      k_.b_gm.compute_at(k_.out, loops_.item);
      k_.image.compute_at(k_.out, loops_.item);
    }
  }

  Conv2dIm2col& k_;
  const Conv2dPool& layer_;
  const Im2colShape& shape_;
  const Schedule& schedule_;
  const KernelContext& context_;
  ItemLoops loops_;
  Var m_block_{"m_block"}, n_block_{"n_block"}, block_{"block"}, outer_block_{"outer_block"};
  struct KBlock {
    RVar loop;
    std::int64_t size;  // fractals
  };
  std::vector<KBlock> k_blocks_;  // outermost first
};

}  // namespace

void apply_schedule(Conv2dIm2col& kernel, const Conv2dPool& layer, const Im2colShape& shape,
                    const Schedule& schedule, const KernelContext& context) {
  Im2colSchedule(kernel, layer, shape, schedule, context).apply();
}

void default_schedule(Conv2dIm2col& kernel) {
  for (Func* func : {&kernel.zero, &kernel.a_gm, &kernel.image, &kernel.sums}) func->compute_root();
}

}  // namespace tilewright
