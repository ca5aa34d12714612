// SPDX-License-Identifier: Apache-2.0
// The schedule database: one SQLite file. This folder holds the only SQL of the project; callers see records.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedules/records.h"
#include "schedules/result.h"

namespace tilewright {

enum class OpenMode { read_write_create, read_only };

struct TrialFilter {
  std::optional<std::string> workload_key, device_name, variant;
  std::optional<TrialStatus> status;
  std::int64_t limit = 100;
};

class Store {
 public:
  // Opens or creates; migrates an older schema; refuses a newer one by name. Errors name the file and what to do.
  static Result<Store> open(const std::string& path, OpenMode mode);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  Result<std::int64_t> begin_run(const RunRecord& run);
  Result<void> end_run(std::int64_t run_id, RunState state, const std::string& ended_utc);
  Result<void> put_device(const DeviceRecord& device);
  // One transaction for the whole batch; all or nothing. Returns the ids in order.
  Result<std::vector<std::int64_t>> add_trials(std::int64_t run_id, std::span<const TrialRecord> trials);
  // Stores the answer to a question: points at a stored trial, with its proof; replaces an earlier answer to the same
  // question. Kernel and verdict are added as they come.
  Result<std::int64_t> put_best(const Question& question, std::int64_t trial_id, const ProofRecord& proof,
                                const std::string& stored_utc);
  Result<void> add_kernel(std::int64_t trial_id, const KernelRecord& kernel);
  Result<void> add_verdict(std::int64_t trial_id, const VerdictRecord& verdict, const std::string& checked_utc);

  // The stored answer to exactly this question (every field equal), with newest kernel and verdict; none = a miss.
  Result<std::optional<BestRecord>> find_best(const Question& question);
  // What people ask: newest first; stale rows (device hash or model version differ from `current`) carry stale_because.
  struct Current {
    std::string device_name, device_hash, model_version;
  };
  Result<std::vector<BestRecord>> list_best(std::span<const Current> current, std::int64_t limit);
  Result<std::vector<TrialRecord>> list_trials(const TrialFilter& filter);
  Result<std::vector<RunRecord>> list_runs(std::int64_t limit);

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tilewright
