// SPDX-License-Identifier: Apache-2.0
// Reading: each call sees one snapshot.
#include <fmt/format.h>

#include <algorithm>

#include "db/conditions.h"
#include "db/read_rows.h"
#include "db/store.h"
#include "db/store_state.h"

namespace tilewright {

using db::Transaction;

namespace {

// Every field of a question; the unique index of `bests` finds it.
constexpr const char* kOneQuestion =
    "WHERE w.workload_key = ?1 AND b.device_hash = ?2 AND b.model_version = ?3 AND "
    "b.generator_version = ?4 AND "
    "b.variant_filter = ?5 AND b.objective = ?6 AND b.constraints = ?7 AND b.grid = ?8 AND b.host "
    "= ?9";

std::string why_stale(const BestRecord& best, std::span<const Store::Current> current) {
  if (current.empty()) return {};
  const auto now =
      std::find_if(current.begin(), current.end(), [&](const Store::Current& candidate) {
        return candidate.device_name == best.trial.device_name;
      });
  if (now == current.end()) return fmt::format("no device {} is known now", best.trial.device_name);
  if (now->device_hash != best.question.device_hash) {
    return fmt::format("device {} has changed: its hash was {}, is {}", best.trial.device_name,
                       best.question.device_hash, now->device_hash);
  }
  if (now->model_version != best.question.model_version) {
    return fmt::format("the model has changed: its version was {}, is {}",
                       best.question.model_version, now->model_version);
  }
  return {};
}

}  // namespace

Result<std::optional<BestRecord>> Store::find_best(const Question& question) {
  static const std::string text = std::string(db::kSelectBests) + kOneQuestion;
  Transaction transaction(state_->connection, "find_best", Transaction::Kind::read);
  std::optional<BestRecord> found;
  const Question& q = question;
  {
    db::Query query(transaction, db::Sql{"find best", text.c_str()});
    query.bind(q.workload_key, q.device_hash, q.model_version, q.generator_version,
               q.variant_filter, q.objective, q.constraints, q.grid, q.host);
    if (query.step()) found = db::complete_best(transaction, db::read_best(query));
  }
  if (auto done = transaction.commit(); !done) return pass_error(done);
  return found;
}

Result<std::vector<BestRecord>> Store::list_best(std::span<const Current> current,
                                                 std::int64_t limit) {
  return list_best(current, BestFilter{.limit = limit});
}

Result<std::vector<BestRecord>> Store::list_best(std::span<const Current> current,
                                                 const BestFilter& filter) {
  Transaction transaction(state_->connection, "list_best", Transaction::Kind::read);
  std::vector<BestRecord> found;
  {
    db::Conditions conditions = db::best_conditions(filter);
    conditions.limit("b.stored_utc DESC, b.id DESC", filter.limit);
    db::Query query(transaction, {"list best", db::kSelectBests + conditions.text()});
    for (conditions.bind(query); query.step();) {
      found.push_back(db::complete_best(transaction, db::read_best(query)));
      found.back().stale_because = why_stale(found.back(), current);
    }
  }
  if (auto done = transaction.commit(); !done) return pass_error(done);
  return found;
}

Result<std::vector<TrialRecord>> Store::list_trials(const TrialFilter& filter) {
  Result<db::Conditions> conditions = db::trial_conditions(filter);
  if (!conditions) return pass_error(conditions);
  Transaction transaction(state_->connection, "list_trials", Transaction::Kind::read);
  std::vector<TrialRecord> found;
  {
    conditions->limit("t.id DESC", filter.limit);
    db::Query query(transaction, {"list trials", db::kSelectTrials + conditions->text()});
    for (conditions->bind(query); query.step();) {
      found.push_back(db::read_trial(transaction, query));
      db::read_knobs_and_traffic(transaction, found.back());
    }
  }
  if (auto done = transaction.commit(); !done) return pass_error(done);
  return found;
}

Result<std::vector<RunRecord>> Store::list_runs(std::int64_t limit) {
  static const std::string text = std::string(db::kSelectRuns) + "ORDER BY r.id DESC LIMIT ?1";
  Transaction transaction(state_->connection, "list_runs", Transaction::Kind::read);
  std::vector<RunRecord> found;
  {
    db::Query query(transaction, db::Sql{"list runs", text.c_str()});
    for (query.bind(limit); query.step();) found.push_back(db::read_run(transaction, query));
  }
  if (auto done = transaction.commit(); !done) return pass_error(done);
  return found;
}

Result<std::vector<DeviceRecord>> Store::list_devices() {
  constexpr db::Sql sql{
      "list devices",
      "SELECT name, hash, content FROM devices ORDER BY name, stored_utc DESC, hash"};
  Transaction transaction(state_->connection, "list_devices", Transaction::Kind::read);
  std::vector<DeviceRecord> found;
  {
    db::Query query(transaction, sql);
    for (query.bind(); query.step();)
      found.push_back({query.text(0), query.text(1), query.text(2)});
  }
  if (auto done = transaction.commit(); !done) return pass_error(done);
  return found;
}

Result<std::vector<std::string>> Store::list_workloads() {
  constexpr db::Sql sql{"list workloads",
                        "SELECT workload_key FROM workloads ORDER BY workload_key"};
  Transaction transaction(state_->connection, "list_workloads", Transaction::Kind::read);
  std::vector<std::string> found;
  {
    db::Query query(transaction, sql);
    for (query.bind(); query.step();) found.push_back(query.text(0));
  }
  if (auto done = transaction.commit(); !done) return pass_error(done);
  return found;
}

}  // namespace tilewright
