// SPDX-License-Identifier: Apache-2.0
// Whole-file copies by SQLite's online backup: consistent while others write. Private to db/.
#pragma once

#include <string>

#include "schedules/result.h"

namespace tilewright::db {

// Copies the database (any version) to a new file. The copy appears under its name only when it is
// whole; an existing file of that name is an error.
Result<void> copy_file(const std::string& from, const std::string& to);

}  // namespace tilewright::db
