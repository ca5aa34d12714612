// SPDX-License-Identifier: Apache-2.0
// What a generator hands to the emitter: one finished Halide pipeline. Costly to include
// (Halide.h): generators/ only.
#pragma once

#include <Halide.h>

#include <cstdint>
#include <vector>

#include "schedules/schedule.h"
#include "schedules/workload.h"

namespace tilewright {

struct Kernel {
  std::vector<Halide::Argument> arguments;  // x, w[, bias]
  Halide::Func output;
};

// What a generator must know beside workload and schedule.
struct KernelContext {
  int vector = 16;  // elements of a natural fp32 vector of the target
  std::int64_t cube_cores = 20, vector_cores = 40;  // npu twins: cores that items are dealt to
  bool scheduled = true;  // false: the same algorithm without its schedule
};

Halide::Type halide_type(DType dtype);

// Fixes every extent and stride of a dense buffer, dimension 0 innermost, so that no address is
// computed from runtime strides and a wrong buffer is refused by the kernel's own checks.
void set_dense_shape(Halide::OutputImageParam& param, const std::vector<std::int64_t>& extents);

// max that keeps a NaN of either side, as PyTorch's pooling does. The test is on the bits, in
// integers: fast-math may assume that no NaN exists and would drop a floating-point test.
Halide::Expr max_keeping_nan(const Halide::Expr& a, const Halide::Expr& b);
Halide::Expr activate(const Halide::Expr& value, Activation act);  // a NaN stays a NaN

// zero_of_memory: every chain of multiply-adds starts from a zero that is read from memory. From a
// literal 0 a short, unrolled chain is 0 + a*b + c*d + e*f; the compiler drops the 0, and its
// fast-math then may start with e*f (LLVM joins fma(a, b, c*d) + e*f to fma(a, b, fma(c, d, e*f))):
// other bits from one unroll factor to the next.

// The largest power of two that is at most `most` and at most `extent`: width of a vector loop over
// a short axis.
int vector_for(std::int64_t extent, int most);

inline int as_int(std::int64_t value) { return static_cast<int>(value); }
inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace tilewright
