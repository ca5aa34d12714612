// SPDX-License-Identifier: Apache-2.0
// The tuning loop: a question is answered from the database if the answer is there, else searched
// and stored.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "db/store.h"
#include "device_model/device.h"
#include "schedules/records.h"
#include "schedules/schedule.h"
#include "tuner/evaluate.h"
#include "tuner/installation.h"
#include "tuner/progress.h"
#include "tuner/search.h"

namespace tilewright {

struct TuneRequest {
  Workload workload;
  Device device;
  std::string strategy;                // empty: best_first with a simulator, measured_grid without
  std::string variant;                 // empty: all of the operator on this device
  std::optional<std::int64_t> budget;  // evaluations
  std::optional<double> time_limit;    // seconds
  std::int64_t threads = 1;            // of measured kernels
  std::uint64_t seed = 1;
  bool again = false;        // search even if the answer is stored
  std::string command_line;  // for the run's record
};

struct TuneResult {
  BestRecord best;
  bool served_from_db = false;
  bool interrupted = false;
  std::int64_t evaluations = 0, compilations = 0;
  double seconds = 0;
  std::optional<CheckedKernel> kernel;  // of a measured winner, in the work folder
};

// What the loop needs from outside.
struct TuneTools {
  Store& store;
  const Installation& installation;
  Progress& progress;
  std::string work_folder;  // for kernels that are measured and for references
  std::function<bool()> stop;
};

Result<TuneResult> tune(const TuneRequest& request, const TuneTools& tools);

bool is_measured(const Device& device);  // kernels run here, instead of a simulation
// The named strategy, or the default one of the device.
Result<const StrategyRow*> chosen_strategy(const TuneRequest& request);
// The question that `request` asks. generator_version and host are set where the answer is
// measured.
Result<Question> question_of(const TuneRequest& request, const Installation& installation);
// The search's view of a layer on a device: the coarse grid of the given variants.
Result<std::vector<Variant>> chosen_variants(const Workload& workload, const Device& device,
                                             const std::string& variant);
SearchProblem search_problem(const Target& target, const std::vector<Variant>& variants,
                             std::function<bool()> stop);

// A complete answer: nothing that could be better was left out for lack of time.
bool is_complete(const ProofRecord& proof);

// Without stale answers, the best first: which question each of them answered (a variant, a
// strategy, a number of threads) does not matter.
std::vector<BestRecord> fresh_best_first(std::vector<BestRecord> rows);

RunRecord new_run(const std::string& command_line, const Versions& versions, std::uint64_t seed);

}  // namespace tilewright
