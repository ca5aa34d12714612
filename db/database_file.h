// SPDX-License-Identifier: Apache-2.0
// Opens the database file: checks that it is one of ours, creates or migrates its schema. Private
// to db/.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "db/connection.h"
#include "schedules/result.h"

namespace tilewright::db {

inline constexpr std::int64_t kSchemaVersion =
    1;  // PRAGMA user_version of files that this code writes
inline constexpr std::int64_t kApplicationId = 0x746c7772;  // PRAGMA application_id: "tlwr"

// Brings a file from schema version `to - 1` to `to`.
struct Migration {
  std::int64_t to = 0;
  Sql script;
};

// What the code knows about schemas; tests hand in others.
struct Schema {
  std::int64_t version = kSchemaVersion;
  Sql create;
  std::span<const Migration> migrations;  // in order, without gaps up to `version`
};
const Schema& current_schema();

struct OpenRequest {
  std::string path;
  bool read_only = false;
  bool create = true;  // a missing file is made; only with read_only == false
  std::chrono::milliseconds lock_wait{0};
};

// Errors (each names the file and what to do): missing folder or file, a folder, no database,
// another program's database, damaged or truncated, a newer schema (with the tool version that
// reads it), an older schema where nothing may be written, a file that can not be written. An older
// schema is migrated, a copy of the file is kept.
Result<Connection> open_database(const OpenRequest& request,
                                 const Schema& schema = current_schema());

// Time stamp for what the store itself dates: UTC, milliseconds.
std::string now_utc();
std::string_view tool_version();

}  // namespace tilewright::db
