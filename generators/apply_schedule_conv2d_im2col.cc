// SPDX-License-Identifier: Apache-2.0
// THE SCHEDULE of the twin: every knob of the NPU schedule becomes the loop, the copy or the buffer
// it stands for. Rings of slots are ring buffers without threads: they show that the slots suffice,
// overlap is the model's affair.
#include <algorithm>

#include "generators/conv2d_im2col.h"

namespace tilewright {

using Halide::Func;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

namespace {

constexpr int kFractal = 16;
constexpr int kRegisterRows =
    8;  // of a fractal; times 2 or 3 fractals of columns they fill the vector registers

// Loops of the output that other stages refer to.
struct ItemLoops {
  Var core{"core"};  // parallel; cores never synchronise
  Var item{"item"};  // the innermost loop over items
  Var row{"row"};    // pooled rows of the item
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
  // So many slots, allocated once per item; one slot needs no ring.
  void slots(Func& func, int count, const Var& level) const {
    func.hoist_storage(k_.out, level);
    if (count > 1) func.ring_buffer(count);
  }

  // Items (strip, or part of its channels) are dealt to cores; a core runs its items one after the
  // other.
  void output() {
    Var yo("yo"), yi("yi"), ub_block("ub_block"), cu("cu"), part("part"), strip("strip"),
        index("index");
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
    if (knob(Knob::deal) == word::cube_first) {
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
    k_.out.split(index, round, vector_core, stride, TailStrategy::GuardWithIf);
    k_.out.split(vector_core, loops_.core, loops_.item,
                 as_int(context_.vector_cores / context_.cube_cores), TailStrategy::GuardWithIf);
    k_.out.reorder(loops_.item, round, loops_.core);
  }

  void vector_tail() {
    Var xi("xi");
    k_.ub.compute_at(k_.out, loops_.row).bound(k_.xx, 0, shape_.row_fractals * kFractal);
    k_.ub.vectorize(k_.xx, kFractal);
    slots(k_.ub, knob(Knob::ub_tiles), loops_.item);
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
    if (knob(Knob::async) > 1) k_.c_gm.ring_buffer(knob(Knob::async));
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
    slots(k_.sums, knob(Knob::db_l0c), loops_.item);
    k_.sums.vectorize(k_.jl);

    // K: the larger L1 block, the smaller one in it, base blocks, fractals, elements. One chain in
    // this order.
    const int base = fractals(Knob::base_k);
    const int large = std::max(knob(Knob::step_ka), knob(Knob::step_kb)) * base;
    const int small = std::min(knob(Knob::step_ka), knob(Knob::step_kb)) * base;
    RVar rest("rest"), in_block("in_block"), kf("kf");
    Var mo("mo"), mi("mi"), jo("jo"), ji("ji");
    Halide::Stage update = k_.sums.update();
    update.split(k_.taps.y, large_k_, rest, large, TailStrategy::GuardWithIf);
    update.split(rest, small_k_, in_block, small, TailStrategy::GuardWithIf);
    update.split(in_block, base_k_, kf, base, TailStrategy::GuardWithIf);
    update.split(k_.ml, mo, mi, kRegisterRows);
    update.split(k_.jf, jo, ji, register_columns(), TailStrategy::GuardWithIf);
    update.reorder(
        {k_.jl, ji, mi, k_.taps.x, kf, mo, jo, k_.mf, base_k_, small_k_, large_k_, k_.s, k_.n});
    update.vectorize(k_.jl).unroll(ji).unroll(mi).never_partition_all();
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
    const bool by_step = knob(Knob::load) == word::mdl;
    const int l1 = knob(Knob::l1);
    const bool keeps_a = kept(Knob::step_ka, word::order_m),
               keeps_b = kept(Knob::step_kb, word::order_n);
    const RVar step_a = knob(Knob::step_ka) >= knob(Knob::step_kb) ? large_k_ : small_k_;
    const RVar step_b = knob(Knob::step_kb) >= knob(Knob::step_ka) ? large_k_ : small_k_;

    if (knob(Knob::weights) == word::resident) {
      k_.a_l1.compute_at(k_.out, loops_.core);
    } else {
      place(k_.a_l1, keeps_a, by_step ? step_a : base_k_);
      slots(k_.a_l1, by_step ? l1 : l1 * knob(Knob::step_ka), loops_.item);
    }
    place(k_.b_l1, keeps_b, by_step ? step_b : base_k_);
    slots(k_.b_l1, by_step ? l1 : l1 * knob(Knob::step_kb), loops_.item);

    for (Func* copy : {&k_.a_l0, &k_.b_l0}) {
      copy->compute_at(k_.sums, base_k_);
      slots(*copy, knob(Knob::db_l0), loops_.item);
    }
    for (Func* copy : {&k_.a_l1, &k_.a_l0}) copy->bound(k_.ml, 0, kFractal).vectorize(k_.ml);
    for (Func* copy : {&k_.b_l1, &k_.b_l0}) copy->bound(k_.jl, 0, kFractal).vectorize(k_.jl);
  }

  // A step block that holds all of K stays in L1 while the other operand's blocks pass by, if its
  // block is outermost.
  bool kept(Knob step, int order) const {
    return knob(Knob::load) == word::mdl && knob(Knob::order) == order &&
           knob(step) * fractals(Knob::base_k) >= shape_.k_fractals;
  }
  void place(Func& copy, bool keeps, const RVar& level) const {
    if (keeps) {
      copy.compute_at(k_.c_gm, outer_block_);
    } else {
      copy.compute_at(k_.sums, level);
    }
  }

  // The layout step: for all strips before the product (host), or strip by strip on the core that
  // needs it (device).
  void operands_in_gm() {
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
  RVar large_k_{"large_k"}, small_k_{"small_k"}, base_k_{"base_k"};
};

}  // namespace

void apply_schedule(Conv2dIm2col& kernel, const Conv2dPool& layer, const Im2colShape& shape,
                    const Schedule& schedule, const KernelContext& context) {
  Im2colSchedule(kernel, layer, shape, schedule, context).apply();
}

void default_schedule(Conv2dIm2col& kernel) {
  for (Func* func : {&kernel.a_gm, &kernel.image, &kernel.sums}) func->compute_root();
}

}  // namespace tilewright
