// SPDX-License-Identifier: Apache-2.0
#include "schedules/limit_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "schedules/text.h"

namespace tilewright {
namespace {

// Among so many values on either side of the present one the nearest is looked for; larger spaces
// are of sizes (rows of huge images), where a value that far away helps nobody.
constexpr std::int64_t kNearestSteps = 8192;

KnobRange range_of(const VariantRow& row, const Workload& workload, const Schedule& schedule,
                   const Limits& limits, Knob knob) {
  const auto words = knob_words(knob);
  if (!words.empty()) return {0, static_cast<std::int64_t>(words.size()) - 1, 1};
  return row.range(workload, schedule, limits, knob).value_or(KnobRange{1, 2, 1});
}

// Nearest first, the smaller of two equally near ones first.
std::optional<std::int32_t> nearest_repair(const VariantRow& row, const Workload& workload,
                                           const Schedule& schedule, const Limits& limits,
                                           Knob knob, std::uint64_t bit, std::uint64_t before) {
  const KnobRange range = range_of(row, workload, schedule, limits, knob);
  const std::int64_t now = schedule[knob];
  const std::int64_t last =
      std::min<std::int64_t>(range.last, std::numeric_limits<std::int32_t>::max());
  Schedule changed = schedule;
  const auto repairs = [&](std::int64_t value) {
    if (value == now || value < range.first || value > last) return false;
    changed[knob] = static_cast<std::int32_t>(value);
    const std::uint64_t after = row.violated(workload, changed, limits);
    return (after & bit) == 0 && (after & ~before) == 0;
  };
  const std::int64_t centre = std::clamp(now, range.first, std::max(range.first, last));
  const std::int64_t below = range.first + (centre - range.first) / range.step * range.step;
  std::int64_t down = below, up = below + range.step;
  for (std::int64_t tried = 0; tried < 2 * kNearestSteps && (down >= range.first || up <= last);
       ++tried) {
    const bool take_down = up > last || (down >= range.first && centre - down <= up - centre);
    const std::int64_t value = take_down ? down : up;
    if (repairs(value)) return static_cast<std::int32_t>(value);
    (take_down ? down : up) += take_down ? -range.step : range.step;
  }
  return std::nullopt;
}

std::string sum_text(const Reason& reason) {
  const std::string_view unit = reason.buffer == "registers" ? "" : " bytes";
  std::string text =
      fmt::format("{}: {}{} needed, {} there: ", reason.buffer, with_commas(reason.needed_bytes),
                  unit, with_commas(reason.available_bytes));
  const char* separator = "";
  for (const Term& term : reason.terms) {
    if (term.bytes == 0) continue;
    text += fmt::format("{}{} = {}", separator, term.name, with_commas(term.bytes));
    separator = " + ";
  }
  return text;
}

}  // namespace

std::vector<Reason> finish_reasons(const VariantRow& row, const Workload& workload,
                                   const Schedule& schedule, const Limits& limits,
                                   std::vector<Finding> findings) {
  std::uint64_t before = 0;
  for (const Finding& finding : findings) before |= finding.bit;
  std::vector<Reason> reasons;
  for (Finding& finding : findings) {
    Reason& reason = finding.reason;
    if (reason.message.empty()) reason.message = sum_text(reason);
    const char* separator = "; nearest: ";
    for (const Knob knob : finding.knobs) {
      const auto value = nearest_repair(row, workload, schedule, limits, knob, finding.bit, before);
      if (!value) continue;
      const std::string name(knob_name(knob));
      reason.nearest[name] = knob_value_text(knob, *value);
      reason.message += fmt::format("{}{}:{}", separator, name, reason.nearest[name]);
      separator = " or ";
    }
    reasons.push_back(std::move(reason));
  }
  return reasons;
}

}  // namespace tilewright
