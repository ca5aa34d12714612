// SPDX-License-Identifier: Apache-2.0
// The inner loop of the references: kPositions neighbouring outputs of kFilters filters at once.
#pragma once

#include <cstdint>
#include <span>

namespace tilewright {

inline constexpr int kPositions = 48;  // divisible by 1, 2, 3 (pooling) and by every vector tile
inline constexpr int kFilters = 4;

// sums[f * kPositions + j] = chain over t of x[offsets[t] + j] * weights[t * kFilters + f], from t
// = 0 upwards. Reads kPositions elements at each x + offsets[t]. The absolute form has |weights|
// behind each tap's weights (2 * kFilters numbers a tap) and writes the sums of the absolute
// products behind `sums` (at sums + kFilters * kPositions).
template <class T>
using Chains = void (*)(std::span<const std::int64_t> offsets, const T* x, const T* weights,
                        T* sums);

// The fastest for this CPU. Double: the same bits from all of them, for products of two floats are
// exact in double. Float: fused multiply-adds where the CPU has them.
Chains<double> double_chains();
Chains<double> absolute_double_chains();
Chains<float> float_chains();

}  // namespace tilewright
