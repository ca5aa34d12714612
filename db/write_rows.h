// SPDX-License-Identifier: Apache-2.0
// Records to rows, inside a transaction of the caller: errors are the transaction's. Private to
// db/.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "db/connection.h"
#include "schedules/records.h"

namespace tilewright::db {

// Draws a uid where the record has none. Returns the row's id.
std::int64_t insert_run(Transaction& transaction, const RunRecord& run);
void update_run_end(Transaction& transaction, std::int64_t run_id, RunState state,
                    const std::string& ended_utc);

// Makes this the current content of the device's name. `stored_utc` is moved forward where the
// name's newest content is dated later (a clock went backwards).
void put_device(Transaction& transaction, const DeviceRecord& device,
                const std::string& stored_utc);

// Ids of what trials refer to, looked up once for a batch.
class References {
 public:
  explicit References(Transaction& transaction) : transaction_(transaction) {}
  std::int64_t workload(const std::string& key);  // adds the row where it is missing
  std::int64_t device(const std::string& name,
                      const std::string& hash);  // fails where it is missing

 private:
  Transaction& transaction_;
  std::map<std::string, std::int64_t> workloads_;
  std::map<std::pair<std::string, std::string>, std::int64_t> devices_;
};

// The number that follows the run's last trial; fails where the run is missing.
std::int64_t next_trial_number(Transaction& transaction, std::int64_t run_id);
// id, run_id and number of the record are not looked at.
std::int64_t insert_trial(Transaction& transaction, References& references, std::int64_t run_id,
                          std::int64_t number, const TrialRecord& trial);

std::int64_t insert_proof(Transaction& transaction, std::int64_t trial_id, const ProofRecord& proof,
                          const std::string& stored_utc);
// Answers the question with this trial and proof, whatever the answer was before.
std::int64_t upsert_best(Transaction& transaction, const Question& question,
                         std::int64_t workload_id, std::int64_t trial_id, std::int64_t proof_id,
                         const std::string& stored_utc);
void upsert_kernel(Transaction& transaction, std::int64_t trial_id, const KernelRecord& kernel,
                   const std::string& stored_utc);
void insert_verdict(Transaction& transaction, std::int64_t trial_id, const VerdictRecord& verdict,
                    const std::string& checked_utc);

}  // namespace tilewright::db
