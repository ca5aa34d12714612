// SPDX-License-Identifier: Apache-2.0
// What the register tiles of all host variants share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "schedules/limit_checks.h"

namespace tilewright {

// Accumulators are fp32 whatever the storage type.
inline std::int64_t target_lanes(const Limits& limits) {
  return std::max<std::int64_t>(1, limits.vector_bytes / 4);
}
inline bool legal_vec(std::int64_t vec, const Limits& limits) {
  return vec == 0 || ((vec == 4 || vec == 8 || vec == 16) && vec <= target_lanes(limits));
}
// An illegal vec is reported once; the other rules then go by the target's vectors.
inline std::int64_t lanes_of(const Schedule& schedule, const Limits& limits) {
  const std::int64_t vec = schedule[Knob::vec];
  return vec == 0 || !legal_vec(vec, limits) ? target_lanes(limits) : vec;
}

// Beside the accumulators, one vector of each operand: what the published 30-accumulator tile
// leaves of 32 registers.
inline constexpr std::int64_t kOperandRegisters = 2;
// Unrolled multiply-adds of the innermost loop; more makes the compiler take seconds.
inline constexpr std::int64_t kMostUnrolled = 512;

// vec, registers and unroll, the same for every host variant. accumulators: vectors.
template <class V>
bool check_vec(const Schedule& s, const Limits& limits, V& visit) {
  return visit.rule(
      "vec", legal_vec(s[Knob::vec], limits), {Knob::vec}, s[Knob::vec], target_lanes(limits), [&] {
        return "vec: must be 0 (the target's), 4, 8 or 16 and at most " +
               std::to_string(target_lanes(limits)) + ", not " + std::to_string(s[Knob::vec]);
      });
}
template <class V>
bool check_registers(const char* formula, std::int64_t accumulators, const Schedule& s,
                     const Limits& limits, KnobList knobs, V& visit) {
  if (visit.sum("registers", limits.vector_registers, knobs, SumTerm{formula, accumulators},
                SumTerm{"operands", kOperandRegisters})) {
    return true;
  }
  const std::int64_t unrolled = product(accumulators, s[Knob::unroll]);
  return visit.rule("unroll", s[Knob::unroll] >= 1 && unrolled <= kMostUnrolled, {Knob::unroll},
                    unrolled, kMostUnrolled, [&] {
                      return "unroll: " + std::to_string(unrolled) +
                             " unrolled multiply-adds (accumulators*unroll), at most " +
                             std::to_string(kMostUnrolled);
                    });
}

// The points of a small grid given as a list, in its order without repetitions.
struct PointList {
  std::vector<Schedule> points;
  void add(const Schedule& schedule) {
    if (std::find(points.begin(), points.end(), schedule) == points.end())
      points.push_back(schedule);
  }
};
// Fills for_each_point and space_size of a row from its list.
template <class Checks, PointList (*List)(const Workload&, const Limits&)>
void set_point_list(VariantRow& row) {
  row.for_each_point = [](const Workload& workload, const Limits& limits, Grid,
                          const PointVisitor& visit) {
    for (const Schedule& point : List(workload, limits).points) {
      FirstViolation first;
      Checks::run(workload, point, limits, first);
      if (first.name == nullptr) visit(point);
    }
  };
  row.space_size = [](const Workload& workload, const Limits& limits, Grid) {
    SpaceSize size;
    for (const Schedule& point : List(workload, limits).points) {
      FirstViolation first;
      Checks::run(workload, point, limits, first);
      ++size.points;
      ++(first.name == nullptr ? size.feasible : size.by_limit[first.name]);
    }
    return size;
  };
}

}  // namespace tilewright
