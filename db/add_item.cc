// SPDX-License-Identifier: Apache-2.0
// Adding one item of another database, once.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>

#include "db/answers.h"
#include "db/items.h"
#include "db/words.h"
#include "db/write_rows.h"

namespace tilewright::db {
namespace {

constexpr Sql kFindDevice{"find device",
                          "SELECT content, stored_utc FROM devices WHERE hash = ?1 AND name = ?2"};
constexpr Sql kMergeDevice{
    "merge device",
    "INSERT INTO devices (name, hash, content, stored_utc) VALUES (?1, ?2, ?3, ?4) "
    "ON CONFLICT (hash, name) DO UPDATE SET stored_utc = max(stored_utc, excluded.stored_utc)"};
constexpr Sql kFindRun{"find run",
                       "SELECT id, coalesce(ended_utc, ''), state FROM runs WHERE uid = ?1"};
constexpr Sql kFindUid{"find uid of run", "SELECT uid FROM runs WHERE id = ?1"};
constexpr Sql kFindNumber{"find trial", "SELECT id FROM trials WHERE run_id = ?1 AND number = ?2"};
constexpr Sql kFindSchedule{"find trial by schedule",
                            "SELECT id FROM trials WHERE run_id = ?1 AND schedule = ?2"};
constexpr Sql kProofsOf{"find proofs", "SELECT id FROM proofs WHERE trial_id = ?1"};
constexpr Sql kFindBest{
    "find best of question",
    "SELECT b.trial_id, b.proof_id, b.stored_utc FROM bests b WHERE b.workload_id = ?1 AND "
    "b.device_hash = ?2 AND b.model_version = ?3 AND b.generator_version = ?4 AND "
    "b.variant_filter = ?5 AND b.objective = ?6 AND b.constraints = ?7 AND b.grid = ?8 AND "
    "b.host = ?9"};

void add_device(Transaction& transaction, const Dated<DeviceRecord>& item, MergeReport& report) {
  const DeviceRecord& device = item.record;
  bool there = false;
  {
    Query find(transaction, kFindDevice);
    there = find.bind(device.hash, device.name).step();
    if (there && find.text(0) != device.content) {
      transaction.fail(fmt::format(
          "{}: device {} is stored with the same hash {} and another content: the hash is wrong",
          transaction.path(), device.name, device.hash));
    }
  }
  Query(transaction, kMergeDevice).bind(device.name, device.hash, device.content, item.utc).run();
  if (!there) ++report.devices;
}

struct FoundRun {
  std::int64_t id = 0;
  std::string ended_utc, state;
};

std::optional<FoundRun> find_run(Transaction& transaction, const std::string& uid) {
  Query find(transaction, kFindRun);
  if (!find.bind(uid).step()) return std::nullopt;
  return FoundRun{find.integer(0), find.text(1), find.text(2)};
}

// A copy that was made while the run went on does not know its end.
void add_run(Transaction& transaction, const RunRecord& run, MergeReport& report) {
  const auto found = find_run(transaction, run.uid);
  if (!found) {
    insert_run(transaction, run);
    ++report.runs;
  } else if (std::tuple(run.ended_utc, std::string(word(run.state))) >
             std::tuple(found->ended_utc, found->state)) {
    update_run_end(transaction, found->id, run.state, run.ended_utc);
  }
}

bool same_trial(Transaction& transaction, std::int64_t id, const TrialRecord& wanted) {
  TrialRecord found = find_trial(transaction, id);
  found.id = wanted.id;
  found.run_id = wanted.run_id;
  found.number = wanted.number;
  return found == wanted;
}

struct Place {
  std::optional<std::int64_t> id;  // it is there
  std::int64_t number = 0;         // else: its number in the run
};

// Usually its own number is free or holds this very trial. Where a run went on in two copies of a
// file, the number holds another trial: then this one gets a number at the end, once.
Place find_place(Transaction& transaction, std::int64_t run_id, const TrialRecord& trial) {
  {
    Query find(transaction, kFindNumber);
    if (!find.bind(run_id, trial.number).step()) return {std::nullopt, trial.number};
    if (const std::int64_t id = find.integer(0); same_trial(transaction, id, trial)) return {id, 0};
  }
  Query find(transaction, kFindSchedule);
  for (find.bind(run_id, trial.schedule); find.step();) {
    if (const std::int64_t id = find.integer(0); same_trial(transaction, id, trial)) return {id, 0};
  }
  return {std::nullopt, next_trial_number(transaction, run_id)};
}

std::int64_t add_proof(Transaction& transaction, std::int64_t trial_id,
                       const Dated<ProofRecord>& proof, MergeReport& report) {
  {
    Query query(transaction, kProofsOf);
    for (query.bind(trial_id); query.step();) {
      const Dated<ProofRecord> found = find_proof(transaction, query.integer(0));
      if (found.utc == proof.utc && found.record == proof.record) return query.integer(0);
    }
  }
  ++report.proofs;
  return insert_proof(transaction, trial_id, proof.record, proof.utc);
}

void add_kernels(Transaction& transaction, std::int64_t trial_id, const TrialItem& item,
                 MergeReport& report) {
  if (item.kernels.empty()) return;
  const auto there = kernels_of(transaction, trial_id);
  // From the oldest on, so that equal times keep their order.
  for (auto kernel = item.kernels.rbegin(); kernel != item.kernels.rend(); ++kernel) {
    const KernelRecord& k = kernel->record;
    const auto found =
        std::find_if(there.begin(), there.end(), [&](const Dated<KernelRecord>& other) {
          const KernelRecord& o = other.record;
          return o.name == k.name && o.target == k.target && o.halide_version == k.halide_version &&
                 o.generator_version == k.generator_version;
        });
    const bool newer =
        found == there.end() || std::tie(kernel->utc, k.artefact_hashes) >
                                    std::tie(found->utc, found->record.artefact_hashes);
    if (!newer) continue;
    upsert_kernel(transaction, trial_id, k, kernel->utc);
    ++report.kernels;
  }
}

// Two results that were not a number are equal here.
bool same_verdict(const Dated<VerdictRecord>& a, const Dated<VerdictRecord>& b) {
  const auto comparable = [](VerdictRecord v) {
    if (std::isnan(v.worst_ratio)) v.worst_ratio = -1;
    return v;
  };
  return a.utc == b.utc && comparable(a.record) == comparable(b.record);
}

void add_verdicts(Transaction& transaction, std::int64_t trial_id, const TrialItem& item,
                  MergeReport& report) {
  if (item.verdicts.empty()) return;
  const auto there = verdicts_of(transaction, trial_id);
  // From the oldest on, so that equal times keep their order.
  for (auto verdict = item.verdicts.rbegin(); verdict != item.verdicts.rend(); ++verdict) {
    const bool known = std::any_of(there.begin(), there.end(),
                                   [&](const auto& v) { return same_verdict(v, *verdict); });
    if (known) continue;
    insert_verdict(transaction, trial_id, verdict->record, verdict->utc);
    ++report.verdicts;
  }
}

struct FoundBest {
  std::int64_t trial_id = 0, proof_id = 0;
  std::string stored_utc;
};

std::optional<FoundBest> find_answer(Transaction& transaction, std::int64_t workload_id,
                                     const Question& q) {
  Query find(transaction, kFindBest);
  find.bind(workload_id, q.device_hash, q.model_version, q.generator_version, q.variant_filter,
            q.objective, q.constraints, q.grid, q.host);
  if (!find.step()) return std::nullopt;
  return FoundBest{find.integer(0), find.integer(1), find.text(2)};
}

// Whether the new answer takes the place of the stored one. Answers that are equal by the rule are
// told apart by their runs, so that the order of merging does not matter.
bool replaces(Transaction& transaction, const FoundBest& found, const TrialItem& item,
              const AnswerItem& answer) {
  const TrialRecord& mine = item.trial;
  const TrialRecord theirs = find_trial(transaction, found.trial_id);
  if (is_better_answer(mine, answer.stored_utc, theirs, found.stored_utc)) return true;
  if (is_better_answer(theirs, found.stored_utc, mine, answer.stored_utc)) return false;
  Query find(transaction, kFindUid);
  return find.bind(theirs.run_id).step() &&
         std::tuple(item.run_uid, mine.number) > std::tuple(find.text(0), theirs.number);
}

void add_answer(Transaction& transaction, std::int64_t trial_id, const TrialItem& item,
                const AnswerItem& answer, MergeReport& report) {
  const std::int64_t proof_id = add_proof(transaction, trial_id, answer.proof, report);
  const std::int64_t workload_id = References(transaction).workload(answer.question.workload_key);
  if (const auto found = find_answer(transaction, workload_id, answer.question)) {
    if (found->trial_id == trial_id && found->proof_id == proof_id &&
        found->stored_utc == answer.stored_utc)
      return;
    if (!replaces(transaction, *found, item, answer)) {
      ++report.bests_kept;
      return;
    }
    ++report.bests_replaced;
  } else {
    ++report.bests_added;
  }
  upsert_best(transaction, answer.question, workload_id, trial_id, proof_id, answer.stored_utc);
}

void add_trial(Transaction& transaction, const TrialItem& item, MergeReport& report) {
  const auto run = find_run(transaction, item.run_uid);
  if (!run) {
    transaction.fail(
        fmt::format("{}: a trial belongs to run {}, which is not there: its line must come before",
                    transaction.path(), item.run_uid));
    return;
  }
  const Place place = find_place(transaction, run->id, item.trial);
  std::int64_t id = 0;
  if (place.id) {
    id = *place.id;
    ++report.trials_there;
  } else {
    References references(transaction);
    id = insert_trial(transaction, references, run->id, place.number, item.trial);
    ++report.trials;
  }
  for (const Dated<ProofRecord>& proof : item.proofs) add_proof(transaction, id, proof, report);
  add_kernels(transaction, id, item, report);
  add_verdicts(transaction, id, item, report);
  for (const AnswerItem& answer : item.answers) add_answer(transaction, id, item, answer, report);
}

}  // namespace

void add_item(Transaction& transaction, const Item& item, MergeReport& report) {
  if (!transaction.ok()) return;
  if (const auto* device = std::get_if<Dated<DeviceRecord>>(&item))
    add_device(transaction, *device, report);
  if (const auto* run = std::get_if<RunRecord>(&item)) add_run(transaction, *run, report);
  if (const auto* trial = std::get_if<TrialItem>(&item)) add_trial(transaction, *trial, report);
}

}  // namespace tilewright::db
