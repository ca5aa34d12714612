// SPDX-License-Identifier: Apache-2.0
// The inner loop of the references: kPositions neighbouring outputs of kFilters filters at once.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tilewright {

inline constexpr std::int64_t kPositions =
    48;  // divisible by 1, 2, 3 (pooling) and by every vector tile
inline constexpr std::int64_t kFilters = 4;

// sums[f * kPositions + j] = chain over t of x[offsets[t] + j] * weights[t * kFilters + f], from t
// = 0 upwards. Reads kPositions elements at each x + offsets[t]. The absolute form has |weights|
// behind each tap's weights (2 * kFilters numbers a tap) and writes the sums of the absolute
// products behind `sums` (at sums + kFilters * kPositions).
template <class T>
using Chains = void (*)(std::span<const std::int64_t> offsets, const T* x, const T* weights,
                        T* sums);

struct ChainKernels {
  std::string_view instruction_set;
  Chains<double> plain,
      absolute;          // the same bits in every set: products of two floats are exact in double
  Chains<float> single;  // fused multiply-adds where the set has them
};
// Those that this CPU can run, the fastest last.
std::span<const ChainKernels> chain_kernels();

}  // namespace tilewright
