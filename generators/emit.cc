// SPDX-License-Identifier: Apache-2.0
#include "generators/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "generators/digest.h"
#include "generators/kernel.h"

namespace tilewright {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct HalideFailure {
  std::string message;
};

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool space = c == '\n' || c == '\t' || c == ' ';
    if (!space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

// Warnings are errors: most of them say that the kernel will fail when it runs.
class StrictReporter : public Halide::CompileTimeErrorReporter {
 public:
  void warning(const char* message) override {
    const std::string_view text(message);
    const bool harmless =
        text.find("float16 type operation is emulated") != std::string_view::npos ||
        text.find("(b)float16") != std::string_view::npos;
    if (!harmless) throw HalideFailure{one_line(text)};
  }
  [[noreturn]] void error(const char* message) override { throw HalideFailure{one_line(message)}; }
};

// Runs `work` and turns everything that Halide may throw into a Result.
template <class Work>
auto guarded(std::string_view what, Work&& work) -> Result<decltype(work())> {
  static StrictReporter reporter;
  Halide::set_custom_compile_time_error_reporter(&reporter);
  const auto failed = [&](std::string_view why) {
    return failure(fmt::format("{}: Halide: {}", what, one_line(why)));
  };
  try {
    return work();
  } catch (const HalideFailure& problem) {
    return failed(problem.message);
  } catch (const Halide::Error& problem) {  // not a std::exception
    return failed(problem.what());
  } catch (const std::exception& problem) {
    return failed(problem.what());
  }
}

// The lowered statement as text. The function's own name, which also begins the names of its
// parallel loop bodies, is written as "kernel": the same kernel under two names has one digest.
std::string lowered_text(const Halide::Module& module, const std::string& name) {
  std::ostringstream stream;
  stream << module;
  const std::string text = stream.str();
  const auto in_identifier = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.';
  };
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && in_identifier(text[end])) ++end;
    const std::string_view word = std::string_view(text).substr(i, end - i);
    const std::string_view tail = word.substr(std::min(name.size(), word.size()));
    if (word.starts_with(name) && (tail.empty() || tail.starts_with("_par_for_"))) {
      result.append("kernel").append(tail);
    } else {
      result += word;
    }
    if (end < text.size()) result += text[end++];
    i = end;
  }
  return result;
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  if (!(file << text).flush()) throw HalideFailure{"can not write " + path.string()};
}

// Halide's include guard spells the whole path of the file; the same kernel must be the same bytes
// everywhere.
void name_include_guard(const std::filesystem::path& header, const std::string& name) {
  std::ifstream file(header);
  std::stringstream stream;
  stream << file.rdbuf();
  std::string text = stream.str();
  constexpr std::string_view kBefore = "#ifndef ";
  const std::size_t start = text.find(kBefore) + kBefore.size();
  const std::string guard = text.substr(start, text.find('\n', start) - start);
  const std::string ours = "TILEWRIGHT_KERNEL_" + name + "_H";
  for (std::size_t at = text.find(guard); at != std::string::npos;
       at = text.find(guard, at + ours.size())) {
    text.replace(at, guard.size(), ours);
  }
  file.close();
  write_text(header, text);
}

EmitReport emit(const EmitRequest& request, KernelBuilder build) {
  const auto start = Clock::now();
  const Halide::Target target =
      Halide::Target(request.target).with_feature(Halide::Target::NoRuntime);
  const KernelContext context{.vector = target.natural_vector_size<float>(),
                              .cube_cores = request.cube_cores,
                              .vector_cores = request.vector_cores,
                              .scheduled = request.scheduled};
  Kernel kernel = build(request.workload, request.schedule, context);
  const Halide::Module module =
      kernel.output.compile_to_module(kernel.arguments, request.name, target);

  EmitReport report;
  report.seconds_lowering = seconds_since(start);
  const std::filesystem::path folder(request.folder);
  report.files = {request.name + ".a", request.name + ".h"};
  if (request.digest || request.statement) {
    const std::string text = lowered_text(module, request.name);
    if (request.digest) report.lowered_digest = digest_of(std::as_bytes(std::span(text)));
    if (request.statement) {
      report.files.push_back(request.name + ".stmt");
      write_text(folder / report.files.back(), text);
    }
  }
  module.compile({{Halide::OutputFileType::static_library, folder / report.files[0]},
                  {Halide::OutputFileType::c_header, folder / report.files[1]}});
  name_include_guard(folder / report.files[1], request.name);
  report.seconds_total = seconds_since(start);
  return report;
}

}  // namespace

std::string halide_version() {
  return fmt::format("{}.{}.{}", HALIDE_VERSION_MAJOR, HALIDE_VERSION_MINOR, HALIDE_VERSION_PATCH);
}

Result<std::string> resolve_target(const std::string& text) {
  if (text != "host" && !Halide::Target::validate_target_string(text)) {
    return usage_error(fmt::format(
        "--target '{}' is no Halide target; use 'host' or, for example, 'x86-64-linux-avx2-fma'",
        text));
  }
  return guarded("--target", [&] {
    const Halide::Target target = text == "host" ? Halide::get_host_target() : Halide::Target(text);
    return target.without_feature(Halide::Target::NoRuntime).to_string();
  });
}

int natural_vector(const std::string& target) {
  return Halide::Target(target).natural_vector_size<float>();
}

Result<EmitReport> emit_kernel(const EmitRequest& request, KernelBuilder build) {
  return guarded(request.name, [&] { return emit(request, build); });
}

Result<EmitReport> emit_runtime(const std::string& target, const std::string& folder) {
  return guarded("runtime", [&] {
    const auto start = Clock::now();
    EmitReport report;
    report.files = {"halide_runtime-" + target + ".a"};
    const Halide::Target full(target);
    const std::string path = std::filesystem::path(folder) / report.files[0];
    Halide::Module runtime("halide_runtime", full);
    runtime.compile({{Halide::OutputFileType::static_library, path}});
    report.seconds_total = seconds_since(start);
    return report;
  });
}

}  // namespace tilewright
