// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <istream>
#include <ostream>

#include "db/batches.h"
#include "db/database_file.h"
#include "db/items.h"
#include "db/json_lines.h"
#include "db/maintenance.h"
#include "db/store.h"

namespace tilewright {
namespace {

Result<void> add_line(db::Batches& batches, const std::string& line) {
  const Result<std::optional<db::Item>> item = db::parse_line(line);
  if (!item) return pass_error(item);
  return *item ? batches.add(**item) : Result<void>();
}

Result<void> add_lines(db::Batches& batches, std::istream& in, const std::string& name) {
  std::string line;
  for (std::int64_t number = 1; std::getline(in, line); ++number) {
    if (const auto added = add_line(batches, line); !added) {
      return failure(fmt::format("{}:{}: {}", name, number, added.error().message));
    }
  }
  if (!in.eof()) return failure(fmt::format("{}: can not be read to its end", name));
  return batches.commit();
}

}  // namespace

Result<void> export_json_lines(const std::string& path, std::ostream& out) {
  Result<db::Connection> source =
      db::open_database({.path = path, .read_only = true, .lock_wait = kLockWait});
  if (!source) return pass_error(source);
  db::Transaction transaction(*source, "export", db::Transaction::Kind::read);
  out << db::header_line() << '\n';
  db::for_each_item(transaction, [&](const db::Item& item) {
    out << db::to_line(item) << '\n';
    return out.good();
  });
  out.flush();
  if (!out.good())
    transaction.fail(
        fmt::format("{}: export: the output can not be written: check its disk", path));
  return transaction.commit();
}

Result<MergeReport> import_json_lines(const std::string& path, std::istream& in,
                                      const std::string& name) {
  Result<db::Connection> target = db::open_database({.path = path, .lock_wait = kLockWait});
  if (!target) return pass_error(target);
  db::Batches batches(*target);
  if (const auto added = add_lines(batches, in, name); !added) return pass_error(added);
  return batches.report();
}

}  // namespace tilewright
