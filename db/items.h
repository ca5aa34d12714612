// SPDX-License-Identifier: Apache-2.0
// The content of a database as a stream of values without local ids: what merge, export and import
// carry. Private to db/.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "db/connection.h"
#include "db/maintenance.h"
#include "db/read_rows.h"
#include "schedules/records.h"

namespace tilewright::db {

struct AnswerItem {
  Question question;
  Dated<ProofRecord> proof;
  std::string stored_utc;
};

// A trial with everything that is known about it.
struct TrialItem {
  std::string run_uid;
  TrialRecord trial;  // id and run_id are 0
  std::vector<Dated<ProofRecord>> proofs;
  std::vector<Dated<KernelRecord>> kernels;
  std::vector<Dated<VerdictRecord>> verdicts;
  std::vector<AnswerItem> answers;  // questions whose best it is
};

// Devices come before runs before trials.
using Item = std::variant<Dated<DeviceRecord>, RunRecord, TrialItem>;

// In one fixed order: devices by name and hash, runs by uid, trials by uid and number. Stops after
// `take` has said false, or when the transaction has failed.
void for_each_item(Transaction& transaction, const std::function<bool(const Item&)>& take);

// Adds what is not there yet, by the rules in maintenance.h. Errors are the transaction's.
void add_item(Transaction& transaction, const Item& item, MergeReport& report);

}  // namespace tilewright::db
