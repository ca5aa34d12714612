// SPDX-License-Identifier: Apache-2.0
// THE SCHEDULE of conv2d_pool `direct`. With base_m:64,base_n:6,base_k:32,rows:6 the multiply-add
// loop runs at about 90 % of the peak of an AVX-512 core with two FMA units: 4 vectors of channels
// times 6 positions are 24 accumulators.
#include <algorithm>

#include "generators/conv2d_direct.h"

namespace tilewright {

using Halide::TailStrategy;
using Halide::Var;

namespace {

// The loop that all the time goes into. The compiler keeps the tile's sums in registers over the
// innermost loop: their addresses do not depend on it, and nothing else in it is stored.
void schedule_product(Halide::Stage stage, const Conv2dDirect& k,
                      const std::vector<Halide::RVar>& taps, std::int64_t block,
                      std::int64_t unroll, int vector) {
  std::vector<Halide::VarOrRVar> order{k.c, k.p, taps[0], taps[1], taps[2], k.t, k.y};
  if (taps.size() > 3) order.emplace_back(taps[3]);
  order.emplace_back(k.n);
  stage.reorder(order).vectorize(k.c, vector).unroll(k.c).unroll(k.p);
  const std::int64_t factor = std::min(unroll, block);
  if (factor > 1) stage.unroll(taps[0], as_int(factor));
}

}  // namespace

void apply_schedule(Conv2dDirect& k, const Conv2dPool& layer, const Schedule& schedule,
                    int vector) {
  const DirectTile tile = direct_tile(layer, schedule);
  const std::int64_t pooled_rows = std::min(schedule[Knob::rows] / layer.pool, layer.pooled_h());
  const int par = schedule[Knob::par];
  const int unroll = schedule[Knob::unroll];

  // A task: some pooled rows of one image. Inside it one register tile's channels after the other.
  Var yo("yo"), yi("yi"), cb("cb"), ct("ct"), task("task");
  k.out.bound(k.xx, 0, as_int(layer.pooled_w())).bound(k.y, 0, as_int(layer.pooled_h()));
  k.out.bound(k.c, 0, as_int(layer.cout)).bound(k.n, 0, as_int(layer.n));
  k.out.split(k.y, yo, yi, as_int(pooled_rows), TailStrategy::GuardWithIf);
  k.out.split(k.c, cb, ct, tile.channels, TailStrategy::GuardWithIf);
  const int width = vector_for(layer.pooled_w(), vector);
  k.out.vectorize(k.xx, width, TailStrategy::ShiftInwards);
  Var at = cb;
  if (par == word::channels) {
    k.out.reorder(k.xx, ct, yi, yo, cb, k.n).fuse(cb, k.n, task).parallel(task);
    at = yo;
  } else {
    k.out.reorder(k.xx, ct, yi, cb, yo, k.n).fuse(yo, k.n, task);
    if (par == word::rows) k.out.parallel(task);
  }

  k.sums.compute_at(k.out, at).bound_extent(k.c, tile.channels).bound_extent(k.p, tile.positions);
  k.sums.vectorize(k.c, vector).unroll(k.c);
  schedule_product(k.sums.update(0), k, {k.taps.x, k.taps.y, k.taps.z, k.taps.w}, tile.block,
                   unroll, vector);
  if (k.has_tail) {
    schedule_product(k.sums.update(1), k, {k.tail.x, k.tail.y, k.tail.z}, layer.cin % tile.block,
                     unroll, vector);
  }

  k.packed.compute_root().vectorize(k.cc, vector);
  if (par != word::none) k.packed.parallel(k.co);
  if (!k.plain) {
    k.image.compute_at(k.out, par == word::channels ? at : task);
    const std::int64_t columns =
        (layer.pooled_w() * layer.pool - 1) * layer.stride_w + (layer.kw - 1) * layer.dil_w + 1;
    k.image.vectorize(k.xx, vector_for(columns, vector), TailStrategy::ShiftInwards);
  }
}

void default_schedule(Conv2dDirect& k) {
  k.packed.compute_root();
  k.sums.compute_root();
}

}  // namespace tilewright
