// SPDX-License-Identifier: Apache-2.0
#include "db/database_file.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <charconv>
#include <filesystem>
#include <system_error>

#include "db/migrate.h"

namespace tilewright::embedded {
extern const std::string_view schema_sql;
}

namespace tilewright::db {
namespace {

namespace fs = std::filesystem;

constexpr Sql kReadApplicationId{"read application_id", "PRAGMA application_id"};
constexpr Sql kReadVersion{"read schema version", "PRAGMA user_version"};
constexpr Sql kCountObjects{"count tables", "SELECT count(*) FROM sqlite_schema"};
constexpr Sql kReaderVersion{
    "read schema_history",
    "SELECT tool_version FROM schema_history ORDER BY schema_version DESC LIMIT 1"};
constexpr Sql kForeignKeys{"set foreign_keys", "PRAGMA foreign_keys = ON"};
constexpr Sql kUntrusted{"set trusted_schema", "PRAGMA trusted_schema = OFF"};
constexpr Sql kCellCheck{"set cell_size_check", "PRAGMA cell_size_check = ON"};
constexpr Sql kSynchronous{"set synchronous", "PRAGMA synchronous = FULL"};
constexpr Sql kReadJournal{"read journal_mode", "PRAGMA journal_mode"};
constexpr Sql kWal{"set journal_mode", "PRAGMA journal_mode = WAL"};

Result<void> check_path(const OpenRequest& request) {
  if (request.path.empty())
    return usage_error("the database has no file name: give one, for example tilewright.db");
  if (request.path.find('\0') != std::string::npos)
    return usage_error("the database's file name holds a zero byte");
  const fs::path path(request.path);
  std::error_code ec;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ec)) {
    return failure(fmt::format("{}: the folder {} does not exist: make it, or choose another file",
                               request.path, folder.string()));
  }
  if (fs::is_directory(path, ec))
    return failure(fmt::format("{}: is a folder: choose a file", request.path));
  const bool exists = fs::exists(path, ec);
  if (!exists && (request.read_only || !request.create)) {
    return failure(fmt::format(
        "{}: no such file: check its name, or run a tuning first, which makes it", request.path));
  }
  return {};
}

// What stands in the file before anything is written to it.
struct Identity {
  std::int64_t application_id = 0, version = 0, objects = 0;
};

Result<std::int64_t> read_number(Connection& connection, const Sql& sql) {
  const Result<std::string> text = connection.pragma(sql);
  if (!text) return pass_error(text);
  std::int64_t number = 0;
  std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

Result<Identity> read_identity(Connection& connection) {
  Identity identity;
  for (const auto& [target, sql] : {std::pair{&identity.application_id, kReadApplicationId},
                                    {&identity.version, kReadVersion},
                                    {&identity.objects, kCountObjects}}) {
    const Result<std::int64_t> number = read_number(connection, sql);
    if (!number) return pass_error(number);
    *target = *number;
  }
  return identity;
}

bool is_empty(const Identity& identity) {
  return identity.application_id == 0 && identity.version == 0 && identity.objects == 0;
}

Result<void> check_identity(Connection& connection, const Identity& identity,
                            const Schema& schema) {
  if (identity.application_id != kApplicationId) {
    return failure(fmt::format("{}: is a database of another program: choose another file",
                               connection.path()));
  }
  if (identity.version <= schema.version) return {};
  const Result<std::string> reader = connection.pragma(kReaderVersion);
  const std::string who = reader && !reader->empty()
                              ? fmt::format("tilewright {} or newer", *reader)
                              : std::string("a newer tilewright");
  return failure(
      fmt::format("{}: has schema version {}, and tilewright {} reads versions up to {}: use {}",
                  connection.path(), identity.version, tool_version(), schema.version, who));
}

Result<void> create_schema(Connection& connection, const Schema& schema) {
  Transaction transaction(connection, "create schema", Transaction::Kind::write);
  // Another process may have been faster.
  Query count(transaction, kCountObjects);
  const bool empty = count.bind().step() && count.integer(0) == 0;
  count.restart();
  if (empty) {
    transaction.execute(schema.create);
    stamp_version(transaction, schema.version);
  }
  return transaction.commit();
}

// WAL lets readers and a writer work at the same time. Where the file system has no shared memory
// SQLite stays with the rollback journal, and where another connection is busy right now it stays
// for this time: both are no error.
void prefer_wal(Connection& connection) {
  const Result<std::string> mode = connection.pragma(kReadJournal);
  if (mode && *mode != "wal") (void)connection.pragma(kWal);
}

Result<void> set_up(Connection& connection) {
  for (const Sql& sql : {kForeignKeys, kUntrusted, kCellCheck}) {
    if (const auto done = connection.pragma(sql); !done) return pass_error(done);
  }
  return {};
}

Result<void> prepare_for_writing(Connection& connection, const OpenRequest& request,
                                 const Schema& schema) {
  if (sqlite3_db_readonly(connection.handle(), "main") == 1) {
    return failure(fmt::format(
        "{}: the file or its folder can not be written: make it writable, or choose another file",
        request.path));
  }
  Result<Identity> identity = read_identity(connection);
  if (!identity) return pass_error(identity);
  if (is_empty(*identity)) {
    if (const auto created = create_schema(connection, schema); !created)
      return pass_error(created);
    identity = read_identity(connection);
    if (!identity) return pass_error(identity);
  }
  if (const auto checked = check_identity(connection, *identity, schema); !checked)
    return pass_error(checked);
  if (identity->version < schema.version) {
    if (const auto migrated = migrate(connection, schema); !migrated) return pass_error(migrated);
  }
  prefer_wal(connection);
  if (const auto done = connection.pragma(kSynchronous); !done) return pass_error(done);
  return {};
}

Result<void> check_for_reading(Connection& connection, const Schema& schema) {
  const Result<Identity> identity = read_identity(connection);
  if (!identity) return pass_error(identity);
  if (is_empty(*identity)) {
    return failure(
        fmt::format("{}: is empty: run a tuning first, which fills it", connection.path()));
  }
  if (const auto checked = check_identity(connection, *identity, schema); !checked)
    return pass_error(checked);
  if (identity->version < schema.version) {
    return failure(fmt::format(
        "{}: has the older schema version {}: open it once for writing, which migrates it to {}",
        connection.path(), identity->version, schema.version));
  }
  return {};
}

Result<Connection> open_for_reading(const OpenRequest& request, Access access,
                                    const Schema& schema) {
  Result<Connection> connection = Connection::open(request.path, access, request.lock_wait);
  if (!connection) return connection;
  if (const auto done = set_up(*connection); !done) return pass_error(done);
  if (const auto checked = check_for_reading(*connection, schema); !checked)
    return pass_error(checked);
  return connection;
}

// A WAL file next to the database holds rows that an immutable reader would not see.
bool has_pending_wal(const std::string& path) {
  std::error_code ec;
  const fs::path real = fs::canonical(path, ec);
  if (ec) return true;
  const auto size = fs::file_size(real.string() + "-wal", ec);
  return !ec && size > 0;
}

bool wants_to_write(const Error& error) {
  return error.message.find("SQLITE_CANTOPEN") != std::string::npos ||
         error.message.find("SQLITE_READONLY") != std::string::npos;
}

Result<Connection> open_unwatched(const OpenRequest& request, const Schema& schema) {
  if (request.read_only) {
    Result<Connection> connection = open_for_reading(request, Access::read_only, schema);
    // A database in WAL mode wants a -shm file beside it, which a read-only folder refuses.
    if (connection || !wants_to_write(connection.error()) || has_pending_wal(request.path))
      return connection;
    return open_for_reading(request, Access::immutable, schema);
  }
  const Access access = request.create ? Access::read_write_create : Access::read_write;
  Result<Connection> connection = Connection::open(request.path, access, request.lock_wait);
  if (!connection) return connection;
  if (const auto done = set_up(*connection); !done) return pass_error(done);
  if (const auto done = prepare_for_writing(*connection, request, schema); !done)
    return pass_error(done);
  return connection;
}

}  // namespace

const Schema& current_schema() {
  static const std::string text(embedded::schema_sql);  // ends with the zero byte that SQLite needs
  static const Schema schema{kSchemaVersion, Sql{"schema.sql", text.c_str()}, {}};
  return schema;
}

Result<Connection> open_database(const OpenRequest& request, const Schema& schema) {
  if (const auto checked = check_path(request); !checked) return pass_error(checked);
  Result<Connection> connection = open_unwatched(request, schema);
  if (connection) connection->watch_version(schema.version);
  return connection;
}

std::string now_utc() {
  const auto now = std::chrono::system_clock::now();
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03d}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(now)), ms);
}

std::string_view tool_version() { return TILEWRIGHT_VERSION; }

}  // namespace tilewright::db
