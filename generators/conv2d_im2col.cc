// SPDX-License-Identifier: Apache-2.0
#include "generators/conv2d_im2col.h"

namespace tilewright {

using Halide::cast;
using Halide::Expr;

namespace {

constexpr int kFractal = 16;

void declare_buffers(Conv2dIm2col& k, const Conv2dPool& layer) {
  const Halide::Type type = halide_type(layer.dtype);
  k.x = Halide::ImageParam(type, 4, "x");
  k.w = Halide::ImageParam(type, 4, "w");
  k.bias = Halide::ImageParam(type, 1, "bias");
  set_dense_shape(k.x, {layer.w, layer.h, layer.cin, layer.n});
  set_dense_shape(k.w, {layer.kw, layer.kh, layer.cin, layer.cout});
  set_dense_shape(k.bias, {layer.cout});
}

// Position in the reduction: K runs over (kh, kw, cin), cin fastest. Beyond its end the last
// element, to be masked.
struct Tap {
  Expr kx, ky, ci, exists;
};
Tap tap_at(const Conv2dPool& layer, const Expr& fractal, const Expr& lane) {
  const int cin = as_int(layer.cin), kw = as_int(layer.kw), length = as_int(layer.kh) * kw * cin;
  const Expr position = fractal * kFractal + lane;
  const Expr k = length % kFractal == 0 ? position : min(position, length - 1);
  return {.kx = k / cin % kw, .ky = k / (cin * kw), .ci = k % cin, .exists = position < length};
}

void define_weights(Conv2dIm2col& k, const Conv2dPool& layer) {
  const int cout = as_int(layer.cout);
  const bool exact = layer.cout % kFractal == 0 && layer.kh * layer.kw * layer.cin % kFractal == 0;
  const Tap tap = tap_at(layer, k.kf, k.kl);
  const Expr channel = k.mf * kFractal + k.ml;
  const Expr weight = k.w(tap.kx, tap.ky, tap.ci, min(channel, cout - 1));
  k.a_gm = Halide::Func("a_gm");
  k.a_gm(k.ml, k.kl, k.kf, k.mf) =
      exact ? weight : select(tap.exists && channel < cout, weight, cast(weight.type(), 0));
}

void define_operand(Conv2dIm2col& k, const Conv2dPool& layer, const Im2colShape& shape) {
  const Halide::Type type = halide_type(layer.dtype);
  // Zeros on all sides: the padding, the rows of the last strip that stand over, and the extra
  // columns.
  const Halide::Func zero_outside = Halide::BoundaryConditions::constant_exterior(
      k.x, cast(type, 0), {{0, as_int(layer.w)}, {0, as_int(layer.h)}});
  k.image = Halide::Func("image");
  k.image(k.xx, k.y, k.ci, k.n) =
      zero_outside(k.xx - as_int(layer.pad_l), k.y - as_int(layer.pad_t), k.ci, k.n);

  const Tap tap = tap_at(layer, k.kf, k.kl);
  const Expr column = k.jf % shape.row_fractals * kFractal + k.jl;
  const Expr row = k.s * shape.rows + k.jf / shape.row_fractals;
  const Expr value =
      k.image(column * as_int(layer.stride_w) + tap.kx * as_int(layer.dil_w),
              row * as_int(layer.stride_h) + tap.ky * as_int(layer.dil_h), tap.ci, k.n);
  const bool exact = layer.kh * layer.kw * layer.cin % kFractal == 0;
  k.b_gm = Halide::Func("b_gm");
  k.b_gm(k.jl, k.kl, k.jf, k.kf, k.s, k.n) =
      exact ? value : select(tap.exists, value, cast(type, 0));
}

void define_product(Conv2dIm2col& k, const Conv2dPool& layer, const Im2colShape& shape) {
  k.a_l1 = Halide::Func("a_l1");
  k.b_l1 = Halide::Func("b_l1");
  k.a_l0 = Halide::Func("a_l0");
  k.b_l0 = Halide::Func("b_l0");
  k.a_l1(k.ml, k.kl, k.kf, k.mf) = k.a_gm(k.ml, k.kl, k.kf, k.mf);
  k.b_l1(k.jl, k.kl, k.jf, k.kf, k.s, k.n) = k.b_gm(k.jl, k.kl, k.jf, k.kf, k.s, k.n);
  k.a_l0(k.ml, k.kl, k.kf, k.mf) = k.a_l1(k.ml, k.kl, k.kf, k.mf);
  k.b_l0(k.jl, k.kl, k.jf, k.kf, k.s, k.n) = k.b_l1(k.jl, k.kl, k.jf, k.kf, k.s, k.n);

  k.taps = Halide::RDom(0, kFractal, 0, shape.k_fractals, "taps");
  k.sums = Halide::Func("sums");
  k.zero = Halide::Func("zero");
  k.zero() = 0.0f;
  k.sums(k.jl, k.ml, k.jf, k.mf, k.s, k.n) = k.zero();  // see kernel.h: zero_of_memory
  k.sums(k.jl, k.ml, k.jf, k.mf, k.s, k.n) +=
      cast<float>(k.a_l0(k.ml, k.taps.x, k.taps.y, k.mf)) *
      cast<float>(k.b_l0(k.jl, k.taps.x, k.jf, k.taps.y, k.s, k.n));

  Expr sum = k.sums(k.jl, k.ml, k.jf, k.mf, k.s, k.n);
  if (layer.bias)
    sum = sum + cast<float>(k.bias(min(k.mf * kFractal + k.ml, as_int(layer.cout) - 1)));
  k.c_gm = Halide::Func("c_gm");
  k.c_gm(k.jl, k.jf, k.ml, k.mf, k.s, k.n) = cast(halide_type(layer.dtype), sum);
}

void define_vector_tail(Conv2dIm2col& k, const Conv2dPool& layer, const Im2colShape& shape) {
  const Halide::Type type = halide_type(layer.dtype);
  const int pool = as_int(layer.pool);
  k.ub = Halide::Func("ub");
  k.ub(k.xx, k.m, k.y, k.n) =
      k.c_gm(k.xx % kFractal, k.y % shape.rows * shape.row_fractals + k.xx / kFractal,
             k.m % kFractal, k.m / kFractal, k.y / shape.rows, k.n);
  const auto at = [&](int i, int j) {
    return cast<float>(k.ub(k.xx * pool + i, k.m, k.y * pool + j, k.n));
  };
  Expr value = at(0, 0);
  for (int j = 0; j < pool; ++j) {
    for (int i = 0; i < pool; ++i) {
      if (i + j > 0) value = max_keeping_nan(value, at(i, j));
    }
  }
  k.pooled = Halide::Func("pooled");
  k.pooled(k.xx, k.m, k.y, k.n) = cast(type, value);  // exact: one of the values read

  const Expr result = k.pooled(k.xx, k.c, k.y, k.n);
  k.out = Halide::Func("y");
  k.out(k.xx, k.y, k.c, k.n) =
      layer.act == Activation::none ? result : cast(type, activate(cast<float>(result), layer.act));
  Halide::OutputImageParam buffer = k.out.output_buffer();
  set_dense_shape(buffer, {layer.pooled_w(), layer.pooled_h(), layer.cout, layer.n});
}

}  // namespace

Im2colShape im2col_shape(const Conv2dPool& layer, std::int64_t rows) {
  const std::int64_t kept_rows =
      layer.pooled_h() * layer.pool;  // rows that pooling drops are not computed
  return {.rows = as_int(rows),
          .pooled_rows = as_int(rows / layer.pool),
          .strips = as_int(ceil_div(kept_rows, rows)),
          .row_fractals = as_int(ceil_div(layer.wout(), kFractal)),
          .m_fractals = as_int(ceil_div(layer.cout, kFractal)),
          .k_fractals = as_int(ceil_div(layer.kh * layer.kw * layer.cin, kFractal))};
}

Conv2dIm2col conv2d_im2col(const Conv2dPool& layer, const Im2colShape& shape) {
  Conv2dIm2col kernel;
  declare_buffers(kernel, layer);
  define_weights(kernel, layer);
  define_operand(kernel, layer, shape);
  define_product(kernel, layer, shape);
  define_vector_tail(kernel, layer, shape);
  return kernel;
}

}  // namespace tilewright
