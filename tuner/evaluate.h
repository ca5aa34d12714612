// SPDX-License-Identifier: Apache-2.0
// Evaluators turn schedules into trials: by simulation where the device has a simulator, else by
// building the kernels, checking them against the reference and timing them. A schedule that fails
// gives a trial that says why.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device_model/device.h"
#include "schedules/records.h"
#include "schedules/schedule.h"
#include "tuner/kernel_build.h"
#include "tuner/kernel_run.h"
#include "tuner/progress.h"
#include "tuner/search.h"

namespace tilewright {

// The layer and where it runs.
struct Target {
  Workload workload;
  Device device;
  std::string constraints;  // canonical text, as in the stored question
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // One trial per schedule, in order. May be fewer when `stop` said so: a prefix.
  virtual std::vector<TrialRecord> evaluate(const Batch& batch) = 0;
  // What a trial costs in the unit of the search; none if it failed.
  virtual std::optional<std::int64_t> cost_of(const TrialRecord& trial) const = 0;
};

// A trial with its names and its predicted figures filled in.
TrialRecord new_trial(const Target& target, const Schedule& schedule);
std::string variant_text(const Schedule& schedule);

std::unique_ptr<Evaluator> make_simulating_evaluator(const Target& target, int threads,
                                                     std::function<bool()> stop);

// What the measuring evaluator knows about a kernel beside its trial.
struct CheckedKernel {
  Manifest manifest;
  VerdictRecord verdict;
};

struct MeasuringOptions {
  std::int64_t threads = 1;
  std::uint64_t seed = 1;
  double kernel_seconds = 120;  // time limit of one kernel in the harness, reference not counted
  std::string reference_cache;  // folder
};

class MeasuringEvaluator : public Evaluator {
 public:
  MeasuringEvaluator(const Target& target, const Installation& installation, KernelBuilder& builder,
                     const MeasuringOptions& options, Progress& progress,
                     std::function<bool()> stop);
  std::vector<TrialRecord> evaluate(const Batch& batch) override;
  std::optional<std::int64_t> cost_of(const TrialRecord& trial) const override;
  // nullptr: this schedule was not built, or failed.
  const CheckedKernel* kernel_of(const std::string& schedule) const;

 private:
  bool stopped() const { return stop_ && stop_(); }
  void build(const Batch& batch, std::vector<TrialRecord>& trials);
  void run(std::vector<TrialRecord*> trials, std::int64_t repetitions, bool check, bool peak);
  void run_alone(const std::vector<TrialRecord*>& trials, std::int64_t repetitions, bool check,
                 bool peak);
  void take(TrialRecord& trial, const KernelRun& result, const HarnessJob& job,
            const HarnessResult& whole);

  Target target_;
  Installation installation_;
  KernelBuilder& builder_;
  MeasuringOptions options_;
  Progress& progress_;
  std::function<bool()> stop_;
  std::map<std::string, CheckedKernel> kernels_;  // by schedule text
};

// `peak_gmacs:114.7,peak_1_gmacs:58.6,interleaved:12` - conditions of a measurement as text, and
// one of them back.
std::string conditions_text(const std::map<std::string, double>& conditions);
std::optional<double> condition_of(const std::string& text, const std::string& name);

// Memory for the harness: the arrays several times over, and slack. Bytes.
ProcessLimits harness_limits(const Workload& workload, double seconds);

}  // namespace tilewright
