// SPDX-License-Identifier: Apache-2.0
// conv2d_pool, variant `direct`: implicit im2col for a CPU, bias, pooling and activation fused.
// Costly to include.
//
// Arithmetic: one fp32 chain of multiply-adds per output, in the order (input-channel block, kh,
// kw, channel in the block); pooling, bias and activation in fp32; one rounding to the output type.
// Pooling before the bias is exact because x -> x + b is monotone.
#pragma once

#include "generators/kernel.h"

namespace tilewright {

// Sizes that shape the packed weights and the accumulators.
struct DirectTile {
  int channels =
      0;  // output channels of a register tile; weights are padded with zeros to a multiple
  int positions = 0;  // positions of one output row of a register tile, at most base_n
  int block = 0;      // input channels of a block
};
DirectTile direct_tile(const Conv2dPool& layer, const Schedule& schedule);

// Dimensions, innermost first.
struct Conv2dDirect {
  Halide::ImageParam x, w, bias;
  Halide::Func image;   // (x, y, ci, n): the padded image in fp32
  Halide::Func packed;  // (c in tile, kw, kh, ci, tile): weights in fp32
  Halide::Func sums;    // (c, position in tile, tile of the row, conv row, n): the accumulators
  Halide::Func out;     // (x, y, c, n)
  Halide::RDom taps;    // (ci in block, kw, kh, block): update 0 of sums
  Halide::RDom tail;  // (ci in the last, shorter block, kw, kh): update 1, where cin is no multiple
                      // of the block
  bool has_tail = false;
  bool plain = false;  // fp32 without padding: image is x itself and needs no copy
  Halide::Var xx{"xx"}, y{"y"}, c{"c"}, n{"n"}, p{"p"}, t{"t"}, ci{"ci"}, cc{"cc"}, kx{"kx"},
      ky{"ky"}, co{"co"};
};
Conv2dDirect conv2d_direct(const Conv2dPool& layer, const DirectTile& tile);

// The one place where this variant's knobs become directives (apply_schedule_conv2d_direct.cc).
void apply_schedule(Conv2dDirect& kernel, const Conv2dPool& layer, const Schedule& schedule,
                    int vector);
void default_schedule(Conv2dDirect& kernel);

}  // namespace tilewright
