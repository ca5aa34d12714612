// SPDX-License-Identifier: Apache-2.0
// Brings an older file to the current schema. Private to db/.
#pragma once

#include <cstdint>

#include "db/connection.h"
#include "db/database_file.h"
#include "schedules/result.h"

namespace tilewright::db {

// All steps in one transaction: after an error or a kill the file is what it was. Before, a copy is
// made next to it by SQLite's online backup, FILE.v1.bak (FILE.v1.2.bak ... if that exists), and
// stays there.
Result<void> migrate(Connection& connection, const Schema& schema);

// Marks the file as ours and of this version, with a row in schema_history.
void stamp_version(Transaction& transaction, std::int64_t version);

}  // namespace tilewright::db
