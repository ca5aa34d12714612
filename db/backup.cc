// SPDX-License-Identifier: Apache-2.0
#include "db/backup.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "db/connection.h"

namespace tilewright::db {
namespace {

constexpr std::chrono::milliseconds kLockWait{10'000};
constexpr const char* kName = "backup";

Result<void> copy_pages(const Connection& source, const Connection& target) {
  sqlite3_backup* backup = sqlite3_backup_init(target.handle(), "main", source.handle(), "main");
  if (backup == nullptr) {
    const int code = sqlite3_extended_errcode(target.handle());
    return tl::unexpected<Error>(target.error(kName, code, sqlite3_errmsg(target.handle())));
  }
  // In one go: a copy in portions starts again whenever somebody writes in between. The
  // connections' busy timeout applies, the attempts are bounded.
  int code = SQLITE_BUSY;
  for (int attempt = 0; attempt < 10 && (code == SQLITE_BUSY || code == SQLITE_LOCKED); ++attempt) {
    code = sqlite3_backup_step(backup, -1);
  }
  const int finished = sqlite3_backup_finish(backup);
  if (code == SQLITE_DONE && finished == SQLITE_OK) return {};
  const int told = code == SQLITE_DONE ? finished : code;
  return tl::unexpected<Error>(target.error(kName, told, sqlite3_errstr(told)));
}

// link() refuses to replace a file that has appeared meanwhile; file systems without links get
// rename().
Result<void> name_copy(const std::string& partial, const std::string& to) {
  std::error_code ec;
  if (::link(partial.c_str(), to.c_str()) == 0) {
    std::filesystem::remove(partial, ec);
    return {};
  }
  if (errno != EEXIST) {
    std::filesystem::rename(partial, to, ec);
    if (!ec) return {};
  }
  const std::string why = ec ? ec.message() : std::strerror(EEXIST);
  std::filesystem::remove(partial, ec);
  return failure(fmt::format("{}: the copy can not be named so: {}", to, why));
}

}  // namespace

Result<void> copy_file(const std::string& from, const std::string& to) {
  std::error_code ec;
  if (std::filesystem::exists(to, ec)) {
    return failure(fmt::format("{}: exists already: choose another name for the copy", to));
  }
  const std::string partial = fmt::format("{}.{}.partial", to, ::getpid());
  std::filesystem::remove(partial, ec);
  {
    const Result<Connection> source = Connection::open(from, Access::read_only, kLockWait);
    if (!source) return pass_error(source);
    const Result<Connection> target =
        Connection::open(partial, Access::read_write_create, kLockWait);
    if (!target) return pass_error(target);
    if (auto copied = copy_pages(*source, *target); !copied) {
      std::filesystem::remove(partial, ec);
      return copied;
    }
  }
  std::filesystem::remove(partial + "-wal", ec);
  std::filesystem::remove(partial + "-shm", ec);
  return name_copy(partial, to);
}

}  // namespace tilewright::db
