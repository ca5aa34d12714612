// SPDX-License-Identifier: Apache-2.0
// Items as JSON text, one line each. json_lines.cc and json_parse.cc are the files that include the
// JSON library. Private to db/.
#pragma once

#include <optional>
#include <string>

#include "db/items.h"
#include "schedules/result.h"

namespace tilewright::db {

std::string header_line();
std::string to_line(const Item& item);
// Nothing for the header and for an empty line. Errors name the field; a header of a newer schema
// is refused.
Result<std::optional<Item>> parse_line(const std::string& line);

}  // namespace tilewright::db
