// SPDX-License-Identifier: Apache-2.0
// What is known about a trial that won: proof, answer, kernel, verdict.
#include <fmt/format.h>

#include <cmath>

#include "db/write_rows.h"

namespace tilewright::db {
namespace {

constexpr Sql kInsertProof{
    "insert proof",
    "INSERT INTO proofs (trial_id, strategy, grid, points, feasible_points, cut_points, "
    "simulated_points, measured_points, best_remaining_bound_us, proved_optimal, gap, tie_rule, "
    "seconds, stored_utc) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) "
    "RETURNING id"};
constexpr Sql kInsertLimit{
    "insert proof limit",
    "INSERT INTO proof_limits (proof_id, limit_name, points) VALUES (?1, ?2, ?3)"};
constexpr Sql kUpsertBest{
    "put best",
    "INSERT INTO bests (workload_id, device_hash, model_version, generator_version, "
    "variant_filter, objective, constraints, grid, host, trial_id, proof_id, stored_utc) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) "
    "ON CONFLICT (workload_id, device_hash, model_version, generator_version, variant_filter, "
    "objective, constraints, grid, host) DO UPDATE SET trial_id = excluded.trial_id, "
    "proof_id = excluded.proof_id, stored_utc = excluded.stored_utc RETURNING id"};
constexpr Sql kUpsertKernel{
    "put kernel",
    "INSERT INTO kernels (trial_id, name, target, halide_version, generator_version, stored_utc) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6) "
    "ON CONFLICT (trial_id, name, target, halide_version, generator_version) "
    "DO UPDATE SET stored_utc = excluded.stored_utc RETURNING id"};
constexpr Sql kDeleteArtefacts{"delete artefacts",
                               "DELETE FROM kernel_artefacts WHERE kernel_id = ?1"};
constexpr Sql kInsertArtefact{
    "insert artefact", "INSERT INTO kernel_artefacts (kernel_id, file, hash) VALUES (?1, ?2, ?3)"};
constexpr Sql kInsertVerdict{
    "insert verdict",
    "INSERT INTO verdicts (trial_id, verdict, worst_ratio, failures, outputs, gate, inputs, "
    "output_digest, target, message, checked_utc) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"};

std::int64_t returned_id(Query& query) {
  std::int64_t id = 0;
  while (query.step()) id = query.integer(0);
  return id;
}

}  // namespace

std::int64_t insert_proof(Transaction& transaction, std::int64_t trial_id, const ProofRecord& proof,
                          const std::string& stored_utc) {
  for (const auto& [what, value] :
       {std::pair{"best_remaining_bound_us", proof.best_remaining_bound_us},
        {"gap", proof.gap},
        {"seconds", std::optional(proof.seconds)}}) {
    if (value && !std::isfinite(*value)) {
      transaction.fail(fmt::format("{}: {} of a proof is {}: only finite figures are stored",
                                   transaction.path(), what, *value));
    }
  }
  Query insert(transaction, kInsertProof);
  insert.bind(trial_id, proof.strategy, proof.grid, proof.points, proof.feasible, proof.cut,
              proof.simulated, proof.measured, proof.best_remaining_bound_us, proof.proved_optimal,
              proof.gap, proof.tie_rule, proof.seconds, stored_utc);
  const std::int64_t id = returned_id(insert);
  Query limit(transaction, kInsertLimit);
  for (const auto& [name, points] : proof.by_limit) limit.bind(id, name, points).run();
  return id;
}

std::int64_t upsert_best(Transaction& transaction, const Question& question,
                         std::int64_t workload_id, std::int64_t trial_id, std::int64_t proof_id,
                         const std::string& stored_utc) {
  const Question& q = question;
  Query upsert(transaction, kUpsertBest);
  upsert.bind(workload_id, q.device_hash, q.model_version, q.generator_version, q.variant_filter,
              q.objective, q.constraints, q.grid, q.host, trial_id, proof_id, stored_utc);
  return returned_id(upsert);
}

void upsert_kernel(Transaction& transaction, std::int64_t trial_id, const KernelRecord& kernel,
                   const std::string& stored_utc) {
  Query upsert(transaction, kUpsertKernel);
  upsert.bind(trial_id, kernel.name, kernel.target, kernel.halide_version, kernel.generator_version,
              stored_utc);
  const std::int64_t id = returned_id(upsert);
  Query(transaction, kDeleteArtefacts).bind(id).run();
  Query insert(transaction, kInsertArtefact);
  for (const auto& [file, hash] : kernel.artefact_hashes) insert.bind(id, file, hash).run();
}

void insert_verdict(Transaction& transaction, std::int64_t trial_id, const VerdictRecord& verdict,
                    const std::string& checked_utc) {
  // A NaN becomes NULL, as the schema says.
  Query(transaction, kInsertVerdict)
      .bind(trial_id, verdict.verdict, verdict.worst_ratio, verdict.failures, verdict.outputs,
            verdict.gate, verdict.inputs, verdict.output_digest, verdict.target, verdict.message,
            checked_utc)
      .run();
}

}  // namespace tilewright::db
