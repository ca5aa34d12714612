// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers: number i of a stream is a function of (seed, stream, i) only, so
// the same seed gives the same bits with any compiler, any standard library and any number of
// threads. (std::normal_distribution is not specified; log, cos and sin come from the C library,
// one and the same for every compiler on a machine.)
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace tilewright {

class RandomStream {
 public:
  // Streams of other names are independent, so that x, w and bias of one seed do not repeat each
  // other.
  RandomStream(std::uint64_t seed, std::string_view name) : key_(mix(seed + kStep)) {
    for (const char c : name) key_ = mix(key_ ^ static_cast<unsigned char>(c));
  }

  std::uint64_t bits(std::uint64_t index) const { return mix(key_ + (index + 1) * kStep); }

  // The middle of one of 2^53 equal parts of (0, 1): never 0, never 1.
  double uniform(std::uint64_t index) const {
    return (static_cast<double>(bits(index) >> 11) + 0.5) * 0x1p-53;
  }

  // Box-Muller: numbers 2j and 2j+1 are the cosine and the sine of one pair.
  double normal(std::uint64_t index) const {
    const std::uint64_t pair = index & ~std::uint64_t{1};
    const double radius = std::sqrt(-2.0 * std::log(uniform(pair)));
    const double angle = 2.0 * std::numbers::pi * uniform(pair + 1);
    return radius * ((index & 1) == 0 ? std::cos(angle) : std::sin(angle));
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15u;

  // The finaliser of splitmix64 (Steele, Lea, Flood 2014): a bijection that passes BigCrush over a
  // counter.
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  std::uint64_t key_;
};

}  // namespace tilewright
