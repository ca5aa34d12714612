// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "tuner/evaluate.h"
#include "tuner/files.h"
#include "tuner/installation.h"

namespace tilewright {
namespace {

// A name that is the same for the same kernel everywhere: Halide's output depends on the name too.
std::string kernel_name(const Target& target, const std::string& schedule) {
  const std::string key =
      fmt::format("{} {} {}", to_key(target.workload), schedule, target.device.hash);
  return fmt::format("{}_{}", c_identifier(operator_name(target.workload)),
                     digest_of_text(key).substr(0, 12));
}

}  // namespace

std::string conditions_text(const std::map<std::string, double>& conditions) {
  std::string text;
  for (const auto& [name, value] : conditions)
    text += fmt::format("{}{}:{:.6g}", text.empty() ? "" : ",", name, value);
  return text;
}

std::optional<double> condition_of(const std::string& text, const std::string& name) {
  const std::string key = name + ":";
  std::size_t at = 0;
  while ((at = text.find(key, at)) != std::string::npos) {
    if (at == 0 || text[at - 1] == ',') {
      double value = 0;
      const char* end = text.data() + text.size();
      if (std::from_chars(text.data() + at + key.size(), end, value).ec == std::errc())
        return value;
    }
    at += key.size();
  }
  return std::nullopt;
}

ProcessLimits harness_limits(const Workload& workload, double seconds) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : output_shape(workload).extents) elements *= extent;
  for (const ArrayShape& shape : input_shapes(workload)) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape.extents) count *= extent;
    elements += count;
  }
  ProcessLimits limits;
  limits.seconds = seconds;
  // Arrays in single and double, work copies of the kernel, and stacks and libraries of the
  // process.
  limits.memory_bytes = 64 * elements + (8LL << 30);
  return limits;
}

MeasuringEvaluator::MeasuringEvaluator(const Target& target, const Installation& installation,
                                       KernelBuilder& builder, const MeasuringOptions& options,
                                       Progress& progress, std::function<bool()> stop)
    : target_(target),
      installation_(installation),
      builder_(builder),
      options_(options),
      progress_(progress),
      stop_(std::move(stop)) {}

std::vector<TrialRecord> MeasuringEvaluator::evaluate(const Batch& batch) {
  std::vector<TrialRecord> trials;
  for (const Schedule& schedule : batch.schedules) trials.push_back(new_trial(target_, schedule));
  build(batch, trials);
  if (stopped()) return {};
  std::vector<TrialRecord*> unchecked, checked;
  for (TrialRecord& trial : trials) {
    if (trial.status != TrialStatus::ok) continue;
    (kernels_[trial.schedule].verdict.verdict.empty() ? unchecked : checked).push_back(&trial);
  }
  // What was checked before is only timed again, with more repetitions and beside the machine's
  // peak.
  if (!unchecked.empty())
    run(unchecked, batch.repetitions, true, checked.empty() && unchecked.size() == 1);
  if (!checked.empty()) run(checked, batch.repetitions, false, true);
  if (stopped()) {
    // What has no time was stopped, not wrong.
    const auto missing = std::find_if(trials.begin(), trials.end(),
                                      [](const TrialRecord& trial) { return !trial.measured; });
    trials.erase(missing, trials.end());
  }
  return trials;
}

std::optional<std::int64_t> MeasuringEvaluator::cost_of(const TrialRecord& trial) const {
  if (trial.status != TrialStatus::ok || !trial.measured) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(1e3 * trial.measured->min_us));
}

const CheckedKernel* MeasuringEvaluator::kernel_of(const std::string& schedule) const {
  const auto found = kernels_.find(schedule);
  return found == kernels_.end() ? nullptr : &found->second;
}

void MeasuringEvaluator::build(const Batch& batch, std::vector<TrialRecord>& trials) {
  std::vector<KernelSpec> specs;
  std::vector<TrialRecord*> of_spec;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (kernels_.count(trials[i].schedule) > 0) continue;
    specs.push_back(kernel_spec(target_.workload, batch.schedules[i], target_.device,
                                kernel_name(target_, trials[i].schedule)));
    of_spec.push_back(&trials[i]);
  }
  if (specs.empty()) return;
  progress_.begin("building kernels", std::ssize(specs));
  const auto outcomes =
      builder_.build_all(specs, hardware_threads(), [&](std::int64_t done) { progress_.at(done); });
  progress_.end();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    of_spec[i]->status = outcomes[i].status;
    of_spec[i]->message = outcomes[i].message;
    if (outcomes[i].kernel) kernels_[of_spec[i]->schedule].manifest = *outcomes[i].kernel;
  }
}

void MeasuringEvaluator::run(std::vector<TrialRecord*> trials, std::int64_t repetitions, bool check,
                             bool peak) {
  HarnessJob job;
  job.workload_key = to_key(target_.workload);
  job.inputs = seeded_inputs(target_.workload, "normal", options_.seed);
  job.check = check;
  job.repeat = repetitions;
  job.warmup = 1;
  job.threads = options_.threads;
  job.peak = peak;
  job.reference_cache = options_.reference_cache;
  for (const TrialRecord* trial : trials) job.kernels.push_back(kernels_[trial->schedule].manifest);
  const double seconds =
      options_.kernel_seconds * static_cast<double>(1 + std::min<std::size_t>(trials.size(), 8));
  progress_.begin(check ? "checking and timing kernels" : "timing the fastest again",
                  std::ssize(trials));
  const auto outcome =
      run_harness(installation_, job, harness_limits(target_.workload, seconds), stop_);
  progress_.end();
  if (outcome) {
    for (std::size_t i = 0; i < trials.size(); ++i)
      take(*trials[i], outcome->kernels[i], job, *outcome);
  } else if (trials.size() > 1 && !(stopped())) {
    run_alone(trials, repetitions, check, peak);  // one of them took all with it: find out which
  } else {
    trials.front()->status = outcome.error().status;
    trials.front()->message = outcome.error().message;
  }
}

void MeasuringEvaluator::run_alone(const std::vector<TrialRecord*>& trials,
                                   std::int64_t repetitions, bool check, bool peak) {
  std::vector<TrialRecord*> good;
  for (TrialRecord* trial : trials) {
    if (stopped()) return;
    run({trial}, 1, check, false);
    if (trial->status == TrialStatus::ok) good.push_back(trial);
  }
  if (good.size() > 1 && good.size() < trials.size())
    run(good, repetitions, false, peak);  // interleaved again
}

void MeasuringEvaluator::take(TrialRecord& trial, const KernelRun& result, const HarnessJob& job,
                              const HarnessResult& whole) {
  trial.status = trial_status(result);
  trial.message = result.message;
  CheckedKernel& kernel = kernels_[trial.schedule];
  if (job.check) {
    kernel.verdict = verdict_of(result, job);
    kernel.verdict.target = kernel.manifest.target;
    if (trial.status != TrialStatus::ok) trial.message = kernel.verdict.message;
  }
  if (trial.status != TrialStatus::ok) return;
  Measurement measured;
  measured.min_us = result.min_us;
  measured.median_us = result.median_us;
  measured.repetitions = std::ssize(result.times_us);
  measured.threads = job.threads;
  measured.host = cpu_model();
  std::map<std::string, double> conditions = {
      {"interleaved", static_cast<double>(job.kernels.size())}};
  if (whole.peak_1_gmacs) conditions["peak_1_gmacs"] = *whole.peak_1_gmacs;
  if (whole.peak_gmacs) conditions["peak_gmacs"] = *whole.peak_gmacs;
  measured.conditions = conditions_text(conditions);
  trial.measured = measured;
}

}  // namespace tilewright
