// SPDX-License-Identifier: Apache-2.0
// Emitting, linking and running kernels in tests: the emitters and the harness as processes.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tilewright {

using Json = nlohmann::json;

struct CommandResult {
  int exit_code = -1;  // 128 + signal when one ended it
  std::string out, err;
};
// words[0] is a program of libexec/tilewright, or a path.
CommandResult run_command(const std::vector<std::string>& words, const std::string& input = "");
std::string slurp(const std::filesystem::path& path);

// What to emit. The kernels of one test go into one shared library with one runtime.
struct KernelText {
  std::string workload, schedule;
  std::string kind = "host", target = "host";
  bool scheduled = true;
};

// Kernels of one test in one folder.
class KernelSet {
 public:
  explicit KernelSet(const std::string& folder);

  // Emits; returns the emitter's JSON. A test failure if the emitter refuses.
  Json emit(const KernelText& text);
  CommandResult try_emit(const KernelText& text, const std::string& name) const;
  // Links everything emitted so far.
  void link();
  // Runs the kernels emitted for `workload` with the harness: its JSON. Inputs are those of
  // `classes`
  // ({"x": {"class": ...}}), or the default ones.
  Json run(const std::string& workload, const Json& options = Json::object()) const;
  // The same, a test failure unless every kernel passes; the digest of each output.
  std::vector<std::string> digests(const std::string& workload,
                                   const Json& options = Json::object()) const;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  struct Emitted {
    std::string name, workload, schedule;
  };
  std::string schedule_of(const std::string& function) const;

  std::filesystem::path folder_;
  std::vector<Emitted> emitted_;
};

}  // namespace tilewright
