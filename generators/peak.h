// SPDX-License-Identifier: Apache-2.0
// How many fused multiply-adds this CPU can really do: what a kernel's speed is a share of.
#pragma once

#include <string_view>

namespace tilewright {

struct FmaPeak {
  double gmacs = 0;                  // 10^9 fp32 multiply-adds a second, all threads together
  std::string_view instruction_set;  // "avx512f", "avx2+fma" or "sse2" (multiply and add apart)
};

// Measured in registers only, best of some short runs with the fastest instruction set that the CPU
// has (each is tried: wider is not always faster). Takes about 0.1 s. threads >= 1.
FmaPeak measure_fma_peak(int threads);

}  // namespace tilewright
