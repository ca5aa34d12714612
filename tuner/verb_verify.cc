// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "schedules/operators.h"
#include "tuner/check_kernel.h"
#include "tuner/clock.h"
#include "tuner/files.h"
#include "tuner/report.h"
#include "tuner/tune.h"
#include "tuner/verbs.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

Result<std::vector<Manifest>> chosen_kernels(const Arguments& arguments) {
  std::vector<Manifest> kernels;
  if (arguments.flag("--all") == arguments.flag("KERNEL"))
    return usage_error("give either a KERNEL or --all");
  if (!arguments.flag("--all")) {
    auto manifest = read_manifest(*arguments.text("KERNEL"));
    if (!manifest) return pass_error(manifest);
    kernels.push_back(std::move(*manifest));
    return kernels;
  }
  const std::string folder = arguments.text("--output").value_or("out");
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    auto manifest = read_manifest(file.string());
    if (!manifest) return pass_error(manifest);
    kernels.push_back(std::move(*manifest));
  }
  if (kernels.empty())
    return failure(fmt::format("no kernels in {}: make one with tilewright generate", folder));
  return kernels;
}

Result<CheckOptions> options_of(const Arguments& arguments) {
  CheckOptions options;
  options.npy = arguments.texts("--input");
  options.class_name = arguments.text("--class").value_or(options.class_name);
  auto seed = arguments.integer("--seed", 0);
  if (!seed) return pass_error(seed);
  auto threads = threads_argument(arguments);
  if (!threads) return pass_error(threads);
  auto seconds = arguments.number("--time-limit", 0);
  if (!seconds) return pass_error(seconds);
  options.seed = static_cast<std::uint64_t>(seed->value_or(1));
  options.threads = arguments.flag("--threads") ? *threads : std::max<std::int64_t>(2, *threads);
  options.seconds = seconds->value_or(options.seconds);
  return options;
}

// The trial that the verdict belongs to: the stored best of this schedule, else a new trial of this
// run.
Result<std::int64_t> trial_of(const Manifest& manifest, const Workload& workload, Store& store,
                              const std::string& command, const CheckReport& checked,
                              const Session& session) {
  BestFilter filter;
  filter.workload_key = manifest.workload;
  filter.device_name = manifest.device_name;
  auto rows = store.list_best({}, filter);
  if (!rows) return pass_error(rows);
  for (const BestRecord& best : *rows) {
    const TrialRecord& trial = best.trial;
    if (trial.schedule == manifest.schedule && trial.device_hash == manifest.device_hash)
      return trial.id;
  }
  auto device = find_device(manifest.device_name, session.installation);
  if (!device) return pass_error(device);
  auto schedule = parse_schedule(manifest.schedule, workload, device->kind);
  if (!schedule) return pass_error(schedule);
  Versions versions = own_versions();
  versions.halide = manifest.halide_version;
  versions.generator = manifest.generator_version;
  auto run_id = store.begin_run(new_run(command, versions, 0));
  if (!run_id) return pass_error(run_id);
  if (auto put = store.put_device({device->name, device->hash, canonical_text(*device)}); !put)
    return pass_error(put);
  TrialRecord trial = new_trial({workload, *device, "verify"}, *schedule);
  if (checked.verdict.verdict != "ok") {
    trial.status = checked.verdict.verdict == "mismatch"    ? TrialStatus::mismatch
                   : checked.verdict.verdict == "timed_out" ? TrialStatus::timed_out
                                                            : TrialStatus::run_failed;
    trial.message = checked.verdict.message;
  }
  auto ids = store.add_trials(*run_id, {&trial, 1});
  if (!ids) return pass_error(ids);
  if (auto ended = store.end_run(*run_id, RunState::finished, utc_now()); !ended)
    return pass_error(ended);
  return ids->front();
}

Json verdict_row(const Manifest& manifest, const CheckReport& checked) {
  const VerdictRecord& verdict = checked.verdict;
  return Json::object()
      .set("name", manifest.name)
      .set("workload", manifest.workload)
      .set("schedule", manifest.schedule)
      .set("verdict", verdict.verdict)
      .set("worst_ratio", std::isfinite(verdict.worst_ratio) ? Json(verdict.worst_ratio) : Json())
      .set("failures", verdict.failures)
      .set("outputs", verdict.outputs)
      .set("digest", verdict.output_digest)
      .set("gate", verdict.gate)
      .set("inputs", verdict.inputs)
      .set("message", verdict.message)
      .set("seconds", checked.seconds);
}

Result<CheckReport> check_and_store(const Manifest& manifest, const CheckOptions& options,
                                    Store& store, Session& session) {
  auto workload = parse_workload_key(manifest.workload);
  if (!workload) return pass_error(workload);
  if (const char* why = operator_of(*workload).no_kernel)
    return failure(fmt::format("{}: {}", manifest.workload, why));
  if (const std::string wrong = damage(manifest.folder, manifest.artefacts); !wrong.empty()) {
    return failure(fmt::format("{}: generate the kernel again", wrong));
  }
  auto checked = check_kernel(session.installation, manifest, *workload, options, session.stop);
  if (!checked) return pass_error(checked);
  auto trial = trial_of(manifest, *workload, store, session.command_line, *checked, session);
  if (!trial) return pass_error(trial);
  if (auto added = store.add_kernel(*trial, manifest.record()); !added) return pass_error(added);
  if (auto added = store.add_verdict(*trial, checked->verdict, utc_now()); !added)
    return pass_error(added);
  return checked;
}

Result<Report> run(const Arguments& arguments, Session& session) {
  auto kernels = chosen_kernels(arguments);
  if (!kernels) return pass_error(kernels);
  auto options = options_of(arguments);
  if (!options) return pass_error(options);
  auto store = open_store(arguments, OpenMode::read_write_create);
  if (!store) return pass_error(store);
  auto work = TemporaryFolder::make();
  if (!work) return pass_error(work);
  options->reference_cache = work->path();

  Report report;
  report.json = Json::array();
  Table table({{"kernel"},
               {"verdict"},
               {"outputs", Align::right},
               {"failures", Align::right},
               {"worst of gate", Align::right},
               {"message"}});
  session.progress.begin("verifying kernels", std::ssize(*kernels));
  for (const Manifest& manifest : *kernels) {
    auto checked = check_and_store(manifest, *options, *store, session);
    if (!checked) return pass_error(checked);
    const VerdictRecord& verdict = checked->verdict;
    report.json.push(verdict_row(manifest, *checked));
    table.row({manifest.name, verdict.verdict, std::to_string(verdict.outputs),
               std::to_string(verdict.failures), fmt::format("{:.2g}", verdict.worst_ratio),
               verdict.message});
    report.failed = report.failed || verdict.verdict != "ok";
    session.progress.at(std::ssize(*report.json.items()));
  }
  if (!arguments.flag("--all")) report.json = Json(report.json.items()->front());
  report.text = table.text();
  return report;
}

}  // namespace

Verb verify_verb() {
  return {
      {"verify",
       "Run a kernel against the direct reference in double, and store the verdict.",
       {{"KERNEL", "its manifest NAME.json, or NAME in out/", false}},
       {{"--all", nullptr, "every kernel of the folder -o"},
        {"--input", "F.npy", "inputs in the order x, w, bias instead of seeded ones", true},
        {"--class", "NAME", "of seeded x: uniform, normal, pink, speech_like, pcm16 ... (normal)"},
        {"--seed", "N", "of seeded inputs (1)"},
        {"--threads", "N", "compared with one thread (all)"},
        {"--time-limit", "S", "of each run (300)"},
        {"-o,--output", "DIR", "folder of --all (out)"},
        kDatabaseOption},
       "tilewright verify out/sincnet_host.json"},
      run};
}

}  // namespace tilewright
