// SPDX-License-Identifier: Apache-2.0
#include "generators/conv2d_direct.h"

#include <algorithm>

namespace tilewright {

using Halide::cast;
using Halide::Expr;

DirectTile direct_tile(const Conv2dPool& layer, const Schedule& schedule) {
  // As many tiles as base_n asks for, all as short as that allows: 14 positions in tiles of at most
  // 6 are 5 + 5 + 5 (the last one overlaps) and not 6 + 6 + 6.
  const std::int64_t used_width = layer.pooled_w() * layer.pool;
  const std::int64_t tiles = ceil_div(used_width, schedule[Knob::base_n]);
  return {.channels = schedule[Knob::base_m],
          .positions = as_int(ceil_div(used_width, tiles)),
          .block = as_int(std::min<std::int64_t>(schedule[Knob::base_k], layer.cin))};
}

namespace {

void declare_buffers(Conv2dDirect& k, const Conv2dPool& layer) {
  const Halide::Type type = halide_type(layer.dtype);
  k.x = Halide::ImageParam(type, 4, "x");
  k.w = Halide::ImageParam(type, 4, "w");
  k.bias = Halide::ImageParam(type, 1, "bias");
  set_dense_shape(k.x, {layer.w, layer.h, layer.cin, layer.n});
  set_dense_shape(k.w, {layer.kw, layer.kh, layer.cin, layer.cout});
  set_dense_shape(k.bias, {layer.cout});
}

void define_operands(Conv2dDirect& k, const Conv2dPool& layer, const DirectTile& tile) {
  const bool padded = layer.pad_t + layer.pad_b + layer.pad_l + layer.pad_r > 0;
  k.plain = !padded && layer.dtype == DType::fp32;
  k.image = Halide::Func("image");
  if (padded) {
    const Halide::Func zero_outside = Halide::BoundaryConditions::constant_exterior(
        k.x, cast(halide_type(layer.dtype), 0), {{0, as_int(layer.w)}, {0, as_int(layer.h)}});
    k.image(k.xx, k.y, k.ci, k.n) =
        cast<float>(zero_outside(k.xx - as_int(layer.pad_l), k.y - as_int(layer.pad_t), k.ci, k.n));
  } else {
    k.image(k.xx, k.y, k.ci, k.n) = cast<float>(k.x(k.xx, k.y, k.ci, k.n));
  }

  k.packed = Halide::Func("packed");
  const Expr channel = k.co * tile.channels + k.cc;
  const int last = as_int(layer.cout) - 1;
  const int cin = as_int(layer.cin);
  const Expr in = min(k.ci, cin - 1);
  if (layer.cout % tile.channels == 0) {
    k.packed(k.cc, k.kx, k.ky, k.ci, k.co) =
        select(k.ci < cin, cast<float>(k.w(k.kx, k.ky, in, channel)), 0.0f);
  } else {
    const Expr weight = cast<float>(k.w(k.kx, k.ky, in, min(channel, last)));
    k.packed(k.cc, k.kx, k.ky, k.ci, k.co) = select(channel <= last && k.ci < cin, weight, 0.0f);
  }
}

// A row of `width` positions is cut into tiles of `size`; the last one is shifted inwards, so that
// every tile is full and none reads beyond the row. The few positions that two tiles share are
// computed twice, with the same bits.
struct RowTiles {
  int width, size;
  int count() const { return as_int(ceil_div(width, size)); }
  Expr first(const Expr& tile) const {
    return width % size == 0 ? tile * size : min(tile * size, width - size);
  }
};

void define_sums(Conv2dDirect& k, const Conv2dPool& layer, const DirectTile& tile,
                 const RowTiles& tiles) {
  const int kw = as_int(layer.kw), kh = as_int(layer.kh), cin = as_int(layer.cin);
  const auto product = [&](const Expr& kx, const Expr& ky, const Expr& ci) {
    const Expr column =
        (tiles.first(k.t) + k.p) * as_int(layer.stride_w) + kx * as_int(layer.dil_w);
    const Expr row = k.y * as_int(layer.stride_h) + ky * as_int(layer.dil_h);
    return k.packed(k.c % tile.channels, kx, ky, ci, k.c / tile.channels) *
           k.image(column, row, ci, k.n);
  };
  k.sums = Halide::Func("sums");
  k.sums(k.c, k.p, k.t, k.y, k.n) = k.packed(k.c % tile.channels, 0, 0, cin,
                                             k.c / tile.channels);  // see kernel.h: zero_of_memory
  const int blocks = cin / tile.block, rest = cin % tile.block;
  k.taps = Halide::RDom(0, tile.block, 0, kw, 0, kh, 0, blocks, "taps");
  const Expr channel = k.taps.w * tile.block + k.taps.x;
  k.sums(k.c, k.p, k.t, k.y, k.n) += product(k.taps.y, k.taps.z, channel);
  k.has_tail = rest > 0;
  if (k.has_tail) {
    k.tail = Halide::RDom(0, rest, 0, kw, 0, kh, "tail");
    k.sums(k.c, k.p, k.t, k.y, k.n) += product(k.tail.y, k.tail.z, blocks * tile.block + k.tail.x);
  }
}

void define_output(Conv2dDirect& k, const Conv2dPool& layer, const RowTiles& tiles) {
  const int pool = as_int(layer.pool);
  const auto sum_at = [&](const Expr& column, const Expr& row) {
    const Expr tile = min(column / tiles.size, tiles.count() - 1);
    // The clamp changes nothing; it tells bounds inference what the tiles guarantee.
    return k.sums(k.c, clamp(column - tiles.first(tile), 0, tiles.size - 1), tile, row, k.n);
  };
  Expr value = sum_at(k.xx * pool, k.y * pool);
  for (int j = 0; j < pool; ++j) {
    for (int i = 0; i < pool; ++i) {
      if (i + j > 0) value = max_keeping_nan(value, sum_at(k.xx * pool + i, k.y * pool + j));
    }
  }
  if (layer.bias) value = value + cast<float>(k.bias(k.c));
  k.out = Halide::Func("y");
  k.out(k.xx, k.y, k.c, k.n) = cast(halide_type(layer.dtype), activate(value, layer.act));
  Halide::OutputImageParam buffer = k.out.output_buffer();
  set_dense_shape(buffer, {layer.pooled_w(), layer.pooled_h(), layer.cout, layer.n});
}

}  // namespace

Conv2dDirect conv2d_direct(const Conv2dPool& layer, const DirectTile& tile) {
  const RowTiles tiles{.width = as_int(layer.pooled_w() * layer.pool), .size = tile.positions};
  Conv2dDirect kernel;
  declare_buffers(kernel, layer);
  define_operands(kernel, layer, tile);
  define_sums(kernel, layer, tile, tiles);
  define_output(kernel, layer, tiles);
  return kernel;
}

}  // namespace tilewright
