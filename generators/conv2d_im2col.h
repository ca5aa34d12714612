// SPDX-License-Identifier: Apache-2.0
// conv2d_pool, variant `im2col`: the functional twin of an NPU schedule. Costly to include
// (Halide.h).
//
// The same strips, base blocks, staging copies and order of accumulation as on the device, run on a
// CPU: it proves a tiling on real data, and says nothing about the device's time. Every array is
// cut into the matrix unit's blocks of 16 x 16 elements ("fractals"), so tails are whole fractals
// and the staged copies have exactly the device's sizes. Matrix product of a strip of R output
// rows: M = cout, N = R*OWp with OWp = wout rounded up to 16 (the extra columns are computed and
// cut), K = kh*kw*cin in this order. M and K are padded with zeros to a multiple of 16.
//
// Arithmetic: one fp32 chain per output over K in order, bias added in fp32, one rounding to the
// output type when the accumulator leaves L0C. The device adds its bias later, in UB; here it joins
// before the rounding, so that a value is rounded once; pooling of rounded values gives the same
// bits because rounding is monotone.
#pragma once

#include "generators/kernel.h"

namespace tilewright {

// Sizes in fractals, and the strips.
struct Im2colShape {
  int rows = 0, pooled_rows = 0;  // of a strip
  int strips = 0;                 // of an image
  int row_fractals = 0;           // OWp / 16
  int m_fractals = 0, k_fractals = 0;
  int n_fractals() const { return rows * row_fractals; }
};
Im2colShape im2col_shape(const Conv2dPool& layer, std::int64_t rows);

// Dimensions, innermost first. jl, ml, kl: place in the fractal (0..15); jf, mf, kf: number of the
// fractal; s: strip.
struct Conv2dIm2col {
  Halide::ImageParam x, w, bias;
  Halide::Func image;                   // (x, y, ci, n): padded image
  Halide::Func a_gm;                    // (ml, kl, kf, mf): weights
  Halide::Func b_gm;                    // (jl, kl, jf, kf, s, n): the im2col operand
  Halide::Func a_l1, b_l1, a_l0, b_l0;  // copies of the two
  Halide::Func zero;                    // what sums start from
  Halide::Func sums;                    // (jl, ml, jf, mf, s, n): L0C, fp32
  Halide::Func c_gm;    // (jl, jf, ml, mf, s, n): the strip's slot in GM, output type
  Halide::Func ub;      // (x, m, convolution row, n): tiles read back
  Halide::Func pooled;  // (x, m, pooled row, n)
  Halide::Func out;     // (x, y, c, n)
  Halide::RDom taps;    // (kl, kf)
  Halide::Var xx{"xx"}, y{"y"}, c{"c"}, n{"n"}, s{"s"}, ci{"ci"}, m{"m"};
  Halide::Var jl{"jl"}, jf{"jf"}, ml{"ml"}, mf{"mf"}, kl{"kl"}, kf{"kf"};
};
Conv2dIm2col conv2d_im2col(const Conv2dPool& layer, const Im2colShape& shape);

// The one place where this variant's knobs become directives (apply_schedule_conv2d_im2col.cc).
void apply_schedule(Conv2dIm2col& kernel, const Conv2dPool& layer, const Im2colShape& shape,
                    const Schedule& schedule, const KernelContext& context);
void default_schedule(Conv2dIm2col& kernel);

}  // namespace tilewright
