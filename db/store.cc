// SPDX-License-Identifier: Apache-2.0
// Opening and writing; store_queries.cc reads.
#include "db/store.h"

#include <fmt/format.h>

#include <utility>

#include "db/connection.h"
#include "db/database_file.h"
#include "db/read_rows.h"
#include "db/store_state.h"
#include "db/write_rows.h"

namespace tilewright {

using db::Transaction;

namespace {

// A best that points at a trial of another question would be served wrongly for ever.
void check_answer(Transaction& transaction, const Question& question, const TrialRecord& trial) {
  const auto require = [&](const char* field, const std::string& asked,
                           const std::string& answered) {
    if (asked == answered) return;
    transaction.fail(
        fmt::format("{}: trial {} does not answer the question: its {} is '{}', asked is '{}'",
                    transaction.path(), trial.id, field, answered, asked));
  };
  require("workload", question.workload_key, trial.workload_key);
  require("device hash", question.device_hash, trial.device_hash);
  require("model version", question.model_version, trial.model_version);
  require("objective", question.objective, trial.objective);
  require("set of constraints", question.constraints, trial.constraints);
  if (trial.status != TrialStatus::ok) {
    transaction.fail(fmt::format("{}: trial {} is no answer: its status is not ok",
                                 transaction.path(), trial.id));
  }
}

}  // namespace

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

Result<Store> Store::open(const std::string& path, OpenMode mode,
                          std::chrono::milliseconds lock_wait) {
  Result<db::Connection> connection = db::open_database(
      {.path = path, .read_only = mode == OpenMode::read_only, .lock_wait = lock_wait});
  if (!connection) return pass_error(connection);
  return Store(std::make_unique<State>(State{std::move(*connection)}));
}

Result<std::int64_t> Store::begin_run(const RunRecord& run) {
  Transaction transaction(state_->connection, "begin_run", Transaction::Kind::write);
  const std::int64_t id = db::insert_run(transaction, run);
  if (auto done = transaction.commit(); !done) return pass_error(done);
  return id;
}

Result<void> Store::end_run(std::int64_t run_id, RunState state, const std::string& ended_utc) {
  Transaction transaction(state_->connection, "end_run", Transaction::Kind::write);
  db::update_run_end(transaction, run_id, state, ended_utc);
  return transaction.commit();
}

Result<void> Store::put_device(const DeviceRecord& device) {
  Transaction transaction(state_->connection, "put_device", Transaction::Kind::write);
  db::put_device(transaction, device, db::now_utc());
  return transaction.commit();
}

Result<std::vector<std::int64_t>> Store::add_trials(std::int64_t run_id,
                                                    std::span<const TrialRecord> trials) {
  Transaction transaction(state_->connection, "add_trials", Transaction::Kind::write);
  db::References references(transaction);
  std::int64_t number = db::next_trial_number(transaction, run_id);
  std::vector<std::int64_t> ids;
  ids.reserve(trials.size());
  for (const TrialRecord& trial : trials) {
    if (!transaction.ok()) break;
    ids.push_back(db::insert_trial(transaction, references, run_id, number++, trial));
  }
  if (auto done = transaction.commit(); !done) return pass_error(done);
  return ids;
}

Result<std::int64_t> Store::put_best(const Question& question, std::int64_t trial_id,
                                     const ProofRecord& proof, const std::string& stored_utc) {
  Transaction transaction(state_->connection, "put_best", Transaction::Kind::write);
  const TrialRecord trial = db::find_trial(transaction, trial_id);
  if (transaction.ok()) check_answer(transaction, question, trial);
  const std::int64_t workload_id = db::References(transaction).workload(question.workload_key);
  const std::int64_t proof_id = db::insert_proof(transaction, trial_id, proof, stored_utc);
  const std::int64_t id =
      db::upsert_best(transaction, question, workload_id, trial_id, proof_id, stored_utc);
  if (auto done = transaction.commit(); !done) return pass_error(done);
  return id;
}

Result<void> Store::add_kernel(std::int64_t trial_id, const KernelRecord& kernel) {
  Transaction transaction(state_->connection, "add_kernel", Transaction::Kind::write);
  (void)db::find_trial(transaction, trial_id);
  db::upsert_kernel(transaction, trial_id, kernel, db::now_utc());
  return transaction.commit();
}

Result<void> Store::add_verdict(std::int64_t trial_id, const VerdictRecord& verdict,
                                const std::string& checked_utc) {
  Transaction transaction(state_->connection, "add_verdict", Transaction::Kind::write);
  (void)db::find_trial(transaction, trial_id);
  db::insert_verdict(transaction, trial_id, verdict, checked_utc);
  return transaction.commit();
}

}  // namespace tilewright
