// SPDX-License-Identifier: Apache-2.0
#include "db/connection.h"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <thread>
#include <unordered_map>
#include <utility>

#include "db/sqlite_errors.h"

namespace tilewright::db {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Longest single wait inside SQLite; wait_for_lock() repeats it until lock_wait is over.
constexpr milliseconds kBusyTimeout{1000};

// A connection is used by one thread at a time, so SQLite's own mutexes are left out.
int open_flags(Access access) {
  const int flags = SQLite::OPEN_NOMUTEX;
  switch (access) {
    case Access::read_write_create:
      return flags | SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE;
    case Access::read_write:
      return flags | SQLite::OPEN_READWRITE;
    case Access::read_only:
      return flags | SQLite::OPEN_READONLY;
    case Access::immutable:
      return flags | SQLite::OPEN_READONLY | SQLite::OPEN_URI;
  }
  return flags | SQLite::OPEN_READONLY;
}

// SQLite gives a meaning to names like ":memory:" and "file:..."; a path is always a path here.
std::string file_name(const std::string& path, Access access) {
  std::string name = path.starts_with('/') ? path : "./" + path;
  if (access != Access::immutable) return name;
  std::string uri = "file:";
  for (const char c : name) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

struct Query::Prepared {
  SQLite::Statement statement;
  bool row = false;
};

struct Connection::State {
  std::string path;
  bool read_only = false;
  milliseconds lock_wait{0};
  std::optional<std::int64_t> version;  // watched
  SQLite::Database database;
  // By the address of the constant text.
  std::unordered_map<const char*, std::shared_ptr<Query::Prepared>> statements;

  State(std::string path_, Access access, milliseconds wait)
      : path(std::move(path_)),
        read_only(access == Access::read_only || access == Access::immutable),
        lock_wait(wait),
        database(file_name(path, access), open_flags(access),
                 static_cast<int>(std::min(wait, kBusyTimeout).count())) {}

  int code() const { return sqlite3_extended_errcode(database.getHandle()); }
  const char* words() const { return sqlite3_errmsg(database.getHandle()); }

  // Calls attempt() until it is not refused by another process's lock, or lock_wait is over.
  // SQLite's own wait does not cover every case (for example where waiting could be a deadlock), so
  // it is repeated here.
  template <class Attempt>
  int wait_for_lock(Attempt attempt) const {
    int result = attempt();
    if ((result & 0xff) != SQLITE_BUSY) return result;
    const auto end = Clock::now() + lock_wait;
    while ((result & 0xff) == SQLITE_BUSY && Clock::now() < end) {
      std::this_thread::sleep_for(milliseconds(2));
      result = attempt();
    }
    return result;
  }
  int execute(const char* text) const {
    return wait_for_lock(
        [&] { return sqlite3_exec(database.getHandle(), text, nullptr, nullptr, nullptr); });
  }
};

Connection::Connection(std::unique_ptr<State> state) : state_(std::move(state)) {}
Connection::~Connection() = default;
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;

Result<Connection> Connection::open(const std::string& path, Access access,
                                    milliseconds lock_wait) {
  try {
    return Connection(std::make_unique<State>(path, access, lock_wait));
  } catch (const SQLite::Exception& e) {
    const std::string_view hint = code_hint(e.getErrorCode());
    return failure(fmt::format("{}: can not be opened: {} ({}){}{}", path, e.what(),
                               code_name(e.getExtendedErrorCode()), hint.empty() ? "" : ": ",
                               hint));
  }
}

const std::string& Connection::path() const { return state_->path; }
void Connection::watch_version(std::int64_t version) { state_->version = version; }
bool Connection::read_only() const { return state_->read_only; }
sqlite3* Connection::handle() const { return state_->database.getHandle(); }

Error Connection::error(const char* statement, int code, std::string_view words) const {
  const std::string_view hint = code_hint(code);
  return {ErrorKind::failed, fmt::format("{}: {}: {} ({}){}{}", state_->path, statement, words,
                                         code_name(code), hint.empty() ? "" : ": ", hint)};
}

Result<std::string> Connection::pragma(const Sql& sql) {
  try {
    SQLite::Statement statement(state_->database, sql.text);
    const int result = state_->wait_for_lock([&] {
      const int code = statement.tryExecuteStep();
      if ((code & 0xff) == SQLITE_BUSY) statement.tryReset();
      return code;
    });
    if (result == SQLITE_ROW) return statement.getColumn(0).getString();
    if (result == SQLITE_DONE) return std::string();
    return tl::unexpected<Error>(error(sql.name, state_->code(), state_->words()));
  } catch (const SQLite::Exception& e) {
    return tl::unexpected<Error>(error(sql.name, e.getExtendedErrorCode(), e.what()));
  }
}

Transaction::Transaction(Connection& connection, const char* name, Kind kind)
    : connection_(connection), name_(name) {
  const Connection::State& state = *connection_.state_;
  const int result = state.execute(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN");
  open_ = result == SQLITE_OK;
  if (open_) {
    check_version();
  } else {
    fail(connection_.error(name_, state.code(), state.words()));
  }
}

void Transaction::check_version() {
  constexpr Sql sql{"read schema version", "PRAGMA user_version"};
  const auto& version = connection_.state_->version;
  if (!version) return;
  Query query(*this, sql);
  if (!query.bind().step() || query.integer(0) == *version) return;
  fail(
      fmt::format("{}: was migrated to schema version {} by another tilewright while it was open "
                  "here: use that one",
                  path(), query.integer(0)));
}

Transaction::~Transaction() { roll_back(); }

void Transaction::roll_back() {
  // After some errors SQLite has rolled back by itself; a second ROLLBACK would only be refused.
  if (open_ && sqlite3_get_autocommit(connection_.handle()) == 0) {
    sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  open_ = false;
}

void Transaction::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

Result<void> Transaction::commit() {
  if (ok()) {
    const Connection::State& state = *connection_.state_;
    if (state.execute("COMMIT") != SQLITE_OK)
      fail(connection_.error(name_, state.code(), state.words()));
  }
  if (!ok()) {
    roll_back();
    return tl::unexpected<Error>(*error_);
  }
  open_ = false;
  return {};
}

std::int64_t Transaction::last_row_id() const {
  return sqlite3_last_insert_rowid(connection_.handle());
}

void Transaction::execute(const Sql& script) {
  if (!ok()) return;
  const Connection::State& state = *connection_.state_;
  if (state.execute(script.text) != SQLITE_OK)
    fail(connection_.error(script.name, state.code(), state.words()));
}

Query::Query(Transaction& transaction, const Sql& sql)
    : transaction_(transaction), name_(sql.name) {
  prepare(sql.name, sql.text, true);
}

Query::Query(Transaction& transaction, const Built& sql)
    : transaction_(transaction), name_(sql.name) {
  prepare(sql.name, sql.text.c_str(), false);
}

void Query::prepare(const char* name, const char* text, bool keep) {
  if (!transaction_.ok()) return;
  Connection::State& state = *transaction_.connection_.state_;
  if (keep) {
    // A statement that is in use further up the stack is not shared with it.
    const auto found = state.statements.find(text);
    if (found != state.statements.end() && found->second.use_count() == 1) {
      prepared_ = found->second;
      return;
    }
  }
  try {
    prepared_ = std::make_shared<Prepared>(Prepared{SQLite::Statement(state.database, text)});
    if (keep) state.statements.try_emplace(text, prepared_);
  } catch (const SQLite::Exception& e) {
    transaction_.fail(transaction_.connection_.error(name, state.code(), e.what()));
  }
}

Query::~Query() {
  if (prepared_) prepared_->statement.tryReset();  // so that it holds no lock and no snapshot
}

void Query::restart() {
  next_ = 1;
  if (!prepared_) return;
  prepared_->statement.tryReset();  // an error of the last step was told by step()
  prepared_->row = false;
}

namespace {
// Binding fails for a parameter that does not exist (a bug) and for text beyond SQLite's limit.
template <class Bind>
void bind_value(Transaction& transaction, const char* name, Bind bind) {
  try {
    bind();
  } catch (const SQLite::Exception& e) {
    transaction.fail(transaction.connection().error(name, e.getExtendedErrorCode(), e.what()));
  }
}
}  // namespace

void Query::add(std::int64_t value) {
  if (!prepared_ || !transaction_.ok()) return;
  bind_value(transaction_, name_, [&] { prepared_->statement.bind(next_++, value); });
}
void Query::add(double value) {
  if (!prepared_ || !transaction_.ok()) return;
  bind_value(transaction_, name_, [&] { prepared_->statement.bind(next_++, value); });
}
void Query::add(const std::string& value) {
  if (!prepared_ || !transaction_.ok()) return;
  bind_value(transaction_, name_, [&] { prepared_->statement.bind(next_++, value); });
}
void Query::add_null() {
  if (!prepared_ || !transaction_.ok()) return;
  bind_value(transaction_, name_, [&] { prepared_->statement.bind(next_++); });
}

bool Query::step() {
  if (!prepared_ || !transaction_.ok()) return false;
  const Connection::State& state = *transaction_.connection_.state_;
  const bool first = !prepared_->row;
  const int result = state.wait_for_lock([&] {
    const int code = prepared_->statement.tryExecuteStep();
    if ((code & 0xff) == SQLITE_BUSY && first) prepared_->statement.tryReset();
    return code;
  });
  prepared_->row = result == SQLITE_ROW;
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE)
    transaction_.fail(transaction_.connection_.error(name_, state.code(), state.words()));
  return false;
}

// Precondition of all: step() was true. The column exists: a constant of the same .cc.
bool Query::is_null(int column) const { return prepared_->statement.isColumnNull(column); }
std::int64_t Query::integer(int column) const {
  return prepared_->statement.getColumn(column).getInt64();
}
double Query::real(int column) const { return prepared_->statement.getColumn(column).getDouble(); }
std::string Query::text(int column) const {
  return prepared_->statement.getColumn(column).getString();
}

std::optional<std::int64_t> Query::optional_integer(int column) const {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}
std::optional<double> Query::optional_real(int column) const {
  if (is_null(column)) return std::nullopt;
  return real(column);
}

}  // namespace tilewright::db
