// SPDX-License-Identifier: Apache-2.0
// The space of schedules of one workload on one kind of device: which variants exist, which points
// are legal, and why the others are not. An infeasible schedule is a normal answer with numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedules/limits.h"
#include "schedules/schedule.h"

namespace tilewright {

struct Term {
  std::string name;  // as in the specification, for example "db_l0*base_m*base_k*e"
  std::int64_t bytes = 0;
};

// One violated limit. For rules that are no byte sums (divisibility, grid), buffer is the rule's
// name and the numbers are the offending and the allowed value.
struct Reason {
  std::string buffer;  // L0A, L0B, L0C, L1, UB, registers, step, a knob's name, workload ...
  std::int64_t needed_bytes = 0;
  std::int64_t available_bytes = 0;
  std::vector<Term> terms;
  // Knob -> the nearest value that alone repairs this limit and breaks no other, where there is
  // one.
  std::map<std::string, std::string> nearest;
  std::string message;  // one line with the sum
};

// Every violated limit with its sum. Empty = feasible.
std::vector<Reason> infeasible_reasons(const Workload& workload, const Schedule& schedule,
                                       const Limits& limits);
// Same formulas, no allocation: the first violated limit, or nullptr. Its name counts in
// SpaceSize::by_limit.
const char* first_violation(const Workload& workload, const Schedule& schedule,
                            const Limits& limits);

// Bytes of UB (npu variants) that the schedule needs, feasible or not.
std::int64_t ub_bytes(const Workload& workload, const Schedule& schedule);

// Bytes of one block of A and one of B (variants of matrix products; 0 elsewhere), feasible or not.
std::int64_t block_bytes(const Workload& workload, const Schedule& schedule, const Limits& limits);

// All variants of the workload's operator on this kind of device, canonical order, also those that
// refuse this very workload (groups, layout ...): see refusal().
std::vector<Variant> variants_of(const Workload& workload, DeviceKind kind);
// Why this variant can not do this workload (it names the field and a variant that can), or
// nothing.
std::optional<std::string> refusal(const Workload& workload, Variant variant, DeviceKind kind);

// coarse: on an npu base_* multiples of 64 and the published tiles, everything else full; on the
// host a small list of points around the hand schedules.
// full: on an npu base_* multiples of 16; on the host as coarse.
enum class Grid : std::uint8_t { coarse, full };
// Calls visit for every *feasible* point of the grid in one fixed order: limits prune whole
// subtrees before their points exist. How many points they cut off says space_size().
void for_each_point(const Workload& workload, Variant variant, const Limits& limits, Grid grid,
                    const std::function<void(const Schedule&)>& visit);

// points counts every tuple of the grid's axes, feasible or not, equivalent ones not merged: the
// same as if each had been visited and asked for its first violated limit.
struct SpaceSize {
  std::int64_t points = 0, feasible = 0;
  std::map<std::string, std::int64_t> by_limit;  // points refused, by the first limit they violate
};
SpaceSize space_size(const Workload& workload, Variant variant, const Limits& limits, Grid grid);

// The published or measured hand schedule of this variant, shrunk by halves where a limit asks for
// it.
Result<Schedule> hand_schedule(const Workload& workload, Variant variant, const Limits& limits);

}  // namespace tilewright
