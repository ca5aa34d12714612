// SPDX-License-Identifier: Apache-2.0
#include "schedules/terms.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace tilewright {
namespace {

// In the order of word::Terms.
constexpr std::array<TermSet, 10> kSets{{
    {"hp1", {1, 0, 0}},
    {"hp3", {2, 1, 0}},
    {"hp4", {2, 2, 0}},
    {"rect6_x3w2", {2, 2, 2}},
    {"rect6_x2w3", {3, 3, 0}},
    {"hp5_x", {2, 2, 1}},
    {"hp5_w", {3, 2, 0}},
    {"tri6", {3, 2, 1}},
    {"hp9", {3, 3, 3}},
    {"fp32", {0, 0, 0}},
}};
static_assert(kSets[word::tri6].name == "tri6" && kSets[word::fp32].name == "fp32");

// Largest relative size of the sum of parts first..last of a value.
double parts_bound(int first, int last) {
  if (first == 0) return 1 + remainder_bound(last + 1);  // the value less what is left
  if (last == kMostParts - 1) return remainder_bound(first);
  // m alone: e rounded, at most 2^-8 of the power of two below x, and then x is larger than that
  // power by nearly the same; the rounding of e adds at most 2^-17.
  return remainder_bound(1) * (1 + std::ldexp(1.0, -17));
}

}  // namespace

const TermSet& term_set(std::int32_t terms) {
  assert(terms >= 0 && static_cast<std::size_t>(terms) < kSets.size());
  return kSets[static_cast<std::size_t>(terms)];
}

double remainder_bound(int parts) {
  // x = 1.0000000|1 (8 significand bits, then a half) leaves 2^-8 of 1 + 2^-8.
  const double h = std::ldexp(1.0, -8) / (1 + std::ldexp(1.0, -8));
  // What is left of e = x - h, a multiple of 2^-23 below 2^-8, is at most half of its BF16 step,
  // 2^-17, and e is then at least 2^-9.
  const double m = std::ldexp(1.0, -17) / (1 + std::ldexp(1.0, -9));
  const std::array<double, kMostParts + 1> bounds{1, h, m, 0};
  return bounds[static_cast<std::size_t>(parts)];
}

int TermSet::products() const {
  return is_split() ? std::accumulate(kept.begin(), kept.end(), 0) : 1;
}

int TermSet::parts_x() const {
  int parts = 0;
  while (parts < kMostParts && kept[static_cast<std::size_t>(parts)] > 0) ++parts;
  return parts;
}

FixedList<PartProduct, kMostParts * kMostParts> TermSet::smallest_first() const {
  FixedList<PartProduct, kMostParts * kMostParts> list;
  for (int sum = 2 * (kMostParts - 1); sum >= 0; --sum) {
    for (int x = std::min(sum, kMostParts - 1); x >= 0; --x) {
      if (sum - x < kept[static_cast<std::size_t>(x)]) list.push({x, sum - x});
    }
  }
  return list;
}

// The omitted part of x*w is the sum over i of x_i * (w - its first kept[i] parts). Parts of x that
// meet the same parts of w are taken together.
double TermSet::truncation_bound() const {
  if (!is_split()) return 0;
  double bound = 0;
  for (int first = 0; first < kMostParts;) {
    const int met = uses_of_x(first);
    int last = first;
    while (last + 1 < kMostParts && uses_of_x(last + 1) == met) ++last;
    bound += parts_bound(first, last) * remainder_bound(met);
    first = last + 1;
  }
  return bound;
}

}  // namespace tilewright
