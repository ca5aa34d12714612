// SPDX-License-Identifier: Apache-2.0
// IEEE 754 binary16 in integer code: the same bits on every compiler and CPU, whatever it thinks of
// _Float16.
#pragma once

#include <bit>
#include <cstdint>

namespace tilewright {

// Rounds once, to nearest even, straight from double (through float it would round twice). Overflow
// gives Inf from 65520 on; results below 2^-14 are subnormal; NaN stays NaN (quiet, upper payload
// bits kept).
constexpr std::uint16_t half_from_double(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint32_t>((bits >> 48) & 0x8000u);
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  if (exponent == 1024) {
    const std::uint32_t payload =
        fraction == 0 ? 0u : 0x200u | static_cast<std::uint32_t>(fraction >> 42);
    return static_cast<std::uint16_t>(sign | 0x7c00u | payload);
  }
  if (exponent > 15) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (exponent < -25) return static_cast<std::uint16_t>(sign);
  const bool normal = exponent >= -14;
  const std::uint64_t significand = normal ? fraction : fraction | (std::uint64_t{1} << 52);
  const int shift = normal ? 42 : 42 + (-14 - exponent);
  std::uint32_t result = static_cast<std::uint32_t>(significand >> shift);
  if (normal) result |= static_cast<std::uint32_t>(exponent + 15) << 10;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t tie = std::uint64_t{1} << (shift - 1);
  // A carry out of the fraction runs into the exponent: that is the next binade, or Inf.
  if (rest > tie || (rest == tie && (result & 1u) != 0)) ++result;
  return static_cast<std::uint16_t>(sign | result);
}

constexpr std::uint16_t half_from_float(float value) {
  return half_from_double(static_cast<double>(value));
}

// Exact.
constexpr float float_from_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fu;
  const std::uint32_t fraction = half & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  if (fraction == 0) return std::bit_cast<float>(sign);
  const int lead = std::countl_zero(fraction) - 21;  // zeros before the first one bit, of 11
  const std::uint32_t normalised = (fraction << lead) & 0x3ffu;
  return std::bit_cast<float>(sign | static_cast<std::uint32_t>(113 - lead) << 23 |
                              (normalised << 13));
}

}  // namespace tilewright
