// SPDX-License-Identifier: Apache-2.0
#include "db/items.h"

#include <utility>

namespace tilewright::db {
namespace {

constexpr Sql kDevices{"export devices",
                       "SELECT name, hash, content, stored_utc FROM devices ORDER BY name, hash"};
constexpr Sql kProofsOf{"export proofs",
                        "SELECT id FROM proofs WHERE trial_id = ?1 ORDER BY stored_utc, id"};

void for_each_device(Transaction& transaction, const std::function<bool(const Item&)>& take) {
  Query query(transaction, kDevices);
  for (query.bind(); query.step();) {
    const Dated<DeviceRecord> device{{query.text(0), query.text(1), query.text(2)}, query.text(3)};
    if (!take(device)) return;
  }
}

std::vector<AnswerItem> answers_of(Transaction& transaction, std::int64_t trial_id) {
  static const std::string text =
      std::string(kSelectBests) + "WHERE b.trial_id = ?1 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9";
  std::vector<AnswerItem> answers;
  Query query(transaction, Sql{"export answers", text.c_str()});
  for (query.bind(trial_id); query.step();) {
    BestRow row = read_best(query);
    answers.push_back({std::move(row.question), find_proof(transaction, row.proof_id),
                       std::move(row.stored_utc)});
  }
  return answers;
}

TrialItem complete_trial(Transaction& transaction, TrialRecord trial, std::string run_uid) {
  TrialItem item;
  const std::int64_t id = trial.id;
  item.run_uid = std::move(run_uid);
  item.trial = std::move(trial);
  read_knobs_and_traffic(transaction, item.trial);
  item.trial.id = item.trial.run_id = 0;
  Query proofs(transaction, kProofsOf);
  for (proofs.bind(id); proofs.step();)
    item.proofs.push_back(find_proof(transaction, proofs.integer(0)));
  item.kernels = kernels_of(transaction, id);
  item.verdicts = verdicts_of(transaction, id);
  item.answers = answers_of(transaction, id);
  return item;
}

}  // namespace

void for_each_item(Transaction& transaction, const std::function<bool(const Item&)>& take) {
  static const std::string runs_text = std::string(kSelectRuns) + "ORDER BY r.uid";
  static const std::string trials_text =
      std::string(kSelectTrials) + "WHERE t.run_id = ?1 ORDER BY t.number";
  bool more = true;
  const auto take_and_note = [&](const Item& item) { return more = take(item); };
  for_each_device(transaction, take_and_note);
  std::vector<std::pair<std::int64_t, std::string>> run_ids;
  Query runs(transaction, Sql{"export runs", runs_text.c_str()});
  for (runs.bind(); more && runs.step();) {
    RunRecord run = read_run(transaction, runs);
    run_ids.emplace_back(run.id, run.uid);
    run.id = 0;
    take_and_note(run);
  }
  Query trials(transaction, Sql{"export trials", trials_text.c_str()});
  for (const auto& [id, uid] : run_ids) {
    if (!more) return;
    for (trials.bind(id); more && trials.step();) {
      take_and_note(complete_trial(transaction, read_trial(transaction, trials), uid));
    }
  }
}

}  // namespace tilewright::db
