// SPDX-License-Identifier: Apache-2.0
// One connection to one SQLite file, its transactions and prepared statements. Private to db/.
// connection.cc is the only file that includes SQLiteCpp and catches what it throws.
//
// Work is written as straight lines: a Transaction remembers its first error, queries after it do
// nothing, and commit() tells. So a forgotten check can not store half of a batch.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "schedules/result.h"

struct sqlite3;

namespace tilewright::db {

// A statement with a name for error messages. Text is constant: values are bound, never pasted.
struct Sql {
  const char* name;
  const char* text;
};

enum class Access {
  read_write_create,
  read_write,
  read_only,
  immutable,  // promises that nobody writes: a file in a folder where no -shm file can be made
};

class Connection {
 public:
  // lock_wait bounds how long a statement waits for another process.
  static Result<Connection> open(const std::string& path, Access access,
                                 std::chrono::milliseconds lock_wait);
  ~Connection();
  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;

  const std::string& path() const;  // as the user wrote it
  bool read_only() const;
  sqlite3* handle() const;
  // Outside of transactions: pragmas. The text of the first column of the first row, empty if there
  // is none.
  Result<std::string> pragma(const Sql& sql);
  // From now on every transaction first sees whether the file still has this schema version:
  // another version of the tool may migrate it while it is open here.
  void watch_version(std::int64_t version);
  // One clear line: file, statement, name of the code, SQLite's words, what to do.
  Error error(const char* statement, int code, std::string_view words) const;

  struct State;

 private:
  friend class Transaction;
  friend class Query;
  explicit Connection(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class Transaction {
 public:
  enum class Kind {
    read,   // one snapshot for all its queries
    write,  // BEGIN IMMEDIATE: the lock is taken before the first row is looked at
  };
  // An error of the beginning is told by commit(). One transaction at a time on a connection.
  Transaction(Connection& connection, const char* name, Kind kind);
  ~Transaction();  // rolls back what was not committed
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  bool ok() const { return !error_; }
  void fail(Error error);  // the first one stays
  void fail(std::string message) { fail(Error{ErrorKind::failed, std::move(message)}); }
  Result<void> commit();
  std::int64_t last_row_id() const;
  // One or more statements without values: schema and migrations.
  void execute(const Sql& script);
  const std::string& path() const { return connection_.path(); }
  Connection& connection() { return connection_; }

 private:
  friend class Query;
  void roll_back();
  void check_version();
  Connection& connection_;
  const char* name_;
  bool open_ = false;
  std::optional<Error> error_;
};

// One use of a prepared statement. The text must live as long as the connection (constants) unless
// `built` says that it was put together from constants for this one use.
class Query {
 public:
  struct Prepared;  // in connection.cc
  Query(Transaction& transaction, const Sql& sql);
  struct Built {
    const char* name;
    std::string text;
  };
  Query(Transaction& transaction, const Built& sql);
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  // Starts over with these values for ?1, ?2 ...
  template <class... Values>
  Query& bind(const Values&... values) {
    restart();
    (add(values), ...);
    return *this;
  }
  void restart();
  void add(std::int64_t value);
  void add(bool value) { add(static_cast<std::int64_t>(value)); }
  void add(double value);
  void add(const std::string& value);
  void add(std::string_view value) { add(std::string(value)); }
  void add(const char* value) { add(std::string(value)); }
  void add_null();
  template <class T>
  void add(const std::optional<T>& value) {
    value ? add(*value) : add_null();
  }

  bool step();  // true: there is a row. False: done, or the transaction failed
  void run() {
    while (step()) {
    }
  }

  // Columns of the row, from 0.
  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  std::optional<std::int64_t> optional_integer(int column) const;
  std::optional<double> optional_real(int column) const;

 private:
  void prepare(const char* name, const char* text, bool keep);
  Transaction& transaction_;
  const char* name_;
  std::shared_ptr<Prepared> prepared_;  // null after an error
  int next_ = 1;
};

}  // namespace tilewright::db
