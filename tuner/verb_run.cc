// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tuner/check_kernel.h"
#include "tuner/evaluate.h"
#include "tuner/report.h"
#include "tuner/verbs.h"

namespace tilewright {
namespace {

Result<Report> run(const Arguments& arguments, Session& session) {
  auto manifest = read_manifest(*arguments.text("KERNEL"));
  if (!manifest) return pass_error(manifest);
  auto workload = parse_workload_key(manifest->workload);
  if (!workload) return pass_error(workload);
  auto threads = threads_argument(arguments);
  if (!threads) return pass_error(threads);
  auto seconds = arguments.number("--time-limit", 0);
  if (!seconds) return pass_error(seconds);
  const auto output = arguments.text("--output");
  if (!output || output->empty()) return usage_error("--output is missing: where the result goes");
  auto inputs = file_inputs(*workload, arguments.texts("--input"));
  if (!inputs) return pass_error(inputs);

  HarnessJob job;
  job.workload_key = manifest->workload;
  job.kernels = {*manifest};
  job.inputs = std::move(*inputs);
  job.check = false;
  job.threads = *threads;
  job.output_npy = *output;
  const auto outcome = run_harness(session.installation, job,
                                   harness_limits(*workload, seconds->value_or(300)), session.stop);
  if (!outcome && outcome.error().usage) return usage_error(outcome.error().message);
  if (!outcome)
    return failure(
        fmt::format("{}: {}", status_name(outcome.error().status), outcome.error().message));
  const KernelRun& result = outcome->kernels.front();
  if (result.status != "ok") return failure(fmt::format("{}: {}", result.status, result.message));
  Report report;
  report.json = Json::object()
                    .set("kernel", manifest->name)
                    .set("output", *output)
                    .set("seconds", result.min_us / 1e6)
                    .set("digest", result.digest);
  report.text = fmt::format("{} written in {} with {} threads, digest {}\n", *output,
                            us_text(result.min_us), job.threads, result.digest);
  return report;
}

}  // namespace

Verb run_verb() {
  return {{"run",
           "Run a generated kernel on .npy files.",
           {{"KERNEL", "its manifest NAME.json, or NAME in out/"}},
           {{"--input", "F.npy", "inputs in the order of the header: x, w, bias", true},
            {"-o,--output", "F.npy", "where the result goes"},
            {"--threads", "N", "(all)"},
            {"--time-limit", "S", "(300)"}},
           "tilewright run out/sincnet_host.json --input x.npy --input w.npy --input bias.npy "
           "--output y.npy"},
          run};
}

}  // namespace tilewright
