// SPDX-License-Identifier: Apache-2.0
#include "tuner/demo.h"

#include <fmt/format.h>

#include <filesystem>

#include "device_model/model.h"
#include "tuner/check_kernel.h"
#include "tuner/clock.h"
#include "tuner/compare_unscheduled.h"
#include "tuner/report.h"

namespace tilewright {
namespace {

class Demo {
 public:
  Demo(const DemoOptions& options, const TuneTools& tools)
      : options_(options),
        tools_(tools),
        builder_(tools.installation, options.folder, tools.stop) {}

  Result<DemoResult> run() {
    const std::vector<DemoItem> items = demo_items();
    for (std::size_t i = 0; i < items.size(); ++i) {
      tools_.progress.line(
          fmt::format("[{}/{}] {} on {}", i + 1, items.size(), items[i].workload, items[i].device));
      auto row = one(items[i]);
      if (!row) {
        return tl::unexpected<Error>(
            {row.error().kind,
             fmt::format("{} on {}: {}", items[i].workload, items[i].device, row.error().message)});
      }
      result_.rows.push_back(std::move(*row));
    }
    result_.compilations += builder_.built();
    return std::move(result_);
  }

 private:
  struct Layer {
    Workload workload;
    Device device;
    Schedule schedule;  // the winner
  };

  // Runs a step and adds its time to a phase.
  template <class Step>
  auto timed(const char* phase, const Step& step) {
    const Stopwatch watch;
    auto outcome = step();
    result_.seconds[phase] += watch.seconds();
    return outcome;
  }

  Result<DemoRow> one(const DemoItem& item) {
    auto workload = find_workload(item.workload, tools_.installation.workloads_dir);
    if (!workload) return pass_error(workload);
    auto device = find_device(item.device, tools_.installation);
    if (!device) return pass_error(device);
    TuneRequest request;
    request.workload = *workload;
    request.device = *device;
    request.threads = options_.threads;
    request.command_line = options_.command_line;
    auto tuned = timed("tuning", [&] { return tune(request, tools_); });
    if (!tuned) return pass_error(tuned);
    if (tuned->interrupted)
      return failure("interrupted; what was found is stored, and the next run continues from it");
    auto schedule = parse_schedule(tuned->best.trial.schedule, *workload, device->kind);
    if (!schedule) return pass_error(schedule);

    result_.evaluations += tuned->evaluations;
    result_.compilations += tuned->compilations;
    DemoRow row;
    row.item = item;
    row.tuned = std::move(*tuned);
    const Layer layer{*workload, *device, *schedule};
    row.short_schedule = short_text(*schedule, *workload, device->kind);
    row.peak_share = peak_share(layer, row.tuned.best.trial);
    if (auto done = kernel(layer, row); !done) return pass_error(done);
    compare(layer, row);
    return row;
  }

  // Multiply-adds that the schedule does in its measured time, as a share of what the machine can
  // do.
  static std::optional<double> peak_share(const Layer& layer, const TrialRecord& trial) {
    if (!trial.measured) return std::nullopt;
    const auto peak = condition_of(trial.measured->conditions, "peak_gmacs");
    const auto prediction = bound(layer.workload, layer.schedule, layer.device);
    if (!peak || *peak <= 0 || !prediction) return std::nullopt;
    return static_cast<double>(prediction->macs) / (trial.measured->min_us * 1e3) / *peak;
  }

  // The kernel's files in the folder, checked; made and checked if they were never, made again if
  // they are gone.
  Result<void> kernel(const Layer& layer, DemoRow& row) {
    const std::string name = c_identifier(fmt::format("{}_{}", row.item.workload, row.item.device));
    row.kernel = (std::filesystem::path(options_.folder) / (name + ".json")).string();
    const BestRecord& best = row.tuned.best;
    const bool known =
        best.kernel && best.kernel->name == name && best.verdict && row.tuned.served_from_db;
    if (known) {
      row.verdict = *best.verdict;
      const std::string wrong = damage(options_.folder, best.kernel->artefact_hashes);
      if (wrong.empty()) return {};
      result_.notes.push_back(fmt::format("{}: generated again", wrong));
    }
    auto manifest = timed("generating", [&] { return generate(layer, name); });
    if (!manifest) return pass_error(manifest);
    if (known && manifest->artefacts == best.kernel->artefact_hashes)
      return {};  // the very files that were checked
    return check_and_store(layer, *manifest, row);
  }

  Result<Manifest> generate(const Layer& layer, const std::string& name) {
    tools_.progress.begin("generating the kernel", 0);
    const KernelSpec spec = kernel_spec(layer.workload, layer.schedule, layer.device, name);
    const auto outcomes = builder_.build_all({&spec, 1}, 1);
    tools_.progress.end();
    if (!outcomes[0].kernel) return failure(outcomes[0].message);
    return *outcomes[0].kernel;
  }

  Result<void> check_and_store(const Layer& layer, const Manifest& manifest, DemoRow& row) {
    tools_.progress.begin("checking the kernel: full size, whole numbers, 1 and more threads", 0);
    CheckOptions check;
    check.threads = std::max<std::int64_t>(2, options_.threads);
    check.reference_cache = tools_.work_folder;
    auto report = timed("checking", [&] {
      return check_kernel(tools_.installation, manifest, layer.workload, check, tools_.stop);
    });
    tools_.progress.end();
    if (!report) return pass_error(report);
    row.verdict = report->verdict;
    const std::int64_t trial = row.tuned.best.trial.id;
    if (auto added = tools_.store.add_kernel(trial, manifest.record()); !added) return added;
    return tools_.store.add_verdict(trial, row.verdict, utc_now());
  }

  void compare(const Layer& layer, DemoRow& row) {
    const auto comparison = timed("comparing", [&] {
      return compare_with_unscheduled(layer.workload, layer.schedule, layer.device,
                                      options_.command_line, tools_);
    });
    if (!comparison) {
      result_.notes.push_back(fmt::format("{} on {}: no comparison with the unscheduled kernel: {}",
                                          row.item.workload, row.item.device,
                                          comparison.error().message));
      return;
    }
    if (!comparison->served_from_db) result_.compilations += 2;
    row.speedup = comparison->unscheduled_us / comparison->scheduled_us;
  }

  const DemoOptions& options_;
  const TuneTools& tools_;
  KernelBuilder builder_;
  DemoResult result_;
};

}  // namespace

std::vector<DemoItem> demo_items() {
  return {{"small-fp32-p2", "host"},
          {"large-fp32-p2", "host"},
          {"sincnet", "host"},
          {"small-fp16-p2", "ascend_910b4"},
          {"large-fp16-p2", "ascend_910b4"}};
}

Result<DemoResult> run_demo(const DemoOptions& options, const TuneTools& tools) {
  return Demo(options, tools).run();
}

}  // namespace tilewright
