// SPDX-License-Identifier: Apache-2.0
// The schedule database: one SQLite file. This folder holds the only SQL of the project; callers
// see records.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedules/records.h"
#include "schedules/result.h"

namespace tilewright {

enum class OpenMode {
  read_write_create,
  read_only,  // writes nothing, works on a read-only file in a read-only folder
};

enum class Comparison { equal, not_equal, less, less_equal, greater, greater_equal };

// `knob` compares with `value`; order is that of integers, so with an order the value must be one.
struct KnobCondition {
  std::string knob;
  Comparison comparison = Comparison::equal;
  std::string value;
  friend bool operator==(const KnobCondition&, const KnobCondition&) = default;
};

// Everything that is set must hold.
struct TrialFilter {
  std::optional<std::string> workload_key = {}, device_name = {}, variant = {};
  std::optional<TrialStatus> status = {};
  std::optional<std::int64_t> run_id = {};
  // Trials of runs that started then or later: ISO 8601, may be cut short.
  std::optional<std::string> since_utc = {};
  std::vector<KnobCondition> where = {};
  bool failures_only = false;  // every status but ok
  std::int64_t limit = 100;
};

struct BestFilter {
  std::optional<std::string> workload_key = {}, device_name = {}, variant = {};
  std::optional<std::string> since_utc = {};  // stored then or later
  std::int64_t limit = 100;
};

// How long a statement waits for another process's lock before it is an error.
inline constexpr std::chrono::milliseconds kLockWait{60'000};

// Not for several threads at a time; several processes (or Stores) on one file are fine.
// Errors are one line: file, statement, SQLite's words, the code's name, what to do. After an error
// nothing of the call is stored, and the Store can be used on.
class Store {
 public:
  // Opens or creates; migrates an older schema (a copy of the file is kept); refuses a newer one by
  // name. Errors name the file and what to do.
  static Result<Store> open(const std::string& path, OpenMode mode,
                            std::chrono::milliseconds lock_wait = kLockWait);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  Result<std::int64_t> begin_run(const RunRecord& run);
  Result<void> end_run(std::int64_t run_id, RunState state, const std::string& ended_utc);
  // Before trials that name it. From now on this is the current content of the device's name.
  Result<void> put_device(const DeviceRecord& device);
  // One transaction for the whole batch; all or nothing. Returns the ids in order. id, run_id and
  // number of the records are not looked at: the store numbers the trials of a run.
  Result<std::vector<std::int64_t>> add_trials(std::int64_t run_id,
                                               std::span<const TrialRecord> trials);
  // Stores the answer to a question: points at a stored trial (of this very question: it is
  // checked), with its proof; replaces an earlier answer to the same question, whatever their times
  // are. Kernel and verdict are added as they come.
  Result<std::int64_t> put_best(const Question& question, std::int64_t trial_id,
                                const ProofRecord& proof, const std::string& stored_utc);
  // Artefact names are relative paths. A kernel of the same name, target and versions is replaced.
  Result<void> add_kernel(std::int64_t trial_id, const KernelRecord& kernel);
  Result<void> add_verdict(std::int64_t trial_id, const VerdictRecord& verdict,
                           const std::string& checked_utc);

  // The stored answer to exactly this question (every field equal), with newest kernel and verdict;
  // none = a miss.
  Result<std::optional<BestRecord>> find_best(const Question& question);
  // What people ask: newest first; stale rows (device hash or model version differ from `current`)
  // carry stale_because. A device that `current` does not name is stale too; without any `current`
  // nothing is called stale.
  struct Current {
    std::string device_name, device_hash, model_version;
  };
  Result<std::vector<BestRecord>> list_best(std::span<const Current> current,
                                            const BestFilter& filter);
  Result<std::vector<BestRecord>> list_best(std::span<const Current> current, std::int64_t limit);
  // Newest first.
  Result<std::vector<TrialRecord>> list_trials(const TrialFilter& filter);
  Result<std::vector<RunRecord>> list_runs(std::int64_t limit);
  // Every content that was ever stored under each name, the current one first.
  Result<std::vector<DeviceRecord>> list_devices();
  // Canonical keys, sorted.
  Result<std::vector<std::string>> list_workloads();

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tilewright
