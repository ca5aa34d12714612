// SPDX-License-Identifier: Apache-2.0
#include "db/migrate.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "db/backup.h"

namespace tilewright::db {
namespace {

namespace fs = std::filesystem;

constexpr Sql kReadVersion{"read schema version", "PRAGMA user_version"};
constexpr Sql kAddHistory{
    "insert schema_history",
    "INSERT INTO schema_history (schema_version, tool_version, applied_utc) VALUES (?1, ?2, ?3)"};
constexpr Sql kForeignKeysOff{"set foreign_keys", "PRAGMA foreign_keys = OFF"};
constexpr Sql kForeignKeysOn{"set foreign_keys", "PRAGMA foreign_keys = ON"};
constexpr Sql kCheckForeignKeys{"check foreign keys", "PRAGMA foreign_key_check"};

std::string copy_name(const std::string& path, std::int64_t version) {
  std::string name = fmt::format("{}.v{}.bak", path, version);
  std::error_code ec;
  for (int n = 2; fs::exists(name, ec); ++n) name = fmt::format("{}.v{}.{}.bak", path, version, n);
  return name;
}

void check_references(Transaction& transaction) {
  Query query(transaction, kCheckForeignKeys);
  if (query.bind().step()) {
    transaction.fail(fmt::format(
        "{}: migration: a row of {} refers to a row of {} that is not there: the file is left as "
        "it was",
        transaction.path(), query.text(0), query.text(2)));
  }
}

Result<void> migrate_in_transaction(Connection& connection, const Schema& schema) {
  Transaction transaction(connection, "migrate", Transaction::Kind::write);
  Query read_version(transaction, kReadVersion);
  const std::int64_t version = read_version.bind().step() ? read_version.integer(0) : 0;
  read_version.restart();
  // Another process may have been faster: then there is no step left.
  if (transaction.ok() && version < schema.version) {
    if (schema.migrations.empty() || schema.migrations.front().to > version + 1) {
      transaction.fail(fmt::format(
          "{}: has schema version {}, and no migration from it is known: use the tilewright that "
          "wrote it",
          connection.path(), version));
    } else if (auto copied = copy_file(connection.path(), copy_name(connection.path(), version));
               !copied) {
      transaction.fail(copied.error());
    }
  }
  for (const Migration& step : schema.migrations) {
    if (step.to <= version) continue;
    transaction.execute(step.script);
    stamp_version(transaction, step.to);
  }
  check_references(transaction);
  return transaction.commit();
}

}  // namespace

Result<void> migrate(Connection& connection, const Schema& schema) {
  // A step that builds a table anew drops the old one, to which rows refer: references are checked
  // at the end instead. The pragma does nothing inside a transaction.
  if (const auto off = connection.pragma(kForeignKeysOff); !off) return pass_error(off);
  Result<void> migrated = migrate_in_transaction(connection, schema);
  if (const auto on = connection.pragma(kForeignKeysOn); !on) return pass_error(on);
  return migrated;
}

void stamp_version(Transaction& transaction, std::int64_t version) {
  // Pragmas take no bound values; both are our own integers.
  const std::string pragmas =
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};", kApplicationId, version);
  transaction.execute(Sql{"stamp version", pragmas.c_str()});
  Query(transaction, kAddHistory).bind(version, tool_version(), now_utc()).run();
}

}  // namespace tilewright::db
