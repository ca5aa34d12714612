// SPDX-License-Identifier: Apache-2.0
// Acceptance of a kernel's output, element by element, against a Reference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "generators/arrays.h"
#include "generators/reference.h"
#include "schedules/workload.h"

namespace tilewright {

enum class Gate : std::uint8_t {
  tolerance,  // the operator's gate, below
  exact,  // inputs are small integers: the output must be the reference rounded once, nothing else
};

// conv1d_bank: |y - ref| <= 1e-5 + 1e-5 |ref|, ref rounded once to fp32.
// conv2d_pool: |y - ref| <= u_out |ref| + 1.01 K 2^-24 sum|x*w|, K products, u_out = 2^-24 or 2^-11
// (half). Where
//   u_out |ref| is smaller than half a step of the output type's subnormals, that half step takes
//   its place: no rounding can do better.
// Not finite: a NaN of the reference asks for a NaN; an Inf asks for the same Inf (conv1d_bank also
// takes NaN, for
//   folding an Inf with its mirror gives one). A finite reference that rounds to Inf takes Inf; one
//   near that border is compared as if Inf were the first number beyond the largest.
struct Tolerance {
  double relative = 0, absolute = 0, per_absolute_sum = 0;
  double half_subnormal = 0;
};
Tolerance tolerance_of(const Workload& workload);
std::string describe_gate(const Workload& workload, Gate gate);

struct GateFailure {
  std::int64_t offset = 0;          // flat
  std::vector<std::int64_t> index;  // C order
  double got = 0, expected = 0, tolerance = 0;
};

struct GateReport {
  std::int64_t outputs = 0;
  std::int64_t failures = 0;
  // conv2d_pool's published gate |y - ref| <= 1e-4 max|ref| (fp32) or 2e-2 max|ref| (fp16), over
  // the finite references; in conv1d_bank the published gate is the gate.
  std::int64_t published_failures = 0;
  // Largest |y - ref| / tolerance over the elements where it is a number: both finite, tolerance
  // positive.
  double worst_ratio = 0;
  // Failures that have no such ratio: NaN or Inf on one side, or any difference under a tolerance
  // of 0.
  std::int64_t unrated_failures = 0;
  std::optional<GateFailure> first_failure;  // of the gate, lowest offset
  bool passed() const { return failures == 0 && published_failures == 0; }
};

// `output` has the workload's output shape and type, `reference` its elements. The result does not
// depend on threads.
GateReport check_gate(const Workload& workload, const ArrayView& output, const Reference& reference,
                      Gate gate);

}  // namespace tilewright
