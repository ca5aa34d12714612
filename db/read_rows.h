// SPDX-License-Identifier: Apache-2.0
// Rows to records, inside a transaction of the caller: errors are the transaction's. Private to
// db/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "schedules/records.h"

namespace tilewright::db {

// SELECT ... FROM trials t JOIN ...: columns in the order that read_trial() takes them; a WHERE may
// follow.
extern const char* const kSelectTrials;
// The row that `query` stands on, without knobs and traffic.
TrialRecord read_trial(Transaction& transaction, const Query& query);
void read_knobs_and_traffic(Transaction& transaction, TrialRecord& trial);
// Fails where there is none.
TrialRecord find_trial(Transaction& transaction, std::int64_t id);

// The same for runs.
extern const char* const kSelectRuns;
RunRecord read_run(Transaction& transaction, const Query& query);

// The same for answers; trial, proof, kernel and verdict are read too.
extern const char* const kSelectBests;
struct BestRow {
  Question question;
  std::int64_t trial_id = 0, proof_id = 0;
  std::string stored_utc;
};
BestRow read_best(const Query& query);
BestRecord complete_best(Transaction& transaction, BestRow row);

template <class Record>
struct Dated {
  Record record;
  std::string utc;
};
Dated<ProofRecord> find_proof(Transaction& transaction, std::int64_t proof_id);
std::vector<Dated<KernelRecord>> kernels_of(Transaction& transaction,
                                            std::int64_t trial_id);  // newest first
std::vector<Dated<VerdictRecord>> verdicts_of(Transaction& transaction,
                                              std::int64_t trial_id);  // newest first

}  // namespace tilewright::db
