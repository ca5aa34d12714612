// SPDX-License-Identifier: Apache-2.0
// Integers with a unit: 64-bit, so that bytes are never added to cycles, and checked: a sum or
// product that leaves 64 bits stays at the largest value and says so, instead of wrapping into a
// plausible number.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace tilewright {

inline constexpr std::int64_t kSaturated = std::numeric_limits<std::int64_t>::max();

constexpr std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}
constexpr std::optional<std::int64_t> checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}
// For operands >= 0: the exact result, or kSaturated.
constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  return checked_add(a, b).value_or(kSaturated);
}
constexpr std::int64_t product(std::int64_t a) { return a; }
template <class... Rest>
constexpr std::int64_t product(std::int64_t a, std::int64_t b, Rest... rest) {
  return product(checked_mul(a, b).value_or(kSaturated), rest...);
}

// For a >= 0, b >= 1.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }
constexpr std::int64_t round_up(std::int64_t a, std::int64_t multiple) {
  return product(ceil_div(a, multiple), multiple);
}

template <class Tag>
class Unit {
 public:
  constexpr Unit() = default;
  constexpr explicit Unit(std::int64_t value) : value_(value) {}
  constexpr std::int64_t value() const { return value_; }
  constexpr bool overflowed() const { return value_ == kSaturated; }
  constexpr Unit operator+(Unit other) const { return Unit(saturating_add(value_, other.value_)); }
  constexpr Unit operator*(std::int64_t times) const { return Unit(product(value_, times)); }
  constexpr Unit& operator+=(Unit other) { return *this = *this + other; }
  friend constexpr auto operator<=>(Unit, Unit) = default;

 private:
  std::int64_t value_ = 0;
};

using Bytes = Unit<struct BytesTag>;
using Cycles = Unit<struct CyclesTag>;
using Macs = Unit<struct MacsTag>;  // multiply-adds

}  // namespace tilewright
