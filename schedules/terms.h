// SPDX-License-Identifier: Apache-2.0
// Precision sets of the filter bank as data. A value is split into BF16 parts h, m, l (round to
// nearest even, differences in FP32; exact for 2^-110 <= |x| < 3.396e38), and a set keeps some of
// the products of parts. Every kept set is a staircase: part i of x meets the first kept[i] parts
// of w. Everything else (numbers of products, uses, truncation) follows from that.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "schedules/schedule.h"
#include "schedules/work.h"

namespace tilewright {

inline constexpr int kMostParts = 3;

struct PartProduct {
  int x = 0, w = 0;  // parts: 0 = h, 1 = m, 2 = l
  friend bool operator==(const PartProduct&, const PartProduct&) = default;
};

struct TermSet {
  std::string_view name;
  std::array<int, kMostParts> kept{};  // of the parts of w that part i of x meets

  bool is_split() const { return kept[0] > 0; }  // fp32 is one product of unsplit values
  int products() const;
  int parts_x() const;  // 0 without a split
  int parts_w() const { return kept[0]; }
  int uses_of_x(int part) const { return kept[static_cast<std::size_t>(part)]; }
  // In the order of accumulation: smallest first, that is by falling sum of the part numbers.
  FixedList<PartProduct, kMostParts * kMostParts> smallest_first() const;
  // The omitted products are at most this times |x*w|. Rigorous; for fp32 and hp9 it is 0.
  double truncation_bound() const;
};

// terms: a value of the knob `terms` (word::Terms).
const TermSet& term_set(std::int32_t terms);

// Largest relative size of what is left of a value after its first `parts` parts: 1, then half a
// unit in the last place of BF16 (2^-8 on 1 + 2^-8), then that of the second part of a 24-bit
// value, then nothing.
double remainder_bound(int parts);

// What the vector unit does per element to split off `parts` parts: a rounding each, and a
// subtraction between two of them.
constexpr int split_passes(int parts) { return parts > 0 ? 2 * parts - 1 : 0; }

}  // namespace tilewright
