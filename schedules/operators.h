// SPDX-License-Identifier: Apache-2.0
// The operator table: one row per operator says everything about its workloads that is not a
// schedule. A new operator is its file pair and one row here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedules/workload.h"

namespace tilewright {

// One number of a workload. Words and booleans are numbers too: their text is the field's word at
// that index.
struct FieldPart {
  std::string_view name;
  std::int64_t (*get)(const Workload&) = nullptr;
  void (*set)(Workload&, std::int64_t) = nullptr;
};

// A field of a key. One with several parts (`stride` = `stride_h`, `stride_w`) is written as one
// where they agree and part by part where they differ.
struct Field {
  std::string_view name;
  std::optional<std::int64_t> fallback;     // none: must be given, always written
  std::int64_t minimum = 1;                 // of numbers
  std::span<const std::string_view> words;  // empty: a number
  bool boolean = false;                     // words are 0 and 1
  std::array<FieldPart, 4> parts{};
  std::size_t part_count = 1;

  std::span<const FieldPart> all_parts() const { return {parts.data(), part_count}; }
};

struct Operator {
  std::string_view name;
  std::span<const Field> fields;                                     // canonical order
  Workload (*make)() = nullptr;                                      // all defaults
  std::optional<std::string> (*problem)(const Workload&) = nullptr;  // why it can not exist
  std::vector<ArrayShape> (*inputs)(const Workload&) = nullptr;
  ArrayShape (*output)(const Workload&) = nullptr;
  DType (*dtype)(const Workload&) = nullptr;
  std::int64_t (*macs)(const Workload&) = nullptr;
  const char* no_kernel = nullptr;  // why no kernel can be generated (a whole sentence), or nullptr
};

std::span<const Operator> operators();
const Operator& operator_of(const Workload& workload);
const Operator* find_operator(std::string_view name);

inline constexpr std::int64_t kLargestField = std::int64_t{1} << 40;
inline constexpr std::int64_t kLargestProduct = std::int64_t{1} << 62;
// Product of all factors where it stays below kLargestProduct.
std::optional<std::int64_t> bounded_product(std::span<const std::int64_t> factors);
// Why these arrays and this number of multiply-adds are too many to count in 64 bits, or nothing.
std::optional<std::string> size_problem(std::span<const ArrayShape> arrays,
                                        std::int64_t element_bytes,
                                        std::span<const std::int64_t> mac_factors);

// Sets fields one by one by their text, from a key or from a file, and checks the whole at the end.
// Messages say what, not where: the caller prefixes that.
class FieldSetter {
 public:
  explicit FieldSetter(const Operator& op) : operator_(op), workload_(op.make()) {}
  // Empty if done, else what is wrong.
  std::optional<std::string> set(std::string_view name, std::string_view value);
  std::optional<std::string> finish() const;
  const Workload& workload() const { return workload_; }

 private:
  std::optional<std::string> set_parts(std::size_t index, std::size_t begin, std::size_t end,
                                       std::string_view name, std::string_view text);

  const Operator& operator_;
  Workload workload_;
  std::vector<std::string> given_;  // names of the parts that were set
};

std::vector<std::string_view> field_names(const Operator& op);  // fields and their parts
const Field* find_field(const Operator& op, std::string_view name);

// Builds the accessors of a member: part<&Conv2dPool::cin>("cin").
template <auto Member>
struct MemberAccess;
template <class W, class T, T W::*Member>
struct MemberAccess<Member> {
  static std::int64_t get(const Workload& workload) {
    return static_cast<std::int64_t>(std::get<W>(workload).*Member);
  }
  static void set(Workload& workload, std::int64_t value) {
    std::get<W>(workload).*Member = static_cast<T>(value);
  }
};
template <auto Member>
constexpr FieldPart part(std::string_view name) {
  return {name, &MemberAccess<Member>::get, &MemberAccess<Member>::set};
}

template <auto Member>
constexpr Field size_field(std::string_view name, std::optional<std::int64_t> fallback = {},
                           std::int64_t minimum = 1) {
  return {.name = name,
          .fallback = fallback,
          .minimum = minimum,
          .words = {},
          .parts = {part<Member>(name)}};
}
template <auto Member>
constexpr Field word_field(std::string_view name, std::span<const std::string_view> words,
                           std::optional<std::int64_t> fallback = {}) {
  return {.name = name,
          .fallback = fallback,
          .minimum = 0,
          .words = words,
          .parts = {part<Member>(name)}};
}
inline constexpr std::array<std::string_view, 2> kBooleanWords{"0", "1"};
template <auto Member>
constexpr Field boolean_field(std::string_view name, bool fallback) {
  Field field = word_field<Member>(name, kBooleanWords, fallback ? 1 : 0);
  field.boolean = true;
  return field;
}

inline constexpr std::array<std::string_view, 4> kDTypeWords{"fp32", "fp16", "bf16", "int8"};

}  // namespace tilewright
