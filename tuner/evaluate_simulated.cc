// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>

#include "device_model/model.h"
#include "schedules/space.h"
#include "tuner/evaluate.h"

namespace tilewright {
namespace {

class SimulatingEvaluator : public Evaluator {
 public:
  SimulatingEvaluator(const Target& target, int threads, std::function<bool()> stop)
      : target_(target), threads_(threads), stop_(std::move(stop)) {}

  std::vector<TrialRecord> evaluate(const Batch& batch) override {
    std::vector<TrialRecord> trials(batch.schedules.size());
    std::vector<char> done(trials.size(), 0);
    // Each trial depends on its schedule alone, so the result is the same for any number of
    // threads.
#pragma omp parallel for schedule(dynamic) num_threads(threads_)
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (stop_ && stop_()) continue;
      trials[i] = simulated_trial(batch.schedules[i]);
      done[i] = 1;
    }
    const auto first_missing = std::find(done.begin(), done.end(), char{0}) - done.begin();
    trials.resize(static_cast<std::size_t>(first_missing));
    return trials;
  }

  std::optional<std::int64_t> cost_of(const TrialRecord& trial) const override {
    return trial.simulated_cycles;
  }

 private:
  TrialRecord simulated_trial(const Schedule& schedule) const {
    TrialRecord trial = new_trial(target_, schedule);
    const auto prediction = simulate(target_.workload, schedule, target_.device);
    if (!prediction) {
      trial.status = TrialStatus::infeasible;
      trial.message = prediction.error().message;
      return trial;
    }
    trial.simulated_us = prediction->us;
    trial.simulated_cycles = prediction->cycles;
    return trial;
  }

  const Target target_;
  const int threads_;
  const std::function<bool()> stop_;
};

}  // namespace

std::string variant_text(const Schedule& schedule) {
  return std::string(variant_name(schedule.variant));
}

TrialRecord new_trial(const Target& target, const Schedule& schedule) {
  TrialRecord trial;
  trial.workload_key = to_key(target.workload);
  trial.device_name = target.device.name;
  trial.device_hash = target.device.hash;
  trial.model_version = kModelVersion;
  trial.constraints = target.constraints;
  trial.variant = variant_text(schedule);
  trial.schedule = to_text(schedule, target.workload, target.device.kind);
  // The text is `variant/knob:value,...`: the rows are taken from it, so that both always agree.
  std::string_view rest = std::string_view(trial.schedule).substr(trial.variant.size());
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view item = rest.substr(0, rest.find(','));
    const auto colon = item.find(':');
    if (colon != std::string_view::npos)
      trial.knobs[std::string(item.substr(0, colon))] = item.substr(colon + 1);
    rest.remove_prefix(item.size());
  }
  if (const auto prediction = bound(target.workload, schedule, target.device)) {
    trial.bound_us = prediction->us;
    trial.bound_cycles = prediction->cycles;
    trial.traffic_bytes = prediction->traffic_bytes;
  }
  return trial;
}

std::unique_ptr<Evaluator> make_simulating_evaluator(const Target& target, int threads,
                                                     std::function<bool()> stop) {
  return std::make_unique<SimulatingEvaluator>(target, threads, std::move(stop));
}

}  // namespace tilewright
