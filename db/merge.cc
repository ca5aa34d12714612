// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "db/batches.h"
#include "db/database_file.h"
#include "db/items.h"
#include "db/maintenance.h"
#include "db/store.h"

namespace tilewright {
namespace db {

Batches::Batches(Connection& target) : target_(target) {}
Batches::~Batches() = default;

Result<void> Batches::add(const Item& item) {
  if (!transaction_) {
    transaction_ = std::make_unique<Transaction>(target_, "merge", Transaction::Kind::write);
    pending_ = report_;
  }
  add_item(*transaction_, item, pending_);
  if (transaction_->ok() && ++count_ % kBatchSize != 0) return {};
  return commit();
}

Result<void> Batches::commit() {
  if (!transaction_) return {};
  Result<void> done = transaction_->commit();
  transaction_.reset();
  if (done) report_ = pending_;
  return done;
}

}  // namespace db

namespace {

Result<void> refuse_same_file(const std::string& into, const std::string& from) {
  std::error_code ec;
  if (!std::filesystem::equivalent(into, from, ec)) return {};
  return usage_error(fmt::format("{} and {} are the same file: merging needs two", into, from));
}

}  // namespace

Result<MergeReport> merge_database(const std::string& into, const std::string& from) {
  if (const auto checked = refuse_same_file(into, from); !checked) return pass_error(checked);
  Result<db::Connection> source =
      db::open_database({.path = from, .read_only = true, .lock_wait = kLockWait});
  if (!source) return pass_error(source);
  Result<db::Connection> target = db::open_database({.path = into, .lock_wait = kLockWait});
  if (!target) return pass_error(target);

  db::Batches batches(*target);
  Result<void> result;
  db::Transaction reading(*source, "merge", db::Transaction::Kind::read);
  db::for_each_item(reading, [&](const db::Item& item) {
    result = batches.add(item);
    return result.has_value();
  });
  if (result) result = reading.commit();
  if (result) result = batches.commit();
  if (!result) return pass_error(result);
  return batches.report();
}

}  // namespace tilewright
