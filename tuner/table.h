// SPDX-License-Identifier: Apache-2.0
// Aligned plain-text tables for people. Numbers stand to the right, words to the left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void row(std::vector<std::string> cells);  // missing cells are empty
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// "-" where there is no figure.
std::string us_text(const std::optional<double>& us);         // 867.1 us, 33.7 ms, 1.20 s
std::string bytes_text(std::int64_t bytes);                   // 172,544 B
std::string percent_text(const std::optional<double>& part);  // 0.88 -> 88.0 %

}  // namespace tilewright
