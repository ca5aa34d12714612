// SPDX-License-Identifier: Apache-2.0
// WHERE clauses put together from constant pieces; every value is bound. Private to db/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "db/connection.h"
#include "db/store.h"
#include "schedules/result.h"

namespace tilewright::db {

class Conditions {
 public:
  using Value = std::variant<std::int64_t, std::string>;
  // `piece` is constant text with one `?` for each value.
  void add(std::string_view piece, std::vector<Value> values);
  // At most `count` rows in this order (constant text).
  void limit(std::string_view order, std::int64_t count);
  std::string text() const;
  void bind(Query& query) const;

 private:
  std::string where_, tail_;
  std::vector<Value> values_;
};

// For kSelectTrials. Error: an order comparison with a value that is no integer.
Result<Conditions> trial_conditions(const TrialFilter& filter);
// For kSelectBests.
Conditions best_conditions(const BestFilter& filter);

}  // namespace tilewright::db
