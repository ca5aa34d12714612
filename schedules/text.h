// SPDX-License-Identifier: Apache-2.0
// Small text tools that keys and schedules share: `name:value,name:value` lists, strict integers,
// nearest names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedules/result.h"

namespace tilewright {

// The name with the smallest edit distance; of several one with the same first letter, else the
// first. Empty only if there are no names.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names);
std::string join(std::span<const std::string_view> words, std::string_view separator);
// Control characters written out (\n, \x1b), so that a message that quotes what was given stays one
// line and moves no cursor.
std::string one_line(std::string_view text);
std::string with_commas(std::int64_t number);  // 172,544

// Plain decimal digits with an optional minus, no leading zeros, nothing else. A number that leaves
// 64 bits gives the smallest or largest one, so that the caller's range check refuses it.
std::optional<std::int64_t> parse_integer(std::string_view text);

struct NamedValue {
  std::string_view name, value;
  std::size_t position = 0;  // of the name's first character in the whole text, counted from 1
};
// Splits `name:value,name:value`. `whole` is the text that messages and positions refer to, `list`
// a part of it.
Result<std::vector<NamedValue>> parse_named_values(std::string_view whole, std::string_view list);

}  // namespace tilewright
