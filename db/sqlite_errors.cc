// SPDX-License-Identifier: Apache-2.0
#include "db/sqlite_errors.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <array>

namespace tilewright::db {
namespace {

struct CodeName {
  int code;
  std::string_view name;
};

#define TILEWRIGHT_CODE(name) \
  CodeName { name, #name }
constexpr std::array kCodes{
    TILEWRIGHT_CODE(SQLITE_ERROR),
    TILEWRIGHT_CODE(SQLITE_INTERNAL),
    TILEWRIGHT_CODE(SQLITE_PERM),
    TILEWRIGHT_CODE(SQLITE_ABORT),
    TILEWRIGHT_CODE(SQLITE_BUSY),
    TILEWRIGHT_CODE(SQLITE_LOCKED),
    TILEWRIGHT_CODE(SQLITE_NOMEM),
    TILEWRIGHT_CODE(SQLITE_READONLY),
    TILEWRIGHT_CODE(SQLITE_INTERRUPT),
    TILEWRIGHT_CODE(SQLITE_IOERR),
    TILEWRIGHT_CODE(SQLITE_CORRUPT),
    TILEWRIGHT_CODE(SQLITE_NOTFOUND),
    TILEWRIGHT_CODE(SQLITE_FULL),
    TILEWRIGHT_CODE(SQLITE_CANTOPEN),
    TILEWRIGHT_CODE(SQLITE_PROTOCOL),
    TILEWRIGHT_CODE(SQLITE_SCHEMA),
    TILEWRIGHT_CODE(SQLITE_TOOBIG),
    TILEWRIGHT_CODE(SQLITE_CONSTRAINT),
    TILEWRIGHT_CODE(SQLITE_MISMATCH),
    TILEWRIGHT_CODE(SQLITE_MISUSE),
    TILEWRIGHT_CODE(SQLITE_NOLFS),
    TILEWRIGHT_CODE(SQLITE_AUTH),
    TILEWRIGHT_CODE(SQLITE_RANGE),
    TILEWRIGHT_CODE(SQLITE_NOTADB),
    TILEWRIGHT_CODE(SQLITE_BUSY_RECOVERY),
    TILEWRIGHT_CODE(SQLITE_BUSY_SNAPSHOT),
    TILEWRIGHT_CODE(SQLITE_BUSY_TIMEOUT),
    TILEWRIGHT_CODE(SQLITE_READONLY_RECOVERY),
    TILEWRIGHT_CODE(SQLITE_READONLY_CANTLOCK),
    TILEWRIGHT_CODE(SQLITE_READONLY_ROLLBACK),
    TILEWRIGHT_CODE(SQLITE_READONLY_DBMOVED),
    TILEWRIGHT_CODE(SQLITE_READONLY_CANTINIT),
    TILEWRIGHT_CODE(SQLITE_READONLY_DIRECTORY),
    TILEWRIGHT_CODE(SQLITE_IOERR_READ),
    TILEWRIGHT_CODE(SQLITE_IOERR_SHORT_READ),
    TILEWRIGHT_CODE(SQLITE_IOERR_WRITE),
    TILEWRIGHT_CODE(SQLITE_IOERR_FSYNC),
    TILEWRIGHT_CODE(SQLITE_IOERR_DIR_FSYNC),
    TILEWRIGHT_CODE(SQLITE_IOERR_TRUNCATE),
    TILEWRIGHT_CODE(SQLITE_IOERR_FSTAT),
    TILEWRIGHT_CODE(SQLITE_IOERR_UNLOCK),
    TILEWRIGHT_CODE(SQLITE_IOERR_RDLOCK),
    TILEWRIGHT_CODE(SQLITE_IOERR_DELETE),
    TILEWRIGHT_CODE(SQLITE_IOERR_ACCESS),
    TILEWRIGHT_CODE(SQLITE_IOERR_LOCK),
    TILEWRIGHT_CODE(SQLITE_IOERR_CLOSE),
    TILEWRIGHT_CODE(SQLITE_IOERR_SHMOPEN),
    TILEWRIGHT_CODE(SQLITE_IOERR_SHMSIZE),
    TILEWRIGHT_CODE(SQLITE_IOERR_SHMLOCK),
    TILEWRIGHT_CODE(SQLITE_IOERR_SHMMAP),
    TILEWRIGHT_CODE(SQLITE_IOERR_CORRUPTFS),
    TILEWRIGHT_CODE(SQLITE_CORRUPT_SEQUENCE),
    TILEWRIGHT_CODE(SQLITE_CORRUPT_INDEX),
    TILEWRIGHT_CODE(SQLITE_CANTOPEN_ISDIR),
    TILEWRIGHT_CODE(SQLITE_CANTOPEN_FULLPATH),
    TILEWRIGHT_CODE(SQLITE_CANTOPEN_DIRTYWAL),
    TILEWRIGHT_CODE(SQLITE_CANTOPEN_SYMLINK),
    TILEWRIGHT_CODE(SQLITE_CONSTRAINT_CHECK),
    TILEWRIGHT_CODE(SQLITE_CONSTRAINT_FOREIGNKEY),
    TILEWRIGHT_CODE(SQLITE_CONSTRAINT_NOTNULL),
    TILEWRIGHT_CODE(SQLITE_CONSTRAINT_PRIMARYKEY),
    TILEWRIGHT_CODE(SQLITE_CONSTRAINT_UNIQUE),
    TILEWRIGHT_CODE(SQLITE_CONSTRAINT_DATATYPE),
};
#undef TILEWRIGHT_CODE

std::string_view listed_name(int code) {
  for (const CodeName& entry : kCodes) {
    if (entry.code == code) return entry.name;
  }
  return {};
}

}  // namespace

std::string code_name(int code) {
  if (const std::string_view name = listed_name(code); !name.empty()) return std::string(name);
  if (const std::string_view name = listed_name(code & 0xff); !name.empty())
    return fmt::format("{} ({})", name, code);
  return fmt::format("SQLite code {}", code);
}

std::string_view code_hint(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another process holds the lock: wait for it, or stop it";
    case SQLITE_FULL:
      return "free space on its disk";
    case SQLITE_READONLY:
      return "make the file and its folder writable, or choose another file";
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
    case SQLITE_AUTH:
      return "check the permissions of the file and its folder";
    case SQLITE_IOERR:
      return "check its disk: free space, file size limit, health";
    case SQLITE_CORRUPT:
      return "the file is damaged or truncated: put a copy in its place";
    case SQLITE_NOTADB:
      return "this is no SQLite database: choose another file";
    case SQLITE_NOMEM:
      return "free some memory";
    default:
      return {};
  }
}

}  // namespace tilewright::db
