// SPDX-License-Identifier: Apache-2.0
// Text of schedules, driven by the knob table and the variant table.
#include "schedules/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "schedules/text.h"
#include "schedules/variants.h"

namespace tilewright {
namespace {

using Names = std::vector<std::string_view>;

Names knob_names(const VariantRow& row) {
  Names names;
  for (const VariantKnob& knob : row.knobs) names.push_back(knob_name(knob.knob));
  return names;
}

Result<const VariantRow*> row_by_name(std::string_view text, std::string_view name,
                                      const Workload& workload, DeviceKind kind) {
  Names here, elsewhere;
  for (const VariantRow* row : variant_rows()) {
    if (row->op != operator_name(workload)) continue;
    const std::string_view known = variant_name(row->variant);
    if (row->kind == kind && known == name) return row;
    if (row->kind == kind) here.push_back(known);
    if (row->kind != kind && known == name) elsewhere.push_back(kind_name(row->kind));
  }
  const std::string where = fmt::format("{} on {}", operator_name(workload), kind_name(kind));
  if (here.empty())
    return usage_error(fmt::format("{}: there is no variant of {} yet", text, where));
  if (!elsewhere.empty()) {
    return usage_error(fmt::format("{}: variant '{}' is for {}, not for {}; available: {}", text,
                                   name, join(elsewhere, ", "), kind_name(kind), join(here, ", ")));
  }
  return usage_error(fmt::format("{}: unknown variant '{}' of {}; nearest is '{}' (available: {})",
                                 text, name, where, nearest_name(name, here), join(here, ", ")));
}

std::string unknown_knob(const VariantRow& row, std::string_view name) {
  const Names names = knob_names(row);
  const std::string_view variant = variant_name(row.variant);
  if (!find_knob(name)) {
    return fmt::format("unknown knob '{}'; nearest of {} is '{}'", name, variant,
                       nearest_name(name, names));
  }
  return fmt::format("knob '{}' is not one of {} on {}; its knobs are {}", name, variant,
                     kind_name(row.kind), join(names, ", "));
}

std::optional<std::string> value_problem(Knob knob, std::string_view text, std::int32_t& value) {
  const std::string_view name = knob_name(knob);
  const auto words = knob_words(knob);
  if (!words.empty()) {
    const auto found = std::find(words.begin(), words.end(), text);
    value = static_cast<std::int32_t>(found - words.begin());
    if (found != words.end()) return {};
    return fmt::format("{} can not be '{}'; nearest is '{}' (of {})", name, text,
                       nearest_name(text, words), join(words, ", "));
  }
  const std::optional<std::int64_t> number = parse_integer(text);
  if (!number) return fmt::format("{} must be a whole number, not '{}'", name, text);
  const std::int64_t least = knob == Knob::deal_stride || knob == Knob::vec ? 0 : 1;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (*number < least || *number > kMost) {
    return fmt::format("{} must be between {} and {}, not {}; nearest is {}", name, least,
                       with_commas(kMost), text, std::clamp(*number, least, kMost));
  }
  value = static_cast<std::int32_t>(*number);
  return {};
}

std::optional<std::string> set_knob(const VariantRow& row, const NamedValue& item,
                                    Schedule& schedule, std::array<bool, kKnobCount>& given) {
  const std::optional<Knob> knob = find_knob(item.name);
  if (!knob || find_knob(row, *knob) == nullptr) return unknown_knob(row, item.name);
  bool& seen = given[static_cast<std::size_t>(*knob)];
  if (seen) return fmt::format("{} is given twice; keep one", item.name);
  seen = true;
  return value_problem(*knob, item.value, schedule[*knob]);
}

}  // namespace

Result<Schedule> parse_schedule(std::string_view text, const Workload& workload, DeviceKind kind) {
  const std::size_t slash = text.find('/');
  const auto row = row_by_name(text, text.substr(0, slash), workload, kind);
  if (!row) return pass_error(row);
  Schedule schedule = default_schedule(**row, workload);
  std::array<bool, kKnobCount> given{};
  if (slash != std::string_view::npos && slash + 1 < text.size()) {
    const auto items = parse_named_values(text, text.substr(slash + 1));
    if (!items) return pass_error(items);
    for (const NamedValue& item : *items) {
      if (const auto problem = set_knob(**row, item, schedule, given)) {
        return usage_error(fmt::format("{}: {} (character {})", text, *problem, item.position));
      }
    }
  }
  for (const VariantKnob& knob : (*row)->knobs) {
    if (knob.required && !given[static_cast<std::size_t>(knob.knob)]) {
      const std::string_view name = knob_name(knob.knob);
      return usage_error(fmt::format("{}: {} is missing and has no default; add {}:N ({})", text,
                                     name, name, knob_meaning(knob.knob)));
    }
  }
  return schedule;
}

std::string to_text(const Schedule& schedule, const Workload& workload, DeviceKind kind) {
  std::string text = fmt::format("{}/", variant_name(schedule.variant));
  const VariantRow* row = find_row(workload, schedule.variant, kind);
  if (row == nullptr) return text;
  for (const VariantKnob& knob : row->knobs) {
    if (text.back() != '/') text += ',';
    fmt::format_to(std::back_inserter(text), "{}:{}", knob_name(knob.knob),
                   knob_value_text(knob.knob, schedule[knob.knob]));
  }
  return text;
}

}  // namespace tilewright
