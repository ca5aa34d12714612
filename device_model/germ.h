// SPDX-License-Identifier: Apache-2.0
// A germ is a time as a function of a period's number n: v + n*d for n = 0, 1, ... limit. Walking
// one period on germs tells for how many further periods every maximum keeps its winner, so that
// they can be skipped at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace tilewright {

struct Germ {
  std::int64_t v = 0, d = 0;
  friend bool operator==(const Germ&, const Germ&) = default;
};

inline Germ operator+(Germ a, std::int64_t b) { return {a.v + b, a.d}; }
inline Germ operator-(Germ a, Germ b) { return {a.v - b.v, a.d - b.d}; }
inline Germ& operator+=(Germ& a, Germ b) {
  a.v += b.v;
  a.d += b.d;
  return a;
}
inline Germ operator*(Germ a, std::int64_t times) { return {a.v * times, a.d * times}; }

// The largest n up to which all maxima taken so far have kept their winners.
struct GermLimit {
  std::int64_t n = std::numeric_limits<std::int64_t>::max() / 4;
};

// max for plain times, and for germs with the limit. A tie goes to the one that grows faster: it
// wins from then on.
struct PlainMax {
  static bool later(std::int64_t a, std::int64_t b) { return a > b; }
  std::int64_t operator()(std::int64_t a, std::int64_t b) const { return std::max(a, b); }
};
struct GermMax {
  GermLimit* limit = nullptr;
  static bool later(Germ a, Germ b) { return a.v != b.v ? a.v > b.v : a.d > b.d; }
  Germ operator()(Germ a, Germ b) const {
    if (later(b, a)) std::swap(a, b);
    // b overtakes a where v_b + n*d_b > v_a + n*d_a.
    if (b.d > a.d) limit->n = std::min(limit->n, (a.v - b.v) / (b.d - a.d));
    return a;
  }
};

template <class Time>
struct MaxOf {
  using type = PlainMax;
};
template <>
struct MaxOf<Germ> {
  using type = GermMax;
};

}  // namespace tilewright
