// SPDX-License-Identifier: Apache-2.0
#include "db/read_rows.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "db/words.h"

namespace tilewright::db {

const char* const kSelectTrials =
    "SELECT t.id, t.run_id, t.number, w.workload_key, d.name, d.hash, t.model_version, "
    "t.objective, t.constraints, "
    "t.variant, t.schedule, t.status, t.bound_cycles, t.bound_us, t.simulated_cycles, "
    "t.simulated_us, t.message, "
    "t.measured_min_us, t.measured_median_us, t.measured_repetitions, t.measured_threads, "
    "t.measured_host, "
    "t.measured_conditions FROM trials t JOIN workloads w ON w.id = t.workload_id JOIN devices d "
    "ON d.id = t.device_id ";

const char* const kSelectRuns =
    "SELECT r.id, r.uid, r.tool_version, r.model_version, r.generator_version, r.halide_version, "
    "r.git_revision, "
    "r.command_line, r.seed, r.host, r.started_utc, coalesce(r.ended_utc, ''), r.state FROM runs "
    "r ";

const char* const kSelectBests =
    "SELECT w.workload_key, b.device_hash, b.model_version, b.generator_version, b.variant_filter, "
    "b.objective, "
    "b.constraints, b.grid, b.host, b.trial_id, b.proof_id, b.stored_utc FROM bests b "
    "JOIN workloads w ON w.id = b.workload_id ";

namespace {

constexpr Sql kKnobs{"read knobs", "SELECT knob, value FROM trial_knobs WHERE trial_id = ?1"};
constexpr Sql kTraffic{"read traffic", "SELECT path, bytes FROM trial_traffic WHERE trial_id = ?1"};
constexpr Sql kProof{
    "read proof",
    "SELECT strategy, grid, points, feasible_points, cut_points, simulated_points, "
    "measured_points, "
    "best_remaining_bound_us, proved_optimal, gap, tie_rule, seconds, stored_utc FROM proofs "
    "WHERE id = ?1"};
constexpr Sql kLimits{"read proof limits",
                      "SELECT limit_name, points FROM proof_limits WHERE proof_id = ?1"};
constexpr Sql kKernels{
    "read kernels",
    "SELECT id, name, target, halide_version, generator_version, stored_utc FROM kernels "
    "WHERE trial_id = ?1 ORDER BY stored_utc DESC, id DESC"};
constexpr Sql kArtefacts{"read artefacts",
                         "SELECT file, hash FROM kernel_artefacts WHERE kernel_id = ?1"};
constexpr Sql kVerdicts{
    "read verdicts",
    "SELECT verdict, worst_ratio, failures, outputs, gate, inputs, output_digest, target, message, "
    "checked_utc FROM verdicts WHERE trial_id = ?1 ORDER BY checked_utc DESC, id DESC"};

}  // namespace

TrialRecord read_trial(Transaction& transaction, const Query& query) {
  TrialRecord t;
  t.id = query.integer(0);
  t.run_id = query.integer(1);
  t.number = query.integer(2);
  t.workload_key = query.text(3);
  t.device_name = query.text(4);
  t.device_hash = query.text(5);
  t.model_version = query.text(6);
  t.objective = query.text(7);
  t.constraints = query.text(8);
  t.variant = query.text(9);
  t.schedule = query.text(10);
  if (const auto status = find_trial_status(query.text(11))) {
    t.status = *status;
  } else {
    transaction.fail(fmt::format("{}: trial {} has the unknown status {}: the row is damaged",
                                 transaction.path(), t.id, query.text(11)));
  }
  t.bound_cycles = query.optional_integer(12);
  t.bound_us = query.optional_real(13);
  t.simulated_cycles = query.optional_integer(14);
  t.simulated_us = query.optional_real(15);
  t.message = query.text(16);
  if (!query.is_null(17)) {
    t.measured = Measurement{.min_us = query.real(17),
                             .median_us = query.real(18),
                             .repetitions = query.integer(19),
                             .threads = query.integer(20),
                             .host = query.text(21),
                             .conditions = query.text(22)};
  }
  return t;
}

void read_knobs_and_traffic(Transaction& transaction, TrialRecord& trial) {
  Query knobs(transaction, kKnobs);
  for (knobs.bind(trial.id); knobs.step();) trial.knobs.emplace(knobs.text(0), knobs.text(1));
  Query traffic(transaction, kTraffic);
  for (traffic.bind(trial.id); traffic.step();)
    trial.traffic_bytes.emplace(traffic.text(0), traffic.integer(1));
}

TrialRecord find_trial(Transaction& transaction, std::int64_t id) {
  static const std::string text = std::string(kSelectTrials) + "WHERE t.id = ?1";
  TrialRecord trial;
  Query query(transaction, Sql{"read trial", text.c_str()});
  if (query.bind(id).step()) {
    trial = read_trial(transaction, query);
    read_knobs_and_traffic(transaction, trial);
  } else {
    transaction.fail(
        fmt::format("{}: there is no trial {}: add_trials() comes first", transaction.path(), id));
  }
  return trial;
}

RunRecord read_run(Transaction& transaction, const Query& query) {
  RunRecord run;
  run.id = query.integer(0);
  run.uid = query.text(1);
  run.versions = {query.text(2), query.text(3), query.text(4), query.text(5), query.text(6)};
  run.command_line = query.text(7);
  const std::string seed = query.text(8);
  std::from_chars(seed.data(), seed.data() + seed.size(), run.seed);
  run.host = query.text(9);
  run.started_utc = query.text(10);
  run.ended_utc = query.text(11);
  if (const auto state = find_run_state(query.text(12))) {
    run.state = *state;
  } else {
    transaction.fail(fmt::format("{}: run {} has the unknown state {}: the row is damaged",
                                 transaction.path(), run.id, query.text(12)));
  }
  return run;
}

BestRow read_best(const Query& query) {
  BestRow row;
  row.question = {.workload_key = query.text(0),
                  .device_hash = query.text(1),
                  .model_version = query.text(2),
                  .generator_version = query.text(3),
                  .variant_filter = query.text(4),
                  .objective = query.text(5),
                  .constraints = query.text(6),
                  .grid = query.text(7),
                  .host = query.text(8)};
  row.trial_id = query.integer(9);
  row.proof_id = query.integer(10);
  row.stored_utc = query.text(11);
  return row;
}

BestRecord complete_best(Transaction& transaction, BestRow row) {
  BestRecord best;
  best.trial = find_trial(transaction, row.trial_id);
  best.proof = find_proof(transaction, row.proof_id).record;
  if (auto kernels = kernels_of(transaction, row.trial_id); !kernels.empty()) {
    best.kernel = std::move(kernels.front().record);
  }
  if (auto verdicts = verdicts_of(transaction, row.trial_id); !verdicts.empty()) {
    best.verdict = std::move(verdicts.front().record);
  }
  best.question = std::move(row.question);
  best.stored_utc = std::move(row.stored_utc);
  return best;
}

Dated<ProofRecord> find_proof(Transaction& transaction, std::int64_t proof_id) {
  Dated<ProofRecord> found;
  ProofRecord& proof = found.record;
  Query query(transaction, kProof);
  if (!query.bind(proof_id).step()) {
    transaction.fail(
        fmt::format("{}: there is no proof {}: the row is damaged", transaction.path(), proof_id));
    return found;
  }
  proof.strategy = query.text(0);
  proof.grid = query.text(1);
  proof.points = query.integer(2);
  proof.feasible = query.integer(3);
  proof.cut = query.integer(4);
  proof.simulated = query.integer(5);
  proof.measured = query.integer(6);
  proof.best_remaining_bound_us = query.optional_real(7);
  proof.proved_optimal = query.integer(8) != 0;
  proof.gap = query.optional_real(9);
  proof.tie_rule = query.text(10);
  proof.seconds = query.real(11);
  found.utc = query.text(12);
  Query limits(transaction, kLimits);
  for (limits.bind(proof_id); limits.step();)
    proof.by_limit.emplace(limits.text(0), limits.integer(1));
  return found;
}

std::vector<Dated<KernelRecord>> kernels_of(Transaction& transaction, std::int64_t trial_id) {
  std::vector<Dated<KernelRecord>> found;
  Query query(transaction, kKernels);
  Query artefacts(transaction, kArtefacts);
  for (query.bind(trial_id); query.step();) {
    KernelRecord kernel{query.text(1), query.text(2), query.text(3), query.text(4), {}};
    for (artefacts.bind(query.integer(0)); artefacts.step();) {
      kernel.artefact_hashes.emplace(artefacts.text(0), artefacts.text(1));
    }
    found.push_back({std::move(kernel), query.text(5)});
  }
  return found;
}

std::vector<Dated<VerdictRecord>> verdicts_of(Transaction& transaction, std::int64_t trial_id) {
  std::vector<Dated<VerdictRecord>> found;
  Query query(transaction, kVerdicts);
  for (query.bind(trial_id); query.step();) {
    VerdictRecord v;
    v.verdict = query.text(0);
    v.worst_ratio = query.optional_real(1).value_or(std::numeric_limits<double>::quiet_NaN());
    v.failures = query.integer(2);
    v.outputs = query.integer(3);
    v.gate = query.text(4);
    v.inputs = query.text(5);
    v.output_digest = query.text(6);
    v.target = query.text(7);
    v.message = query.text(8);
    found.push_back({std::move(v), query.text(9)});
  }
  return found;
}

}  // namespace tilewright::db
