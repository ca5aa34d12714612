// SPDX-License-Identifier: Apache-2.0
#include "generators/emit_main.h"

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "generators/emission_rules.h"
#include "generators/emit_options.h"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

Result<Json> versions() {
  return Json{{"halide_version", halide_version()}, {"generator_version", kGeneratorVersion}};
}

Result<Json> runtime(const EmitOptions& options) {
  const auto target = resolve_target(options.target);
  if (!target) return pass_error(target);
  const auto report = emit_runtime(*target, options.folder);
  if (!report) return pass_error(report);
  return Json{{"target", *target},
              {"halide_version", halide_version()},
              {"seconds_total", report->seconds_total},
              {"files", report->files}};
}

// Everything that can be wrong in the texts is found before Halide sees them.
Result<EmitRequest> request_of(const EmitOptions& options, const Emitter& emitter) {
  const auto workload = parse_workload_key(options.workload);
  if (!workload) return pass_error(workload);
  if (operator_name(*workload) != emitter.operator_name) {
    return usage_error(std::string(emitter.program) + " emits " +
                       std::string(emitter.operator_name) + ", not " +
                       std::string(operator_name(*workload)));
  }
  const auto schedule = parse_schedule(options.schedule, *workload, options.kind);
  if (!schedule) return pass_error(schedule);
  const auto target = resolve_target(options.target);
  if (!target) return pass_error(target);
  const auto legal =
      check_emission(*workload, *schedule,
                     {.vector = natural_vector(*target), .vector_cores = options.vector_cores});
  if (!legal) return pass_error(legal);
  return EmitRequest{.workload = *workload,
                     .schedule = *schedule,
                     .target = *target,
                     .name = options.name,
                     .folder = options.folder,
                     .cube_cores = options.cube_cores,
                     .vector_cores = options.vector_cores,
                     .scheduled = !options.unscheduled,
                     .digest = options.digest,
                     .statement = options.statement};
}

Result<Json> kernel(const EmitOptions& options, const Emitter& emitter) {
  const auto request = request_of(options, emitter);
  if (!request) return pass_error(request);
  const auto report = emit_kernel(*request, emitter.build);
  if (!report) return pass_error(report);
  Json json{{"name", request->name},
            {"operator", emitter.operator_name},
            {"workload", to_key(request->workload)},
            {"schedule", to_text(request->schedule, request->workload, options.kind)},
            {"target", request->target},
            {"scheduled", request->scheduled},
            {"halide_version", halide_version()},
            {"generator_version", kGeneratorVersion},
            {"seconds_lowering", report->seconds_lowering},
            {"seconds_total", report->seconds_total},
            {"files", report->files}};
  if (options.digest) json["lowered_digest"] = report->lowered_digest;
  return json;
}

Result<Json> answer(const EmitOptions& options, const Emitter& emitter) {
  if (options.versions) return versions();
  return options.runtime ? runtime(options) : kernel(options, emitter);
}

int report_error(const Error& error, const Emitter& emitter) {
  std::cerr << emitter.program << ": " << error.message << '\n';
  return error.kind == ErrorKind::usage ? 2 : 1;
}

}  // namespace

int emit_main(int argc, char** argv, const Emitter& emitter) {
  const auto parsed = parse_emit_options(argc, argv, emitter.program);
  if (!parsed) return report_error(parsed.error(), emitter);
  if (const std::string* help = std::get_if<std::string>(&*parsed)) {
    std::cout << *help;
    return 0;
  }
  const auto json = answer(std::get<EmitOptions>(*parsed), emitter);
  if (!json) return report_error(json.error(), emitter);
  std::cout << json->dump() << '\n';
  return std::cout.flush() ? 0 : 1;
}

}  // namespace tilewright
