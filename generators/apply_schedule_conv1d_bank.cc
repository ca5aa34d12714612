// SPDX-License-Identifier: Apache-2.0
// THE SCHEDULE of the filter bank. The output is cut into tiles of m_tile positions; a tile's
// phases and folded samples are prepared once and serve all channels. The inner loop multiplies
// base_n positions by base_m channels in registers.
#include <algorithm>

#include "generators/conv1d_bank.h"

namespace tilewright {

using Halide::TailStrategy;
using Halide::Var;

namespace {

constexpr int kPositionsOfTask = 768;
constexpr int kMostUnrolledFold = 8;  // vectors of a folded tap

void schedule_sums(Conv1dBankFuncs& f, const BankShape& shape, const BankTiles& tiles,
                   const Schedule& schedule) {
  f.sums.bound_extent(f.n, tiles.positions).bound_extent(f.c, schedule[Knob::base_m]);
  f.sums.bound_extent(f.q, shape.chains).bound_extent(f.g, 1);
  f.sums.vectorize(f.n, tiles.vector).unroll(f.n).unroll(f.c).unroll(f.q);
  Halide::Stage product = f.sums.update();
  product.reorder(f.n, f.c, f.q, f.taps.x, f.taps.y)
      .vectorize(f.n, tiles.vector)
      .unroll(f.n)
      .unroll(f.c)
      .unroll(f.q);
  const int factor = std::min(schedule[Knob::unroll], shape.padded_taps / shape.chains);
  if (factor > 1) product.unroll(f.taps.x, factor);
}

void schedule_fold(Conv1dBankFuncs& f, const BankShape& shape, const BankTiles& tiles,
                   const Schedule& schedule, const Var& tile, const Var& group) {
  const bool both = schedule[Knob::fold] == word::both;
  f.operand.compute_at(f.out, both ? tile : group).bound_extent(f.n, tiles.prepared);
  f.operand.bound_extent(f.k, shape.padded_taps).align_storage(f.n, tiles.vector);
  f.operand.vectorize(f.n, tiles.vector);
  if (tiles.prepared <= kMostUnrolledFold * tiles.vector) f.operand.unroll(f.n);
  if (both) {
    f.operand.bound_extent(f.g, shape.groups).reorder(f.g, f.n, f.k, f.ci, f.b).unroll(f.g);
  } else {
    f.operand.bound_extent(f.g, 1);
  }
  for (int i = 0; i < f.operand_updates; ++i) f.operand.update(i).vectorize(f.n, tiles.vector);
}

}  // namespace

void apply_schedule(Conv1dBankFuncs& f, const Conv1dBank& layer, const BankShape& shape,
                    const BankTiles& tiles, const Schedule& schedule) {
  Var nt("nt"), no("no"), ni("ni"), nv("nv"), cg("cg"), cw("cw"), co("co"), ct("ct"), task("task");
  const auto tail = tiles.stands_over ? TailStrategy::GuardWithIf : TailStrategy::ShiftInwards;
  f.out.bound(f.n, 0, as_int(layer.lout()))
      .bound(f.c, 0, as_int(layer.cout))
      .bound(f.b, 0, as_int(layer.n));
  f.out.split(f.n, no, ni, tiles.prepared, tail).split(ni, nv, ni, tiles.positions);
  f.out.split(f.c, cg, cw, shape.group_size)
      .split(cw, co, ct, schedule[Knob::base_m], TailStrategy::GuardWithIf);
  // Phases are copied for several tiles at once: the windows of short tiles overlap by much of a
  // tile.
  const int tiles_of_task = std::max(1, kPositionsOfTask / tiles.prepared);
  f.out.split(no, nt, no, tiles_of_task, TailStrategy::GuardWithIf);
  f.out.reorder(ni, ct, nv, co, cg, no, nt, f.b).vectorize(ni, tiles.vector).unroll(ni).unroll(ct);

  f.out.fuse(nt, f.b, task);
  switch (schedule[Knob::par]) {
    case word::rows:
      f.out.parallel(task);
      break;
    case word::channels:
      f.out.parallel(co);
      break;
    default:
      break;
  }

  f.sums.compute_at(f.out, nv);
  schedule_sums(f, shape, tiles, schedule);
  if (shape.folded) schedule_fold(f, shape, tiles, schedule, no, cg);
  f.packed.compute_root();
  // Scalar copies, sequential reads: faster than gathers or strided vectors, and only some 3 % of
  // the time.
  f.phases.compute_at(f.out, task)
      .reorder_storage(f.m, f.p, f.ci, f.b)
      .reorder(f.p, f.m, f.ci, f.b);
  f.phases.bound_extent(f.p, as_int(layer.stride));
  if (layer.stride <= 16) f.phases.unroll(f.p);
}

void default_schedule(Conv1dBankFuncs& f) {
  f.packed.compute_root();
  if (f.operand_updates > 0) f.operand.compute_root();
  f.sums.compute_root();
}

}  // namespace tilewright
