// SPDX-License-Identifier: Apache-2.0
// One body, written with the compilers' vector types, instantiated for AVX-512, AVX2 and the base
// instruction set and picked at run time. The vectors run over output positions, so the order of
// every chain is that of the plain loop.
#include "generators/reference_kernels.h"

#include <limits>
#include <type_traits>
#include <vector>

namespace tilewright {
namespace {

template <class T, int Lanes>
struct VectorOf {
  using Integer = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  typedef T type __attribute__((vector_size(Lanes * sizeof(T))));
  typedef Integer bits __attribute__((vector_size(Lanes * sizeof(T))));
  // Unaligned, and allowed to look at an array of T.
  typedef T loose __attribute__((vector_size(Lanes * sizeof(T)), aligned(alignof(T)), may_alias));
};

// Lanes * Vectors positions are in registers at a time: kFilters * Vectors sums, twice as many in
// the absolute form.
template <class T, int Lanes, int Vectors, bool Absolute>
__attribute__((always_inline)) inline void chains(std::span<const std::int64_t> offsets, const T* x,
                                                  const T* weights, T* sums) {
  using Types = VectorOf<T, Lanes>;
  using Vector = typename Types::type;
  using Bits = typename Types::bits;
  using Loose = typename Types::loose;
  constexpr int kPerTap = Absolute ? 2 * kFilters : kFilters;
  static_assert(kPositions % (Lanes * Vectors) == 0);
  for (int start = 0; start < kPositions; start += Lanes * Vectors) {
    Vector sum[kFilters][Vectors] = {};
    Vector absolute[kFilters][Vectors] = {};
    const T* w = weights;
    for (const std::int64_t offset : offsets) {
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) {
        const Vector value = *reinterpret_cast<const Loose*>(x + offset + start + v * Lanes);
        const Vector magnitude = reinterpret_cast<Vector>(
            reinterpret_cast<Bits>(value) & std::numeric_limits<typename Types::Integer>::max());
#pragma GCC unroll 8
        for (int f = 0; f < kFilters; ++f) {
          sum[f][v] += value * w[f];
          if constexpr (Absolute) absolute[f][v] += magnitude * w[kFilters + f];
        }
      }
      w += kPerTap;
    }
    for (int f = 0; f < kFilters; ++f) {
      for (int v = 0; v < Vectors; ++v) {
        T* const to = sums + f * kPositions + start + v * Lanes;
        *reinterpret_cast<Loose*>(to) = sum[f][v];
        if constexpr (Absolute)
          *reinterpret_cast<Loose*>(to + kFilters * kPositions) = absolute[f][v];
      }
    }
  }
}

using Offsets = std::span<const std::int64_t>;

#if defined(__x86_64__)
#define TILEWRIGHT_AVX512 __attribute__((target("avx512f")))
#define TILEWRIGHT_AVX2 __attribute__((target("avx2,fma")))

TILEWRIGHT_AVX512 void plain_avx512(Offsets o, const double* x, const double* w, double* sums) {
  chains<double, 8, 2, false>(o, x, w, sums);
}
TILEWRIGHT_AVX512 void absolute_avx512(Offsets o, const double* x, const double* w, double* sums) {
  chains<double, 8, 2, true>(o, x, w, sums);
}
TILEWRIGHT_AVX2 void plain_avx2(Offsets o, const double* x, const double* w, double* sums) {
  chains<double, 4, 2, false>(o, x, w, sums);
}
TILEWRIGHT_AVX2 void absolute_avx2(Offsets o, const double* x, const double* w, double* sums) {
  chains<double, 4, 1, true>(o, x, w, sums);
}
TILEWRIGHT_AVX2 void single_avx2(Offsets o, const float* x, const float* w, float* sums) {
  chains<float, 8, 2, false>(o, x, w, sums);
}
#endif

void plain_base(Offsets o, const double* x, const double* w, double* sums) {
  chains<double, 2, 2, false>(o, x, w, sums);
}
void absolute_base(Offsets o, const double* x, const double* w, double* sums) {
  chains<double, 2, 1, true>(o, x, w, sums);
}
void single_base(Offsets o, const float* x, const float* w, float* sums) {
  chains<float, 4, 2, false>(o, x, w, sums);
}

std::vector<ChainKernels> usable_kernels() {
  std::vector<ChainKernels> kernels{{"base", plain_base, absolute_base, single_base}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
    kernels.push_back({"avx2", plain_avx2, absolute_avx2, single_avx2});
    if (__builtin_cpu_supports("avx512f") != 0) {
      kernels.push_back({"avx512", plain_avx512, absolute_avx512, single_avx2});
    }
  }
#endif
  return kernels;
}

}  // namespace

std::span<const ChainKernels> chain_kernels() {
  static const std::vector<ChainKernels> kernels = usable_kernels();
  return kernels;
}

}  // namespace tilewright
