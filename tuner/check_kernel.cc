// SPDX-License-Identifier: Apache-2.0
#include "tuner/check_kernel.h"

#include <fmt/format.h>

#include "generators/npy.h"
#include "tuner/clock.h"
#include "tuner/evaluate.h"

namespace tilewright {
namespace {

constexpr const char* kTimedOut = "timed_out";
constexpr const char* kRunFailed = "run_failed";

class Check {
 public:
  Check(const Installation& installation, const Manifest& manifest, const Workload& workload,
        const CheckOptions& options, const std::function<bool()>& stop)
      : installation_(installation),
        manifest_(manifest),
        workload_(workload),
        options_(options),
        stop_(stop) {}

  Result<CheckReport> run() {
    const Stopwatch watch;
    CheckReport report;
    auto inputs = options_.npy.empty()
                      ? seeded_inputs(workload_, options_.class_name, options_.seed)
                      : file_inputs(workload_, options_.npy);
    if (!inputs) return pass_error(inputs);
    if (auto done = against_reference(*inputs, report.verdict); !done) return pass_error(done);
    if (report.verdict.verdict == "ok") same_with_one_thread(*inputs, report.verdict);
    if (report.verdict.verdict == "ok") whole_numbers(report.verdict);
    if (stop_ && stop_()) return failure("interrupted while checking a kernel");
    report.verdict.target = manifest_.target;
    report.seconds = watch.seconds();
    return report;
  }

 private:
  HarnessJob new_job(std::vector<HarnessInput> inputs, std::int64_t threads) const {
    HarnessJob job;
    job.workload_key = manifest_.workload;
    job.kernels = {manifest_};
    job.inputs = std::move(inputs);
    job.threads = threads;
    job.reference_cache = options_.reference_cache;
    return job;
  }

  HarnessOutcome run(const HarnessJob& job) const {
    return run_harness(installation_, job, harness_limits(workload_, options_.seconds), stop_);
  }

  static void fail(VerdictRecord& verdict, const std::string& what, const HarnessFailure& failure) {
    verdict.verdict = failure.status == TrialStatus::timed_out ? kTimedOut : kRunFailed;
    verdict.message = fmt::format("{}: {}", what, failure.message);
  }

  // Twice in one process, so that two runs can be compared bit by bit.
  Result<void> against_reference(const std::vector<HarnessInput>& inputs,
                                 VerdictRecord& verdict) const {
    HarnessJob job = new_job(inputs, options_.threads);
    job.kernels.push_back(manifest_);
    const auto outcome = run(job);
    if (!outcome && outcome.error().usage) return usage_error(outcome.error().message);
    if (!outcome) {
      fail(verdict, "against the reference", outcome.error());
      return {};
    }
    verdict = verdict_of(outcome->kernels[0], job);
    const KernelRun& again = outcome->kernels[1];
    if (verdict.verdict == "ok" && again.status != "ok") verdict = verdict_of(again, job);
    if (verdict.verdict == "ok" && again.digest != verdict.output_digest) {
      verdict.verdict = "mismatch";
      verdict.message = "two runs on the same data gave different bits";
    }
    return {};
  }

  void same_with_one_thread(const std::vector<HarnessInput>& inputs, VerdictRecord& verdict) const {
    if (options_.threads == 1) return;
    HarnessJob job = new_job(inputs, 1);
    job.check = false;
    const auto outcome = run(job);
    if (!outcome) return fail(verdict, "with one thread", outcome.error());
    if (outcome->kernels[0].digest == verdict.output_digest) return;
    verdict.verdict = "mismatch";
    verdict.message = fmt::format("1 and {} threads gave different bits", options_.threads);
  }

  void whole_numbers(VerdictRecord& verdict) const {
    HarnessJob job = new_job(seeded_inputs(workload_, "integers", options_.seed), options_.threads);
    job.integer_check = true;
    const auto outcome = run(job);
    if (!outcome) return fail(verdict, "whole numbers", outcome.error());
    const KernelRun& result = outcome->kernels[0];
    if (result.status != "ok") {
      const VerdictRecord exact = verdict_of(result, job);
      verdict.verdict = exact.verdict;
      verdict.failures = exact.failures;
      verdict.message = fmt::format("whole numbers are not exact: {}", exact.message);
      return;
    }
    verdict.message = fmt::format(
        "whole numbers exact; same bits for repeated runs and 1..{} threads", options_.threads);
  }

  const Installation& installation_;
  const Manifest& manifest_;
  const Workload& workload_;
  const CheckOptions& options_;
  const std::function<bool()>& stop_;
};

}  // namespace

Result<std::vector<HarnessInput>> file_inputs(const Workload& workload,
                                              const std::vector<std::string>& npy) {
  const std::vector<ArrayShape> shapes = input_shapes(workload);
  if (npy.size() != shapes.size()) {
    std::string names;
    for (const ArrayShape& shape : shapes) {
      names += fmt::format("{}{}: {}", names.empty() ? "" : ", ", shape.name,
                           describe_array(dtype_of(workload), shape.extents));
    }
    return usage_error(fmt::format("{} input files given, the kernel takes {} ({})", npy.size(),
                                   shapes.size(), names));
  }
  std::vector<HarnessInput> inputs;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    // Read here too, so that a wrong file is told before any process starts.
    auto array = read_npy(npy[i], dtype_of(workload), shapes[i].extents);
    if (!array) return usage_error(array.error().message);
    HarnessInput input;
    input.name = shapes[i].name;
    input.npy = npy[i];
    inputs.push_back(std::move(input));
  }
  return inputs;
}

Result<CheckReport> check_kernel(const Installation& installation, const Manifest& manifest,
                                 const Workload& workload, const CheckOptions& options,
                                 const std::function<bool()>& stop) {
  return Check(installation, manifest, workload, options, stop).run();
}

}  // namespace tilewright
