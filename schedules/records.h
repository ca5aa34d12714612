// SPDX-License-Identifier: Apache-2.0
// What is stored: plain structs, no SQL. Predicted (bound), simulated and measured figures never
// share a field.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

struct Versions {
  std::string tool, model, generator, halide, git_revision;
  friend bool operator==(const Versions&, const Versions&) = default;
};

struct DeviceRecord {
  std::string name;
  std::string hash;     // XXH3-128 of the canonical content
  std::string content;  // canonical text
  friend bool operator==(const DeviceRecord&, const DeviceRecord&) = default;
};

enum class RunState { running, finished, interrupted, failed };
struct RunRecord {
  std::int64_t id = 0;  // 0 until stored
  std::string uid;  // 32 hex digits, the same in every copy of the row; empty: the store draws one
  Versions versions;
  std::string command_line;  // arguments only, no absolute paths
  std::uint64_t seed = 0;
  std::string host;                    // machine and CPU model
  std::string started_utc, ended_utc;  // ISO 8601, Z
  RunState state = RunState::running;
  friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

enum class TrialStatus { ok, infeasible, build_failed, run_failed, mismatch, timed_out };

struct Measurement {
  double min_us = 0, median_us = 0;
  std::int64_t repetitions = 0;
  std::int64_t threads = 0;
  std::string host;        // CPU model
  std::string conditions;  // interleaved with how many, reference kernel's drift ...
  friend bool operator==(const Measurement&, const Measurement&) = default;
};

struct TrialRecord {
  std::int64_t id = 0, run_id = 0;
  std::int64_t number = 0;  // 1, 2 ... within its run; the store counts
  std::string workload_key, device_name, device_hash, model_version;
  std::string objective = "time", constraints;  // constraints: canonical text, empty if none
  std::string variant, schedule;                // canonical text
  std::map<std::string, std::string> knobs;     // the same schedule as rows
  TrialStatus status = TrialStatus::ok;
  std::optional<double> bound_us, simulated_us;
  std::optional<std::int64_t> bound_cycles, simulated_cycles;
  std::map<std::string, std::int64_t> traffic_bytes;  // path -> bytes over the chip
  std::optional<Measurement> measured;
  std::string message;  // why not ok: limit and numbers, compiler output, first mismatch
  friend bool operator==(const TrialRecord&, const TrialRecord&) = default;
};

// How a best was found, and how far the claim reaches.
struct ProofRecord {
  std::string strategy;  // best_first, measured_grid ...
  std::string grid;      // coarse ...
  std::int64_t points = 0, feasible = 0, cut = 0, simulated = 0, measured = 0;
  std::map<std::string, std::int64_t> by_limit;
  std::optional<double> best_remaining_bound_us;  // none: nothing is left
  bool proved_optimal = false;                    // of this grid, in this model
  std::optional<double> gap;  // (best - best remaining bound) / best, 0 if proved
  std::string tie_rule;
  double seconds = 0;
  friend bool operator==(const ProofRecord&, const ProofRecord&) = default;
};

struct VerdictRecord {
  std::string verdict;     // ok, mismatch, run_failed ...
  double worst_ratio = 0;  // NaN: an output was not a number
  std::int64_t failures = 0, outputs = 0;
  std::string gate;           // the tolerance, as text
  std::string inputs;         // class and seed, or digests of files
  std::string output_digest;  // XXH3-128 of the output bytes
  std::string target;         // Halide target
  std::string message;
  friend bool operator==(const VerdictRecord&, const VerdictRecord&) = default;
};

struct KernelRecord {
  std::string name, target, halide_version, generator_version;
  std::map<std::string, std::string> artefact_hashes;  // file name (relative) -> XXH3-128
  friend bool operator==(const KernelRecord&, const KernelRecord&) = default;
};

// A question whose answer is a stored best: only the same question is served from the database.
struct Question {
  std::string workload_key, device_hash, model_version, generator_version, variant_filter,
      objective = "time", constraints, grid;
  std::string host;  // CPU model for measured objectives, empty for simulated ones
  friend bool operator==(const Question&, const Question&) = default;
};

struct BestRecord {
  Question question;
  TrialRecord trial;
  ProofRecord proof;
  std::optional<KernelRecord> kernel;
  std::optional<VerdictRecord> verdict;
  std::string stored_utc;
  std::string stale_because;  // empty = fresh; set by queries that show stale rows
  friend bool operator==(const BestRecord&, const BestRecord&) = default;
};

}  // namespace tilewright
