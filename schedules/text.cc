// SPDX-License-Identifier: Apache-2.0
#include "schedules/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>

namespace tilewright {
namespace {

// Levenshtein's distance, one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names) {
  constexpr std::size_t kLongestName =
      200;  // what is longer is no typing error; keeps hostile input cheap
  name = name.substr(0, kLongestName);
  const auto same_start = [&](std::string_view other) {
    return !name.empty() && !other.empty() && name[0] == other[0];
  };
  std::string_view best;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  for (const std::string_view candidate : names) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance ||
        (distance == best_distance && same_start(candidate) && !same_start(best))) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (code < 0x20 || code == 0x7f) {
      line += fmt::format("\\x{:02x}", code);
    } else {
      line += c;
    }
  }
  return line;
}

std::string join(std::span<const std::string_view> words, std::string_view separator) {
  std::string joined;
  for (const std::string_view word : words) {
    if (!joined.empty()) joined += separator;
    joined += word;
  }
  return joined;
}

std::string with_commas(std::int64_t number) {
  std::string digits = fmt::to_string(number);
  const std::size_t first = digits[0] == '-' ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) return std::nullopt;
  if (digits[0] == '0' && (digits.size() > 1 || negative)) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    using Bounds = std::numeric_limits<std::int64_t>;
    return negative ? Bounds::min() : Bounds::max();
  }
  return value;
}

Result<std::vector<NamedValue>> parse_named_values(std::string_view whole, std::string_view list) {
  std::vector<NamedValue> values;
  std::size_t begin = 0;
  const std::size_t offset = static_cast<std::size_t>(list.data() - whole.data());
  while (begin <= list.size()) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view item = list.substr(begin, end - begin);
    const std::size_t position = offset + begin + 1;
    const std::size_t colon = item.find(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == item.size()) {
      return usage_error(fmt::format("{}: expected name:value at character {}, found '{}'", whole,
                                     position, item));
    }
    values.push_back(NamedValue{item.substr(0, colon), item.substr(colon + 1), position});
    begin = end + 1;
  }
  return values;
}

}  // namespace tilewright
