// SPDX-License-Identifier: Apache-2.0
#include "generators/emit_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace tilewright {
namespace {

// The name becomes a C function and a file.
std::string check_name(const std::string& name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto valid = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  if (!name.empty() && letter(name[0]) && std::all_of(name.begin(), name.end(), valid)) return {};
  return "'" + name + "' is no C identifier";
}

void declare(CLI::App& app, EmitOptions& options, std::string& kind) {
  app.add_option("--workload", options.workload, "canonical key");
  app.add_option("--schedule", options.schedule, "variant/knob:value,...");
  app.add_option("--kind", kind, "host: production kernel; npu: functional twin of the schedule")
      ->check(CLI::IsMember({"host", "npu"}));
  app.add_option("--target", options.target, "host or a Halide target");
  app.add_option("--name", options.name, "of the C function and the files")->check(check_name);
  app.add_option("-o,--output", options.folder, "existing folder")->check(CLI::ExistingDirectory);
  app.add_option("--cube-cores", options.cube_cores, "npu: cores that items are dealt to")
      ->check(CLI::Range(1, 1024));
  app.add_option("--vector-cores", options.vector_cores, "npu: a multiple of the cube cores")
      ->check(CLI::Range(1, 4096));
  app.add_flag("--unscheduled", options.unscheduled, "the algorithm without its schedule");
  app.add_flag("--digest", options.digest, "digest of the lowered statement");
  app.add_flag("--statement", options.statement, "also write the lowered statement, NAME.stmt");
  app.add_flag("--runtime", options.runtime, "write the runtime that kernels of the target share");
  app.add_flag("--versions", options.versions, "print the versions that decide what is emitted");
}

Result<void> check_complete(const EmitOptions& options) {
  if (options.versions) return {};
  if (options.folder.empty()) return usage_error("-o FOLDER is missing");
  if (options.runtime) return {};
  if (options.workload.empty()) return usage_error("--workload KEY is missing");
  if (options.schedule.empty()) return usage_error("--schedule TEXT is missing");
  if (options.name.empty()) return usage_error("--name NAME is missing");
  if (options.vector_cores % options.cube_cores != 0) {
    return usage_error("--vector-cores must be a multiple of --cube-cores");
  }
  return {};
}

}  // namespace

Result<std::variant<EmitOptions, std::string>> parse_emit_options(int argc, char** argv,
                                                                  std::string_view program) {
  CLI::App app("Emits one kernel: a static library and a C header. Prints one JSON object.",
               std::string(program));
  EmitOptions options;
  std::string kind = "host";
  declare(app, options, kind);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::ParseError& problem) {
    return usage_error(problem.what());
  }
  options.kind = kind == "npu" ? DeviceKind::npu : DeviceKind::host;
  const Result<void> complete = check_complete(options);
  if (!complete) return pass_error(complete);
  return options;
}

}  // namespace tilewright
