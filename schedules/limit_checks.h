// SPDX-License-Identifier: Apache-2.0
// Each variant states its limits once, as a struct with
//   template <class V> static void run(const Workload&, const Schedule&, const Limits&, V& visit);
// that shows the same checks in the same order to whoever asks: the search wants the name of the
// first violated limit and must not allocate, explain wants every sum in words. So the two can not
// drift apart. A visitor has, returning true when it has seen enough:
//   bool sum(name, available, knobs, terms...)          bytes (or registers) that must fit
//   bool rule(name, holds, knobs, value, allowed, why)  anything else; why() says it in words
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "schedules/units.h"
#include "schedules/variants.h"

namespace tilewright {

using KnobList = std::initializer_list<Knob>;  // the knobs of a limit: one of them may repair it

struct SumTerm {
  const char* name;
  std::int64_t amount;
};
template <class... Terms>
std::int64_t total_of(const Terms&... terms) {
  std::int64_t total = 0;
  ((total = saturating_add(total, terms.amount)), ...);
  return total;
}

// A limit is named by a text or, where it is one knob's range, by that knob.
inline const char* limit_name(const char* name) { return name; }
inline const char* limit_name(Knob knob) { return knob_name(knob).data(); }

// Why a workload is refused: the limit's name for the counts.
inline constexpr const char* kWorkloadLimit = "workload";

struct FirstViolation {
  const char* name = nullptr;

  template <class... Terms>
  bool sum(const char* limit, std::int64_t available, KnobList, const Terms&... terms) {
    if (total_of(terms...) > available) name = limit;
    return name != nullptr;
  }
  template <class Name, class Why>
  bool rule(Name limit, bool holds, KnobList, std::int64_t, std::int64_t, const Why&) {
    if (!holds) name = limit_name(limit);
    return name != nullptr;
  }
};

struct ViolatedMask {
  std::uint64_t mask = 0, next = 1;  // at most 64 checks a variant

  bool mark(bool holds) {
    if (!holds) mask |= next;
    next <<= 1;
    return false;
  }
  template <class... Terms>
  bool sum(const char*, std::int64_t available, KnobList, const Terms&... terms) {
    return mark(total_of(terms...) <= available);
  }
  template <class Name, class Why>
  bool rule(Name, bool holds, KnobList, std::int64_t, std::int64_t, const Why&) {
    return mark(holds);
  }
};

// One violated check before its nearest values are known.
struct Finding {
  Reason reason;
  std::vector<Knob> knobs;
  std::uint64_t bit = 0;
};

struct AllFindings {
  std::vector<Finding> findings;
  std::uint64_t next = 1;

  void add(Finding finding, const KnobList& knobs, std::uint64_t bit) {
    finding.knobs = knobs;
    finding.bit = bit;
    findings.push_back(std::move(finding));
  }
  template <class... Terms>
  bool sum(const char* limit, std::int64_t available, KnobList knobs, const Terms&... terms) {
    const std::uint64_t bit = std::exchange(next, next << 1);
    const std::int64_t needed = total_of(terms...);
    if (needed > available) {
      Finding finding;
      finding.reason = {limit, needed, available, {Term{terms.name, terms.amount}...}, {}, {}};
      add(std::move(finding), knobs, bit);
    }
    return false;
  }
  template <class Name, class Why>
  bool rule(Name limit, bool holds, KnobList knobs, std::int64_t value, std::int64_t allowed,
            const Why& why) {
    const std::uint64_t bit = std::exchange(next, next << 1);
    if (!holds) {
      Finding finding;
      finding.reason = {limit_name(limit), value, allowed, {}, {}, why()};
      add(std::move(finding), knobs, bit);
    }
    return false;
  }
};

// Turns findings into reasons: adds the nearest values that alone repair each limit and break no
// other, and the message.
std::vector<Reason> finish_reasons(const VariantRow& row, const Workload& workload,
                                   const Schedule& schedule, const Limits& limits,
                                   std::vector<Finding> findings);

// Fills the row's three readings of Checks::run.
template <class Checks>
void set_limits(VariantRow& row) {
  row.first_violation = [](const Workload& workload, const Schedule& schedule,
                           const Limits& limits) {
    FirstViolation visit;
    Checks::run(workload, schedule, limits, visit);
    return visit.name;
  };
  row.violated = [](const Workload& workload, const Schedule& schedule, const Limits& limits) {
    ViolatedMask visit;
    Checks::run(workload, schedule, limits, visit);
    return visit.mask;
  };
  row.reasons = [](const VariantRow& self, const Workload& workload, const Schedule& schedule,
                   const Limits& limits) {
    AllFindings visit;
    Checks::run(workload, schedule, limits, visit);
    return finish_reasons(self, workload, schedule, limits, std::move(visit.findings));
  };
}

}  // namespace tilewright
