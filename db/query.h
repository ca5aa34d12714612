// SPDX-License-Identifier: Apache-2.0
// Questions from people: conditions on knobs, and their own SELECTs.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "db/store.h"
#include "schedules/result.h"

namespace tilewright {

// `base_m>=128`, `load=mdl`, `terms!=tri6`; the comparisons are = != < <= > >=. Error: none of
// them, or nothing on a side of it.
Result<KnobCondition> parse_knob_condition(std::string_view text);

struct SqlLimits {
  std::chrono::milliseconds time{5000};
  std::int64_t rows = 10'000;
};
// NULL, integer, real, text (bytes of a blob as X'..').
using SqlCell = std::variant<std::monostate, std::int64_t, double, std::string>;
struct SqlTable {
  std::vector<std::string> columns;
  std::vector<std::vector<SqlCell>> rows;
  bool cut = false;  // there were more rows than the limit
};
// One SELECT (or WITH, VALUES, EXPLAIN) on a connection that can only read this one file: writing,
// ATTACH, pragmas that change anything and extensions are refused before they run. Errors: SQLite's
// words about the text (usage), the time is over.
Result<SqlTable> run_sql(const std::string& path, const std::string& sql,
                         const SqlLimits& limits = {});

}  // namespace tilewright
