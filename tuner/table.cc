// SPDX-License-Identifier: Apache-2.0
#include "tuner/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedules/text.h"

namespace tilewright {

void Table::row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(column.title.size());
  for (const auto& cells : rows_) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool right = columns_[i].align == Align::right;
      line += right ? fmt::format("{:>{}}  ", cell_of(i), widths[i])
                    : fmt::format("{:<{}}  ", cell_of(i), widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add_line([&](std::size_t i) { return columns_[i].title; });
  for (const auto& cells : rows_) add_line([&](std::size_t i) { return cells[i]; });
  return text;
}

std::string us_text(const std::optional<double>& us) {
  if (!us) return "-";
  if (*us < 1e4) return fmt::format("{:.1f} us", *us);
  if (*us < 1e6) return fmt::format("{:.2f} ms", *us / 1e3);
  return fmt::format("{:.2f} s", *us / 1e6);
}

std::string bytes_text(std::int64_t bytes) { return with_commas(bytes) + " B"; }

std::string percent_text(const std::optional<double>& part) {
  return part ? fmt::format("{:.1f} %", 100 * *part) : "-";
}

}  // namespace tilewright
