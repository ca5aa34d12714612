// SPDX-License-Identifier: Apache-2.0
#include "tuner/kernel_build.h"

#include <fmt/format.h>
#include <omp.h>

#include <atomic>
#include <cctype>
#include <filesystem>

#include "schedules/operators.h"
#include "schedules/variants.h"
#include "tuner/clock.h"
#include "tuner/files.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

// The line of a child's stderr that says most: the first that names an error, else the last one.
std::string telling_line(const std::string& text) {
  std::string last;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.find("error") != std::string::npos) return line;
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  }
  return last;
}

BuildOutcome failed(const std::string& step, const ProcessResult& process) {
  BuildOutcome outcome;
  outcome.status =
      process.end == ProcessEnd::timed_out ? TrialStatus::timed_out : TrialStatus::build_failed;
  const std::string detail = telling_line(process.err);
  outcome.message =
      fmt::format("{}: {}{}{}", step, process.how(), detail.empty() ? "" : ": ", detail);
  return outcome;
}

BuildOutcome failed(const std::string& message) {
  BuildOutcome outcome;
  outcome.status = TrialStatus::build_failed;
  outcome.message = message;
  return outcome;
}

std::string emitter_name(const Workload& workload) {
  return fmt::format("tilewright-emit-{}", operator_name(workload));
}

}  // namespace

KernelSpec kernel_spec(const Workload& workload, const Schedule& schedule, const Device& device,
                       std::string name) {
  const Limits limits = limits_of(device);
  KernelSpec spec;
  spec.workload = workload;
  spec.schedule = schedule;
  spec.kind = device.kind;
  spec.device_name = device.name;
  spec.device_hash = device.hash;
  spec.cube_cores = limits.cube_cores;
  spec.vector_cores = limits.vector_cores;
  spec.name = std::move(name);
  return spec;
}

KernelBuilder::KernelBuilder(Installation installation, std::string folder,
                             std::function<bool()> stop)
    : installation_(std::move(installation)), folder_(std::move(folder)), stop_(std::move(stop)) {}

BuildOutcome KernelBuilder::emit(const KernelSpec& spec, const std::string& emitter,
                                 Json& emitted) {
  ProcessCommand command;
  command.words = {emitter,
                   "--workload",
                   to_key(spec.workload),
                   "--schedule",
                   to_text(spec.schedule, spec.workload, spec.kind),
                   "--kind",
                   std::string(kind_name(spec.kind)),
                   "--target",
                   spec.target,
                   "--name",
                   spec.name,
                   "-o",
                   folder_};
  if (spec.kind == DeviceKind::npu) {
    command.words.insert(command.words.end(),
                         {"--cube-cores", std::to_string(spec.cube_cores), "--vector-cores",
                          std::to_string(spec.vector_cores)});
  }
  if (spec.unscheduled) command.words.emplace_back("--unscheduled");
  command.limits = emit_limits;
  const ProcessResult process = run_process(command, stop_);
  if (!process.ok()) return failed("emitter", process);
  auto json = parse_json(process.out, "output of the emitter");
  if (!json) return failed(json.error().message);
  emitted = std::move(*json);
  if (emitted.text_of("target").empty()) return failed("output of the emitter names no target");
  return {};
}

Result<std::string> KernelBuilder::runtime_for(const std::string& emitter,
                                               const std::string& target) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = runtimes_.find(target); found != runtimes_.end()) return found->second;
  ProcessCommand command;
  command.words = {emitter, "--runtime", "--target", target, "-o", folder_};
  command.limits = emit_limits;
  const ProcessResult process = run_process(command, stop_);
  if (!process.ok()) return failure(failed("Halide runtime", process).message);
  std::string name = "halide_runtime.a";
  if (const auto json = parse_json(process.out, "output of the emitter"); json) {
    const Json* files = json->find("files");
    if (files && files->items() && !files->items()->empty()) {
      name = fs::path(files->items()->front().text().value_or(name)).filename().string();
    }
  }
  if (!fs::exists(fs::path(folder_) / name)) {
    return failure(fmt::format("the emitter made no runtime library {}", name));
  }
  runtimes_[target] = name;
  return name;
}

BuildOutcome KernelBuilder::link(const KernelSpec& spec, Manifest& manifest) {
  // The whole runtime goes in, so that the harness finds its error handler and thread settings.
  const std::vector<std::string> arguments = {"-shared",
                                              "-o",
                                              manifest.shared,
                                              "-Wl,--whole-archive",
                                              manifest.library,
                                              manifest.runtime,
                                              "-Wl,--no-whole-archive",
                                              "-lpthread",
                                              "-ldl",
                                              "-lm"};
  manifest.link = "c++";
  for (const std::string& word : arguments) manifest.link += " " + word;
  ProcessCommand command;
  command.words = {installation_.compiler};
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  command.folder = folder_;
  command.limits = link_limits;
  const ProcessResult process = run_process(command, stop_);
  if (process.end == ProcessEnd::not_started) {
    return failed(
        fmt::format("the C++ compiler '{}' {}; it links kernel {}: install g++ or set CXX",
                    installation_.compiler, process.how(), spec.name));
  }
  if (!process.ok()) return failed(fmt::format("linking {}", manifest.shared), process);
  return {};
}

BuildOutcome KernelBuilder::build(const KernelSpec& spec) {
  const Stopwatch watch;
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return failed(fmt::format("can not make the folder {}: {}", folder_, error.message()));
  if (const char* why = operator_of(spec.workload).no_kernel) return failed(why);
  if (spec.kind == DeviceKind::systolic)
    return failed("devices of kind systolic have a model only: no kernels are made for them yet");
  auto emitter = helper_path(installation_, emitter_name(spec.workload));
  if (!emitter) return failed(emitter.error().message);
  Json emitted;
  BuildOutcome outcome = emit(spec, *emitter, emitted);
  if (outcome.status != TrialStatus::ok) return outcome;

  Manifest m;
  m.name = spec.name;
  m.workload = to_key(spec.workload);
  m.schedule = to_text(spec.schedule, spec.workload, spec.kind);
  m.kind = kind_name(spec.kind);
  m.device_name = spec.device_name;
  m.device_hash = spec.device_hash;
  m.target = emitted.text_of("target");
  m.halide_version = emitted.text_of("halide_version");
  m.generator_version = emitted.text_of("generator_version");
  m.tool_version = own_versions().tool;
  m.unscheduled = spec.unscheduled;
  m.library = spec.name + ".a";
  m.header = spec.name + ".h";
  m.shared = spec.name + ".so";
  m.folder = folder_;
  auto runtime = runtime_for(*emitter, m.target);
  if (!runtime) return failed(runtime.error().message);
  m.runtime = *runtime;
  outcome = link(spec, m);
  if (outcome.status != TrialStatus::ok) return outcome;
  for (const std::string& file : {m.library, m.header, m.shared, m.runtime}) {
    auto digest = digest_of_file((fs::path(folder_) / file).string());
    if (!digest) return failed(digest.error().message);
    m.artefacts[file] = *digest;
  }
  const auto written =
      write_file((fs::path(folder_) / (spec.name + ".json")).string(), to_json(m).dump() + "\n");
  if (!written) return failed(written.error().message);
  outcome.kernel = std::move(m);
  outcome.seconds = watch.seconds();
  return outcome;
}

std::vector<BuildOutcome> KernelBuilder::build_all(std::span<const KernelSpec> specs, int jobs,
                                                   const std::function<void(std::int64_t)>& done) {
  std::vector<BuildOutcome> outcomes(specs.size());
  std::int64_t finished = 0;
#pragma omp parallel for schedule(dynamic) num_threads(jobs)
  for (std::size_t i = 0; i < specs.size(); ++i) {
    outcomes[i] = stop_ && stop_() ? failed("interrupted") : build(specs[i]);
#pragma omp critical(tilewright_build_done)
    {
      ++finished;
      if (done) done(finished);
    }
  }
  built_ += finished;
  return outcomes;
}

Result<Versions> emitter_versions(const Installation& installation, const Workload& workload) {
  if (const char* why = operator_of(workload).no_kernel) return failure(why);
  auto emitter = helper_path(installation, emitter_name(workload));
  if (!emitter) return pass_error(emitter);
  ProcessCommand command;
  command.words = {*emitter, "--versions"};
  command.limits.seconds = 20;
  const ProcessResult process = run_process(command);
  if (!process.ok()) return failure(failed("emitter --versions", process).message);
  auto json = parse_json(process.out, "output of emitter --versions");
  if (!json) return pass_error(json);
  Versions versions = own_versions();
  versions.halide = json->text_of("halide_version");
  versions.generator = json->text_of("generator_version");
  return versions;
}

std::string c_identifier(std::string_view text) {
  std::string name;
  for (const char c : text) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front()))) name.insert(0, "k_");
  return name;
}

}  // namespace tilewright
