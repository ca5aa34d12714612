// SPDX-License-Identifier: Apache-2.0
#include "generators/peak.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tilewright {
namespace {

// Independent chains: latency 4 at two a cycle needs 8; 12 leave a margin and fit 16 registers.
constexpr int kChains = 12;
using Clock = std::chrono::steady_clock;

struct Loop {
  std::string_view name;
  int lanes = 0;
  float (*run)(std::int64_t rounds, float factor);  // rounds * kChains * lanes multiply-adds
};

#if defined(__x86_64__)
__attribute__((target("avx512f"))) float run_avx512(std::int64_t rounds, float factor) {
  __m512 sum[kChains];
  for (__m512& s : sum) s = _mm512_set1_ps(factor);
  const __m512 a = _mm512_set1_ps(factor);
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) sum[c] = _mm512_fmadd_ps(sum[c], a, a);
  }
  for (int c = 1; c < kChains; ++c) sum[0] = _mm512_add_ps(sum[0], sum[c]);
  return _mm512_cvtss_f32(sum[0]);
}

__attribute__((target("avx2,fma"))) float run_avx2(std::int64_t rounds, float factor) {
  __m256 sum[kChains];
  for (__m256& s : sum) s = _mm256_set1_ps(factor);
  const __m256 a = _mm256_set1_ps(factor);
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) sum[c] = _mm256_fmadd_ps(sum[c], a, a);
  }
  for (int c = 1; c < kChains; ++c) sum[0] = _mm256_add_ps(sum[0], sum[c]);
  return _mm256_cvtss_f32(sum[0]);
}

float run_sse2(std::int64_t rounds, float factor) {
  __m128 sum[kChains];
  for (__m128& s : sum) s = _mm_set1_ps(factor);
  const __m128 a = _mm_set1_ps(factor);
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) sum[c] = _mm_add_ps(_mm_mul_ps(sum[c], a), a);
  }
  for (int c = 1; c < kChains; ++c) sum[0] = _mm_add_ps(sum[0], sum[c]);
  return _mm_cvtss_f32(sum[0]);
}

std::vector<Loop> available_loops() {
  std::vector<Loop> loops{{"sse2", 4, run_sse2}};
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
    loops.push_back({"avx2+fma", 8, run_avx2});
  }
  if (__builtin_cpu_supports("avx512f") != 0) loops.push_back({"avx512f", 16, run_avx512});
  return loops;
}
#else
float run_scalar(std::int64_t rounds, float factor) {
  float sum[kChains];
  std::fill(sum, sum + kChains, factor);
  for (std::int64_t i = 0; i < rounds; ++i) {
    for (float& s : sum) s = s * factor + factor;
  }
  float total = 0;
  for (const float s : sum) total += s;
  return total;
}
std::vector<Loop> available_loops() { return {{"scalar", 1, run_scalar}}; }
#endif

std::atomic<float> sink;  // keeps the loops alive

// Seconds of one run on every thread at once, from the common start to the last end.
double seconds_of(const Loop& loop, int threads, std::int64_t rounds) {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  const auto work = [&] {
    ready.fetch_add(1);
    while (!go.load()) std::this_thread::yield();
    sink = loop.run(rounds, 0.5f);
  };
  std::vector<std::jthread> workers;
  for (int t = 1; t < threads; ++t) workers.emplace_back(work);
  while (ready.load() != threads - 1) std::this_thread::yield();
  const auto start = Clock::now();
  go.store(true);
  work();
  workers.clear();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

FmaPeak measure_fma_peak(int threads) {
  constexpr double kRunSeconds = 0.008;
  FmaPeak peak;
  for (const Loop& loop : available_loops()) {
    std::int64_t rounds = 20'000;
    const double trial = seconds_of(loop, 1, rounds);
    rounds = std::max(rounds,
                      static_cast<std::int64_t>(static_cast<double>(rounds) * kRunSeconds / trial));
    for (int run = 0; run < 4; ++run) {
      const double macs = static_cast<double>(rounds) * kChains * loop.lanes * threads;
      const double gmacs = macs / seconds_of(loop, threads, rounds) / 1e9;
      if (gmacs > peak.gmacs) peak = {gmacs, loop.name};
    }
  }
  return peak;
}

}  // namespace tilewright
