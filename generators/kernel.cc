// SPDX-License-Identifier: Apache-2.0
#include "generators/kernel.h"

#include <algorithm>

namespace tilewright {

using Halide::Expr;

Halide::Type halide_type(DType dtype) {
  switch (dtype) {
    case DType::fp32:
      return Halide::Float(32);
    case DType::fp16:
      return Halide::Float(16);
    case DType::bf16:
      return Halide::BFloat(16);
    case DType::int8:
      return Halide::Int(8);
  }
  return {};
}

void set_dense_shape(Halide::OutputImageParam& param, const std::vector<std::int64_t>& extents) {
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    param.dim(static_cast<int>(i)).set_bounds(0, as_int(extents[i])).set_stride(as_int(stride));
    stride *= extents[i];
  }
}

namespace {

Expr is_nan_by_bits(const Expr& value) {
  const Expr magnitude =
      Halide::reinterpret<std::uint32_t>(value) & Expr(std::uint32_t{0x7fffffff});
  return magnitude > Expr(std::uint32_t{0x7f800000});
}

}  // namespace

Expr max_keeping_nan(const Expr& a, const Expr& b) {
  return select(is_nan_by_bits(a), a, is_nan_by_bits(b), b, max(a, b));
}

Expr activate(const Expr& value, Activation act) {
  if (act == Activation::none) return value;
  return select(is_nan_by_bits(value), value, max(value, 0.0f));
}

int vector_for(std::int64_t extent, int most) {
  int width = 1;
  while (2 * width <= std::min<std::int64_t>(extent, most)) width *= 2;
  return width;
}

}  // namespace tilewright
