// SPDX-License-Identifier: Apache-2.0
// Keys of workloads, driven by the operator table.
#include "schedules/workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedules/operators.h"
#include "schedules/text.h"
#include "schedules/units.h"

namespace tilewright {
namespace {

std::string value_text(const Field& field, std::int64_t value) {
  return field.words.empty() ? fmt::to_string(value)
                             : std::string(field.words[static_cast<std::size_t>(value)]);
}

void append(std::string& text, std::string_view name, const std::string& value) {
  fmt::format_to(std::back_inserter(text), "{}{}:{}", text.back() == '/' ? "" : ",", name, value);
}

}  // namespace

std::int64_t bytes_of(DType dtype) {
  switch (dtype) {
    case DType::fp32:
      return 4;
    case DType::fp16:
    case DType::bf16:
      return 2;
    case DType::int8:
      return 1;
  }
  return 0;
}

Result<Workload> parse_workload_key(std::string_view key) {
  const std::size_t slash = key.find('/');
  const std::string_view name = key.substr(0, slash);
  const Operator* op = find_operator(name);
  if (op == nullptr) {
    std::vector<std::string_view> names;
    for (const Operator& known : operators()) names.push_back(known.name);
    return usage_error(fmt::format("{}: unknown operator '{}'; nearest is '{}'", key, name,
                                   nearest_name(name, names)));
  }
  if (slash == std::string_view::npos) {
    return usage_error(
        fmt::format("{}: the fields are missing; write {}/{}:...", key, name, op->fields[0].name));
  }
  const auto values = parse_named_values(key, key.substr(slash + 1));
  if (!values) return pass_error(values);
  FieldSetter setter(*op);
  for (const NamedValue& value : *values) {
    if (const auto problem = setter.set(value.name, value.value)) {
      return usage_error(fmt::format("{}: {} (character {})", key, *problem, value.position));
    }
  }
  if (const auto problem = setter.finish())
    return usage_error(fmt::format("{}: {}", key, *problem));
  return setter.workload();
}

std::string to_key(const Workload& workload) {
  const Operator& op = operator_of(workload);
  std::string key = fmt::format("{}/", op.name);
  for (const Field& field : op.fields) {
    const auto parts = field.all_parts();
    const std::int64_t first = parts[0].get(workload);
    const bool agree = std::all_of(parts.begin(), parts.end(), [&](const FieldPart& part) {
      return part.get(workload) == first;
    });
    if (agree) {
      if (field.fallback != first) append(key, field.name, value_text(field, first));
      continue;
    }
    for (const FieldPart& part : parts) {
      const std::int64_t value = part.get(workload);
      if (field.fallback != value) append(key, part.name, value_text(field, value));
    }
  }
  return key;
}

std::string_view operator_name(const Workload& workload) { return operator_of(workload).name; }
std::vector<ArrayShape> input_shapes(const Workload& workload) {
  return operator_of(workload).inputs(workload);
}
ArrayShape output_shape(const Workload& workload) { return operator_of(workload).output(workload); }
DType dtype_of(const Workload& workload) { return operator_of(workload).dtype(workload); }
std::int64_t direct_macs(const Workload& workload) { return operator_of(workload).macs(workload); }
std::int64_t output_count(const Workload& workload) {
  return bounded_product(output_shape(workload).extents).value_or(kSaturated);
}

}  // namespace tilewright
