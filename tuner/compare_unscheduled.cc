// SPDX-License-Identifier: Apache-2.0
#include "tuner/compare_unscheduled.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedules/space.h"
#include "tuner/clock.h"

namespace tilewright {
namespace {

constexpr const char* kUnscheduled = "unscheduled";
constexpr const char* kOneThread = "threads:1";
constexpr double kSeconds = 120;

Conv2dPool cropped(const Conv2dPool& layer, const Schedule& schedule) {
  Conv2dPool piece = layer;
  piece.n = 1;
  const std::int64_t strip = std::max<std::int64_t>(schedule[Knob::rows], layer.pool);
  const std::int64_t rows =
      (strip - 1) * layer.stride_h + layer.dil_h * (layer.kh - 1) + 1 - layer.pad_t - layer.pad_b;
  piece.h = std::clamp<std::int64_t>(rows, 1, layer.h);
  return piece;
}

Conv1dBank cropped(const Conv1dBank& layer, const Schedule& schedule) {
  Conv1dBank piece = layer;
  piece.n = 1;
  const std::int64_t positions = 2 * std::max<std::int64_t>(schedule[Knob::m_tile], 128);
  const std::int64_t length =
      (positions - 1) * layer.stride + layer.dil * (layer.k - 1) + 1 - layer.pad_l - layer.pad_r;
  piece.l = std::clamp<std::int64_t>(length, 1, layer.l);
  return piece;
}

// The two newest trials of this comparison, made on this machine by one run.
std::optional<PieceTimes> stored(const TrialRecord& scheduled, const TrialRecord& unscheduled,
                                 Store& store) {
  TrialFilter filter;
  filter.workload_key = scheduled.workload_key;
  filter.device_name = scheduled.device_name;
  filter.status = TrialStatus::ok;
  const auto rows = store.list_trials(filter);
  if (!rows) return std::nullopt;
  const auto find = [&](const TrialRecord& like, std::int64_t run_id) -> const TrialRecord* {
    for (const TrialRecord& row : *rows) {
      const bool same = row.schedule == like.schedule && row.constraints == like.constraints &&
                        row.device_hash == like.device_hash && row.measured &&
                        row.measured->host == cpu_model();
      if (same && (run_id == 0 || row.run_id == run_id)) return &row;
    }
    return nullptr;
  };
  const TrialRecord* slow = find(unscheduled, 0);
  const TrialRecord* fast = slow ? find(scheduled, slow->run_id) : nullptr;
  if (!fast) return std::nullopt;
  return PieceTimes{fast->measured->min_us, slow->measured->min_us, true};
}

struct Timed {
  std::vector<KernelRun> runs;
  Versions versions;
};

Result<Timed> build_and_time(const Target& target, const Schedule& schedule,
                             const TuneTools& tools) {
  KernelBuilder builder(tools.installation, tools.work_folder, tools.stop);
  std::vector<KernelSpec> specs(
      2, kernel_spec(target.workload, schedule, target.device, "piece_scheduled"));
  specs[1].name = "piece_unscheduled";
  specs[1].unscheduled = true;
  HarnessJob job;
  job.workload_key = to_key(target.workload);
  job.inputs = seeded_inputs(target.workload, "normal", 1);
  for (const BuildOutcome& outcome : builder.build_all(specs, hardware_threads())) {
    if (!outcome.kernel) return failure(outcome.message);
    job.kernels.push_back(*outcome.kernel);
  }
  // The scheduled kernel runs once before it counts: a first run pays for memory and threads. For
  // the other one, a hundred times slower, that is nothing.
  job.kernels.insert(job.kernels.begin(), job.kernels.front());
  const auto outcome =
      run_harness(tools.installation, job, harness_limits(target.workload, kSeconds), tools.stop);
  if (!outcome) return failure(outcome.error().message);
  for (const KernelRun& run : outcome->kernels) {
    if (run.status != "ok")
      return failure(fmt::format("{}: {}: {}", run.function, run.status, run.message));
  }
  Timed timed{{outcome->kernels[1], outcome->kernels[2]}, own_versions()};
  timed.versions.halide = job.kernels.front().halide_version;
  timed.versions.generator = job.kernels.front().generator_version;
  return timed;
}

Result<void> store_pair(std::vector<TrialRecord>& trials, const Timed& timed,
                        const std::string& command_line, Store& store) {
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const KernelRun& run = timed.runs[i];
    trials[i].measured =
        Measurement{run.min_us, run.median_us, std::ssize(run.times_us),
                    1,          cpu_model(),   conditions_text({{"interleaved", 3.0}})};
  }
  auto run_id = store.begin_run(new_run(command_line, timed.versions, 1));
  if (!run_id) return pass_error(run_id);
  if (auto ids = store.add_trials(*run_id, trials); !ids) return pass_error(ids);
  return store.end_run(*run_id, RunState::finished, utc_now());
}

// A twin runs here, not on its chip: its times are the host's, and no prediction for the chip
// stands beside them.
Result<void> move_to_host(std::vector<TrialRecord>& trials, const Device& chip,
                          const TuneTools& tools) {
  const auto host = find_device("host", tools.installation);
  if (!host) return pass_error(host);
  for (TrialRecord& trial : trials) {
    trial.device_name = host->name;
    trial.device_hash = host->hash;
    trial.constraints += fmt::format(",twin:{}", chip.name);
    trial.bound_us.reset();
    trial.bound_cycles.reset();
    trial.traffic_bytes.clear();
  }
  return tools.store.put_device({host->name, host->hash, canonical_text(*host)});
}

}  // namespace

Workload cropped(const Workload& workload, const Schedule& schedule) {
  if (const auto* layer = std::get_if<Conv2dPool>(&workload)) return cropped(*layer, schedule);
  if (const auto* bank = std::get_if<Conv1dBank>(&workload)) return cropped(*bank, schedule);
  return workload;
}

Result<PieceTimes> compare_with_unscheduled(const Workload& workload, const Schedule& schedule,
                                            const Device& device, const std::string& command_line,
                                            const TuneTools& tools) {
  Target target{cropped(workload, schedule), device, kOneThread};
  const auto reasons = infeasible_reasons(target.workload, schedule, limits_of(device));
  if (!reasons.empty())
    return failure(fmt::format("the schedule does not fit the piece: {}", reasons.front().message));
  std::vector<TrialRecord> trials = {new_trial(target, schedule), new_trial(target, schedule)};
  // The second is no point of the space: its predictions would be those of the schedule.
  trials[1].constraints = fmt::format("{},{}", kOneThread, kUnscheduled);
  trials[1].bound_us.reset();
  trials[1].bound_cycles.reset();
  trials[1].traffic_bytes.clear();
  if (device.kind != DeviceKind::host) {
    if (auto moved = move_to_host(trials, device, tools); !moved) return pass_error(moved);
  }
  if (const auto known = stored(trials[0], trials[1], tools.store)) return *known;
  tools.progress.begin("comparing with the unscheduled kernel on a piece", 0);
  auto timed = build_and_time(target, schedule, tools);
  tools.progress.end();
  if (!timed) return pass_error(timed);
  if (auto done = store_pair(trials, *timed, command_line, tools.store); !done)
    return pass_error(done);
  return PieceTimes{timed->runs[0].min_us, timed->runs[1].min_us, false};
}

}  // namespace tilewright
