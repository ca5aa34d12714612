// SPDX-License-Identifier: Apache-2.0
#include "db/conditions.h"

#include <fmt/format.h>

#include <utility>

#include "db/words.h"

namespace tilewright::db {
namespace {

// Integers and words are kept as such; the type test keeps words out of comparisons by order.
const char* knob_piece(Comparison comparison) {
  switch (comparison) {
    case Comparison::equal:
      return "EXISTS (SELECT 1 FROM trial_knobs k WHERE k.trial_id = t.id AND k.knob = ? AND "
             "k.value = ?)";
    case Comparison::not_equal:
      return "EXISTS (SELECT 1 FROM trial_knobs k WHERE k.trial_id = t.id AND k.knob = ? AND "
             "k.value <> ?)";
    case Comparison::less:
      return "EXISTS (SELECT 1 FROM trial_knobs k WHERE k.trial_id = t.id AND k.knob = ? AND "
             "typeof(k.value) = 'integer' AND k.value < ?)";
    case Comparison::less_equal:
      return "EXISTS (SELECT 1 FROM trial_knobs k WHERE k.trial_id = t.id AND k.knob = ? AND "
             "typeof(k.value) = 'integer' AND k.value <= ?)";
    case Comparison::greater:
      return "EXISTS (SELECT 1 FROM trial_knobs k WHERE k.trial_id = t.id AND k.knob = ? AND "
             "typeof(k.value) = 'integer' AND k.value > ?)";
    case Comparison::greater_equal:
      return "EXISTS (SELECT 1 FROM trial_knobs k WHERE k.trial_id = t.id AND k.knob = ? AND "
             "typeof(k.value) = 'integer' AND k.value >= ?)";
  }
  return "";
}

Result<void> add_knob(Conditions& conditions, const KnobCondition& condition) {
  const std::optional<std::int64_t> number = canonical_integer(condition.value);
  const bool ordered =
      condition.comparison != Comparison::equal && condition.comparison != Comparison::not_equal;
  if (ordered && !number) {
    return usage_error(
        fmt::format("where {}: '{}' is no integer: words have no order, compare them with = or !=",
                    condition.knob, condition.value));
  }
  const Conditions::Value value =
      number ? Conditions::Value(*number) : Conditions::Value(condition.value);
  conditions.add(knob_piece(condition.comparison), {condition.knob, value});
  return {};
}

}  // namespace

void Conditions::add(std::string_view piece, std::vector<Value> values) {
  where_ += where_.empty() ? "WHERE " : " AND ";
  where_ += piece;
  for (Value& value : values) values_.push_back(std::move(value));
}

void Conditions::limit(std::string_view order, std::int64_t count) {
  tail_ = fmt::format(" ORDER BY {} LIMIT ?", order);
  values_.emplace_back(count);
}

std::string Conditions::text() const { return where_ + tail_; }

void Conditions::bind(Query& query) const {
  query.restart();
  for (const Value& value : values_) {
    std::visit([&](const auto& v) { query.add(v); }, value);
  }
}

Result<Conditions> trial_conditions(const TrialFilter& filter) {
  Conditions conditions;
  if (filter.workload_key) conditions.add("w.workload_key = ?", {*filter.workload_key});
  if (filter.device_name) conditions.add("d.name = ?", {*filter.device_name});
  if (filter.variant) conditions.add("t.variant = ?", {*filter.variant});
  if (filter.status) conditions.add("t.status = ?", {std::string(word(*filter.status))});
  if (filter.failures_only) conditions.add("t.status <> 'ok'", {});
  if (filter.run_id) conditions.add("t.run_id = ?", {*filter.run_id});
  if (filter.since_utc) {
    conditions.add("t.run_id IN (SELECT id FROM runs WHERE started_utc >= ?)", {*filter.since_utc});
  }
  for (const KnobCondition& condition : filter.where) {
    if (auto added = add_knob(conditions, condition); !added) return pass_error(added);
  }
  return conditions;
}

Conditions best_conditions(const BestFilter& filter) {
  Conditions conditions;
  if (filter.workload_key) conditions.add("w.workload_key = ?", {*filter.workload_key});
  if (filter.device_name) {
    conditions.add(
        "b.trial_id IN (SELECT t.id FROM trials t JOIN devices d ON d.id = t.device_id WHERE t.id "
        "= "
        "b.trial_id AND d.name = ?)",
        {*filter.device_name});
  }
  if (filter.variant) {
    conditions.add("(SELECT t.variant FROM trials t WHERE t.id = b.trial_id) = ?",
                   {*filter.variant});
  }
  if (filter.since_utc) conditions.add("b.stored_utc >= ?", {*filter.since_utc});
  return conditions;
}

}  // namespace tilewright::db
