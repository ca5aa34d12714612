// SPDX-License-Identifier: Apache-2.0
// A stranger's SQL. Three walls: a read-only connection, an authorizer that allows reading only,
// and limits of time, rows and memory. (SQLite's C interface: the wrapper has no authorizer.)
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <memory>

#include "db/database_file.h"
#include "db/query.h"
#include "db/sqlite_errors.h"

namespace tilewright {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kStepsBetweenLooks = 1000;        // of SQLite's virtual machine, some 20 us
constexpr int kLongestText = 64 * 1024 * 1024;  // bytes: no single value may be larger

constexpr std::size_t kLongestSql = 1024 * 1024;

// Pragmas that only tell. Those with an argument name a table or an index with it.
constexpr std::array<std::string_view, 6> kTellingPragmas{
    "table_info", "table_xinfo", "table_list", "index_list", "index_info", "foreign_key_list"};
constexpr std::array<std::string_view, 4> kTellingPragmasWithoutArgument{
    "page_count", "page_size", "user_version", "encoding"};

// What was refused, for the error's text.
struct Refusal {
  std::string what;
};

std::string action_name(int action, const char* detail) {
  const std::string_view tail = detail == nullptr ? "" : detail;
  switch (action) {
    case SQLITE_ATTACH:
      return "ATTACH";
    case SQLITE_DETACH:
      return "DETACH";
    case SQLITE_PRAGMA:
      return fmt::format("PRAGMA {}", tail);
    case SQLITE_INSERT:
      return fmt::format("INSERT INTO {}", tail);
    case SQLITE_UPDATE:
      return fmt::format("UPDATE {}", tail);
    case SQLITE_DELETE:
      return fmt::format("DELETE FROM {}", tail);
    case SQLITE_FUNCTION:
      return fmt::format("the function {}", tail);
    default:
      return "a change";
  }
}

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_allowed(int action, const char* first, const char* second) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return true;
    case SQLITE_FUNCTION:  // the function's name is the second detail
      return second == nullptr || std::string_view(second) != "load_extension";
    case SQLITE_PRAGMA:
      return contains(kTellingPragmas, first) ||
             (second == nullptr && contains(kTellingPragmasWithoutArgument, first));
    default:
      return false;
  }
}

int authorize(void* data, int action, const char* first, const char* second, const char*,
              const char*) {
  if (is_allowed(action, first, second)) return SQLITE_OK;
  auto& refusal = *static_cast<Refusal*>(data);
  if (refusal.what.empty())
    refusal.what = action_name(action, action == SQLITE_FUNCTION ? second : first);
  return SQLITE_DENY;
}

int is_too_late(void* data) {
  return Clock::now() >= *static_cast<const Clock::time_point*>(data) ? 1 : 0;
}

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

SqlCell read_cell(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return std::int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_NULL:
      return std::monostate();
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const unsigned char*>(sqlite3_column_blob(statement, column));
      std::string text = "X'";
      for (int i = 0; i < sqlite3_column_bytes(statement, column); ++i)
        text += fmt::format("{:02X}", bytes[i]);
      return text + "'";
    }
    default: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      if (text == nullptr) return std::string();  // out of memory
      return std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
    }
  }
}

// SQLite's words about the reader's own text are his to repair: a usage error.
tl::unexpected<Error> sql_error(const db::Connection& connection, const Refusal& refusal,
                                const SqlLimits& limits) {
  const int code = sqlite3_extended_errcode(connection.handle());
  if (!refusal.what.empty()) {
    return usage_error(fmt::format("{}: {} is refused: only reading is allowed here",
                                   connection.path(), refusal.what));
  }
  if (code == SQLITE_INTERRUPT) {
    return failure(
        fmt::format("{}: the query took longer than {} ms: narrow it, or allow more time",
                    connection.path(), limits.time.count()));
  }
  Error error = connection.error("sql", code, sqlite3_errmsg(connection.handle()));
  if ((code & 0xff) == SQLITE_ERROR) error.kind = ErrorKind::usage;
  return tl::unexpected<Error>(std::move(error));
}

bool is_blank(const char* text) {
  return std::string_view(text).find_first_not_of(" \t\r\n;") == std::string_view::npos;
}

Result<SqlTable> read_table(const db::Connection& connection, sqlite3_stmt* statement,
                            const Refusal& refusal, const SqlLimits& limits) {
  SqlTable table;
  const int columns = sqlite3_column_count(statement);
  for (int i = 0; i < columns; ++i) table.columns.emplace_back(sqlite3_column_name(statement, i));
  while (true) {
    const int code = sqlite3_step(statement);
    if (code == SQLITE_DONE) return table;
    if (code != SQLITE_ROW) return sql_error(connection, refusal, limits);
    if (static_cast<std::int64_t>(table.rows.size()) == limits.rows) {
      table.cut = true;
      return table;
    }
    std::vector<SqlCell>& row = table.rows.emplace_back();
    for (int i = 0; i < columns; ++i) row.push_back(read_cell(statement, i));
  }
}

}  // namespace

Result<SqlTable> run_sql(const std::string& path, const std::string& sql, const SqlLimits& limits) {
  Result<db::Connection> connection =
      db::open_database({.path = path, .read_only = true, .lock_wait = kLockWait});
  if (!connection) return pass_error(connection);
  sqlite3* handle = connection->handle();
  if (sql.size() > kLongestSql) {
    return usage_error(fmt::format("{}: the SQL is longer than {} bytes", path, kLongestSql));
  }
  Refusal refusal;
  Clock::time_point end = Clock::now() + limits.time;
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestText);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_set_authorizer(handle, authorize, &refusal);
  sqlite3_progress_handler(handle, kStepsBetweenLooks, is_too_late, &end);

  sqlite3_stmt* prepared = nullptr;
  const char* tail = nullptr;
  const int code =
      sqlite3_prepare_v2(handle, sql.data(), static_cast<int>(sql.size()), &prepared, &tail);
  const Statement statement(prepared);
  if (code != SQLITE_OK) return sql_error(*connection, refusal, limits);
  if (!statement) return usage_error(fmt::format("{}: the SQL is empty: write a SELECT", path));
  if (!is_blank(tail))
    return usage_error(fmt::format("{}: there is text after the first statement: {}", path, tail));
  if (sqlite3_stmt_readonly(prepared) == 0 || sqlite3_column_count(prepared) == 0) {
    return usage_error(fmt::format("{}: this is no question: only reading is allowed here", path));
  }
  return read_table(*connection, prepared, refusal, limits);
}

Result<KnobCondition> parse_knob_condition(std::string_view text) {
  struct Sign {
    std::string_view sign;
    Comparison comparison;
  };
  // Signs of two characters first: "<=" starts with "<".
  constexpr std::array kSigns{
      Sign{"<=", Comparison::less_equal}, Sign{">=", Comparison::greater_equal},
      Sign{"!=", Comparison::not_equal},  Sign{"<", Comparison::less},
      Sign{">", Comparison::greater},     Sign{"=", Comparison::equal}};
  const std::size_t at = text.find_first_of("<>!=");
  for (const Sign& sign : kSigns) {
    if (at == std::string_view::npos || !text.substr(at).starts_with(sign.sign)) continue;
    const std::string_view knob = text.substr(0, at);
    const std::string_view value = text.substr(at + sign.sign.size());
    if (knob.empty() || value.empty() || value.find_first_of("<>!=") != std::string_view::npos)
      break;
    return KnobCondition{std::string(knob), sign.comparison, std::string(value)};
  }
  return usage_error(fmt::format(
      "'{}' is no condition on a knob: write for example base_m>=128 or load=mdl", text));
}

}  // namespace tilewright
