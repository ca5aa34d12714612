// SPDX-License-Identifier: Apache-2.0
#include "tuner/kernel_run.h"

#include <fmt/format.h>

#include <filesystem>

namespace tilewright {
namespace {

namespace fs = std::filesystem;

constexpr int kUsageCode = 2;  // exit code of the harness for a job that can not be

Json input_json(const HarnessInput& input) {
  if (!input.npy.empty()) return Json::object().set("npy", input.npy);
  return Json::object()
      .set("class", input.class_name)
      .set("seed", static_cast<std::int64_t>(input.seed));
}

Json job_json(const HarnessJob& job) {
  Json kernels = Json::array();
  for (const Manifest& kernel : job.kernels) {
    const std::string path = fs::absolute(fs::path(kernel.folder) / kernel.shared).string();
    kernels.push(Json::object().set("so", path).set("function", kernel.name));
  }
  Json inputs = Json::object();
  for (const HarnessInput& input : job.inputs) inputs.set(input.name, input_json(input));
  const auto path_or_null = [](const std::string& path) {
    return path.empty() ? Json() : Json(path);
  };
  return Json::object()
      .set("workload", job.workload_key)
      .set("kernels", std::move(kernels))
      .set("inputs", std::move(inputs))
      .set("check", job.check)
      .set("integer_check", job.integer_check)
      .set("reference_cache", path_or_null(job.reference_cache))
      .set("repeat", job.repeat)
      .set("warmup", job.warmup)
      .set("threads", job.threads)
      .set("peak", job.peak)
      .set("output_npy", path_or_null(job.output_npy));
}

std::string first_failure_text(const Json* failure) {
  if (!failure || !failure->members()) return "";
  std::string index;
  if (const Json* at = failure->find("index"); at && at->items()) {
    for (const Json& i : *at->items())
      index += fmt::format("{}{}", index.empty() ? "" : ",", i.integer().value_or(-1));
  }
  return fmt::format("at [{}]: got {}, expected {}, tolerance {}", index, failure->number_of("got"),
                     failure->number_of("expected"), failure->number_of("tolerance"));
}

KernelRun parse_kernel(const Json& json) {
  KernelRun run;
  run.function = json.text_of("function");
  run.status = json.text_of("status", "run_failed");
  run.message = json.text_of("message");
  if (const Json* times = json.find("times_us"); times && times->items()) {
    for (const Json& time : *times->items()) run.times_us.push_back(time.number().value_or(0));
  }
  run.min_us = json.number_of("min_us");
  run.median_us = json.number_of("median_us");
  run.worst_ratio = json.number_of("worst_ratio");
  run.failures = json.integer_of("failures");
  run.outputs = json.integer_of("outputs");
  run.digest = json.text_of("digest");
  run.first_failure = first_failure_text(json.find("first_failure"));
  return run;
}

tl::unexpected<HarnessFailure> no_result(TrialStatus status, std::string message,
                                         bool usage = false) {
  return tl::unexpected<HarnessFailure>(HarnessFailure{status, usage, std::move(message)});
}

}  // namespace

std::string HarnessInput::text() const {
  if (!npy.empty()) return fmt::format("{} {}", name, fs::path(npy).filename().string());
  return fmt::format("{} {}/{}", name, class_name, seed);
}

std::string inputs_text(const std::vector<HarnessInput>& inputs) {
  std::string text;
  for (const HarnessInput& input : inputs) text += (text.empty() ? "" : ", ") + input.text();
  return text;
}

HarnessOutcome parse_harness_result(const std::string& text) {
  auto json = parse_json(text, "output of the harness");
  if (!json) return no_result(TrialStatus::run_failed, json.error().message);
  const std::string status = json->text_of("status");
  if (status == "usage") return no_result(TrialStatus::run_failed, json->text_of("message"), true);
  const Json* kernels = json->find("kernels");
  if (!kernels || !kernels->items() || kernels->items()->empty()) {
    const std::string message = json->text_of("message", "output of the harness names no kernels");
    return no_result(TrialStatus::run_failed, message);
  }
  HarnessResult result;
  for (const Json& kernel : *kernels->items()) result.kernels.push_back(parse_kernel(kernel));
  if (const Json* reference = json->find("reference")) {
    result.reference_seconds = reference->number_of("seconds");
    result.reference_cached = reference->boolean_of("cached");
  }
  if (const Json* peak = json->find("fma_peak_gmacs")) {
    if (const Json* one = peak->find("threads_1")) result.peak_1_gmacs = one->number();
    if (const Json* all = peak->find("threads_T")) result.peak_gmacs = all->number();
  }
  result.inputs_digest = json->text_of("inputs_digest");
  return result;
}

HarnessOutcome run_harness(const Installation& installation, const HarnessJob& job,
                           const ProcessLimits& limits, const std::function<bool()>& stop) {
  auto harness = helper_path(installation, "tilewright-harness");
  if (!harness) return no_result(TrialStatus::run_failed, harness.error().message);
  ProcessCommand command;
  command.words = {*harness};
  command.input = job_json(job).dump(-1);
  command.limits = limits;
  const ProcessResult process = run_process(command, stop);
  if (process.end == ProcessEnd::timed_out) {
    return no_result(TrialStatus::timed_out, fmt::format("the kernel was {}", process.how()));
  }
  if (process.end == ProcessEnd::exited && process.code == kUsageCode) {
    // The question is wrong, not the kernel: no verdict about it.
    if (auto told = parse_harness_result(process.out); !told && told.error().usage) return told;
  }
  if (!process.ok()) {
    std::string detail = process.err.substr(0, process.err.find('\n'));
    if (!detail.empty()) detail.insert(0, ": ");
    return no_result(TrialStatus::run_failed,
                     fmt::format("the kernel's process: {}{}", process.how(), detail));
  }
  auto outcome = parse_harness_result(process.out);
  if (outcome && outcome->kernels.size() != job.kernels.size()) {
    return no_result(TrialStatus::run_failed,
                     fmt::format("the harness answered for {} kernels of {}",
                                 outcome->kernels.size(), job.kernels.size()));
  }
  return outcome;
}

std::vector<HarnessInput> seeded_inputs(const Workload& workload, const std::string& class_name,
                                        std::uint64_t seed) {
  const bool integers = class_name == "integers";
  const auto* bank = std::get_if<Conv1dBank>(&workload);
  const bool published_bank = bank && bank->symmetry == Symmetry::even_odd && bank->cin == 1 &&
                              bank->k > 1 && bank->k % 2 == 1 && !integers;
  std::vector<HarnessInput> inputs;
  for (const ArrayShape& shape : input_shapes(workload)) {
    HarnessInput input;
    input.name = shape.name;
    input.class_name = integers ? "integers" : "normal";
    if (shape.name == "x") input.class_name = class_name;
    if (shape.name == "w" && published_bank) input.class_name = "sincnet_bank";
    input.seed = seed + inputs.size();
    inputs.push_back(std::move(input));
  }
  return inputs;
}

VerdictRecord verdict_of(const KernelRun& run, const HarnessJob& job) {
  VerdictRecord verdict;
  verdict.verdict = run.status;
  verdict.worst_ratio = run.worst_ratio;
  verdict.failures = run.failures;
  verdict.outputs = run.outputs;
  const bool bank = job.workload_key.rfind("conv1d_bank/", 0) == 0;
  verdict.gate = job.integer_check ? "exact"
                 : bank            ? "1e-5 + 1e-5*|ref|"
                                   : "u_out*|ref| + 1.01*K*2^-24*sum|x*w|, and the published gate";
  verdict.inputs = inputs_text(job.inputs);
  verdict.output_digest = run.digest;
  verdict.message = run.message;
  if (!run.first_failure.empty())
    verdict.message += (verdict.message.empty() ? "" : "; ") + run.first_failure;
  return verdict;
}

TrialStatus trial_status(const KernelRun& run) {
  if (run.status == "ok") return TrialStatus::ok;
  return run.status == "mismatch" ? TrialStatus::mismatch : TrialStatus::run_failed;
}

}  // namespace tilewright
