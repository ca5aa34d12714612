// SPDX-License-Identifier: Apache-2.0
// Adds a stream of items in transactions of bounded size: a long merge keeps no writer out for its
// whole time, and its journal stays small. Private to db/.
#pragma once

#include <cstdint>
#include <memory>

#include "db/connection.h"
#include "db/items.h"
#include "db/maintenance.h"
#include "schedules/result.h"

namespace tilewright::db {

class Batches {
 public:
  explicit Batches(Connection& target);
  ~Batches();  // what was not committed is not stored
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;
  Result<void> add(const Item& item);
  Result<void> commit();
  const MergeReport& report() const { return report_; }  // of what is committed

 private:
  static constexpr std::int64_t kBatchSize = 2000;  // items
  Connection& target_;
  std::unique_ptr<Transaction> transaction_;
  std::int64_t count_ = 0;
  MergeReport report_, pending_;
};

}  // namespace tilewright::db
