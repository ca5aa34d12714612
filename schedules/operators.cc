// SPDX-License-Identifier: Apache-2.0
#include "schedules/operators.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedules/conv1d_bank.h"
#include "schedules/conv2d_pool.h"
#include "schedules/matmul.h"
#include "schedules/text.h"
#include "schedules/units.h"

namespace tilewright {
namespace {

// In the order of the alternatives of Workload.
const std::array<Operator, 3>& table() {
  static const std::array<Operator, 3> rows{conv2d_pool_operator(), conv1d_bank_operator(),
                                            matmul_operator()};
  return rows;
}
static_assert(std::variant_size_v<Workload> == 3, "one row per alternative");

std::optional<std::string> value_problem(const Field& field, std::string_view name,
                                         std::string_view text, std::int64_t& value) {
  if (!field.words.empty()) {
    const auto found = std::find(field.words.begin(), field.words.end(), text);
    value = found - field.words.begin();
    if (found != field.words.end()) return {};
    return fmt::format("{} can not be '{}'; nearest is '{}' (of {})", name, text,
                       nearest_name(text, field.words), join(field.words, ", "));
  }
  const std::optional<std::int64_t> number = parse_integer(text);
  if (!number) return fmt::format("{} must be a whole number, not '{}'", name, text);
  value = *number;
  if (value >= field.minimum && value <= kLargestField) return {};
  return fmt::format("{} must be between {} and {}, not {}; nearest is {}", name, field.minimum,
                     with_commas(kLargestField), text,
                     std::clamp(value, field.minimum, kLargestField));
}

}  // namespace

std::span<const Operator> operators() { return table(); }
const Operator& operator_of(const Workload& workload) { return table()[workload.index()]; }

const Operator* find_operator(std::string_view name) {
  const auto found = std::find_if(table().begin(), table().end(),
                                  [&](const Operator& op) { return op.name == name; });
  return found == table().end() ? nullptr : &*found;
}

std::optional<std::int64_t> bounded_product(std::span<const std::int64_t> factors) {
  std::int64_t result = 1;
  for (const std::int64_t factor : factors) result = product(result, factor);
  if (result >= kLargestProduct) return std::nullopt;
  return result;
}

std::optional<std::string> size_problem(std::span<const ArrayShape> arrays,
                                        std::int64_t element_bytes,
                                        std::span<const std::int64_t> mac_factors) {
  for (const ArrayShape& array : arrays) {
    std::vector<std::int64_t> factors = array.extents;
    factors.push_back(element_bytes);
    if (!bounded_product(factors))
      return fmt::format("array {} has 2^62 bytes or more; use smaller sizes", array.name);
  }
  if (!bounded_product(mac_factors)) return "2^62 multiply-adds or more; use smaller sizes";
  return {};
}

std::optional<std::string> FieldSetter::set(std::string_view name, std::string_view value) {
  for (std::size_t index = 0; index < operator_.fields.size(); ++index) {
    const Field& field = operator_.fields[index];
    if (field.name == name) return set_parts(index, 0, field.part_count, name, value);
    for (std::size_t p = 0; p < field.part_count; ++p) {
      if (field.parts[p].name == name) return set_parts(index, p, p + 1, name, value);
    }
  }
  const std::vector<std::string_view> names = field_names(operator_);
  return fmt::format("unknown field '{}' of {}; nearest is '{}'", name, operator_.name,
                     nearest_name(name, names));
}

std::optional<std::string> FieldSetter::set_parts(std::size_t index, std::size_t begin,
                                                  std::size_t end, std::string_view name,
                                                  std::string_view text) {
  const Field& field = operator_.fields[index];
  std::int64_t value = 0;
  if (auto problem = value_problem(field, name, text, value)) return problem;
  for (std::size_t p = begin; p < end; ++p) {
    const FieldPart& part = field.parts[p];
    if (std::find(given_.begin(), given_.end(), part.name) != given_.end()) {
      return fmt::format("{} is given twice; keep one", name);
    }
    given_.emplace_back(part.name);
    part.set(workload_, value);
  }
  return {};
}

std::optional<std::string> FieldSetter::finish() const {
  for (const Field& field : operator_.fields) {
    if (!field.fallback && std::find(given_.begin(), given_.end(), field.name) == given_.end()) {
      return fmt::format("{} is missing; {} needs it", field.name, operator_.name);
    }
  }
  return operator_.problem(workload_);
}

std::vector<std::string_view> field_names(const Operator& op) {
  std::vector<std::string_view> names;
  for (const Field& field : op.fields) {
    names.push_back(field.name);
    if (field.part_count == 1) continue;
    for (const FieldPart& part : field.all_parts()) names.push_back(part.name);
  }
  return names;
}

const Field* find_field(const Operator& op, std::string_view name) {
  for (const Field& field : op.fields) {
    if (field.name == name) return &field;
    for (const FieldPart& part : field.all_parts()) {
      if (part.name == name) return &field;
    }
  }
  return nullptr;
}

}  // namespace tilewright
