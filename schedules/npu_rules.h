// SPDX-License-Identifier: Apache-2.0
// Sums and rules that the matmul-shaped variants of an NPU share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "schedules/limit_checks.h"

namespace tilewright {

// Bytes of the matrix buffers; e = bytes of an element, accumulators are fp32. The steps count
// under both loads.
struct BlockBytes {
  std::int64_t l0a = 0, l0b = 0, l0c = 0;
  std::int64_t l1_a_blocks = 0, l1_b_blocks = 0;

  BlockBytes(std::int64_t e, const Schedule& s) {
    const std::int64_t a = product(e, s[Knob::base_m], s[Knob::base_k]);
    const std::int64_t b = product(e, s[Knob::base_k], s[Knob::base_n]);
    l0a = product(a, s[Knob::db_l0]);
    l0b = product(b, s[Knob::db_l0]);
    l0c = product(s[Knob::base_m], s[Knob::base_n], 4, s[Knob::db_l0c]);
    l1_a_blocks = product(a, s[Knob::step_ka], s[Knob::l1]);
    l1_b_blocks = product(b, s[Knob::step_kb], s[Knob::l1]);
  }
  std::int64_t l1() const { return saturating_add(l1_a_blocks, l1_b_blocks); }
};
// One of the K steps divides the other.
constexpr bool steps_divide(std::int64_t a, std::int64_t b) { return a % b == 0 || b % a == 0; }

std::string block_rule_text(Knob knob, std::int64_t value, std::int64_t most,
                            const char* most_name);
std::string count_rule_text(Knob knob, std::int64_t value, std::int64_t least, std::int64_t most,
                            const char* most_name);
std::string step_rule_text(std::int64_t step_ka, std::int64_t step_kb);

// A multiple of 16 from 16 to `most`.
template <class V>
bool block_rule(Knob knob, const Schedule& s, std::int64_t most, const char* most_name,
                KnobList knobs, V& visit) {
  const std::int64_t value = s[knob];
  const bool holds = value >= 16 && value % 16 == 0 && value <= most;
  return visit.rule(knob, holds, knobs, value, most,
                    [&] { return block_rule_text(knob, value, most, most_name); });
}

template <class V>
bool count_rule(Knob knob, const Schedule& s, std::int64_t least, std::int64_t most,
                const char* most_name, V& visit) {
  const std::int64_t value = s[knob];
  return visit.rule(knob, value >= least && value <= most, {knob}, value, most,
                    [&] { return count_rule_text(knob, value, least, most, most_name); });
}

template <class V>
bool l0_sums(const BlockBytes& bytes, const Limits& limits, V& visit) {
  return visit.sum("L0A", limits.l0a, {Knob::base_m, Knob::base_k, Knob::db_l0},
                   SumTerm{"base_m*base_k*e*db_l0", bytes.l0a}) ||
         visit.sum("L0B", limits.l0b, {Knob::base_n, Knob::base_k, Knob::db_l0},
                   SumTerm{"base_k*base_n*e*db_l0", bytes.l0b}) ||
         visit.sum("L0C", limits.l0c, {Knob::base_m, Knob::base_n, Knob::db_l0c},
                   SumTerm{"base_m*base_n*4*db_l0c", bytes.l0c});
}

// Steps from 1 to the number of k blocks, one dividing the other.
template <class V>
bool step_rules(const Schedule& s, std::int64_t k_blocks, V& visit) {
  if (count_rule(Knob::step_ka, s, 1, k_blocks, "the number of k blocks ", visit)) return true;
  if (count_rule(Knob::step_kb, s, 1, k_blocks, "the number of k blocks ", visit)) return true;
  const std::int64_t a = std::max(1, s[Knob::step_ka]), b = std::max(1, s[Knob::step_kb]);
  return visit.rule("step", steps_divide(a, b), {Knob::step_ka, Knob::step_kb}, a, b,
                    [&] { return step_rule_text(a, b); });
}

}  // namespace tilewright
