// SPDX-License-Identifier: Apache-2.0
// SQLite's result codes in words. Private to db/.
#pragma once

#include <string>
#include <string_view>

namespace tilewright::db {

// Name of an (extended) result code: "SQLITE_IOERR_WRITE"; of a code that is not listed, its
// primary code's name and the number: "SQLITE_IOERR (7434)".
std::string code_name(int code);
// What a user can do about it; empty where nothing sensible can be said.
std::string_view code_hint(int code);

}  // namespace tilewright::db
