// SPDX-License-Identifier: Apache-2.0
#include "emission.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace tilewright {
namespace {

namespace fs = std::filesystem;

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string program_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  return std::string(TILEWRIGHT_BINARY_DIR) + "/libexec/tilewright/" + program;
}

std::string operator_of(const std::string& workload) {
  return workload.substr(0, workload.find('/'));
}

}  // namespace

std::string slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

CommandResult run_command(const std::vector<std::string>& words, const std::string& input) {
  std::string command = quoted(program_path(words.at(0)));
  for (std::size_t i = 1; i < words.size(); ++i) command += ' ' + quoted(words[i]);
  std::ofstream("command.in") << input;
  const int status = std::system((command + " <command.in >command.out 2>command.err").c_str());
  CommandResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = slurp("command.out");
  result.err = slurp("command.err");
  return result;
}

KernelSet::KernelSet(const std::string& folder) : folder_(fs::absolute(folder)) {
  fs::remove_all(folder_);
  fs::create_directories(folder_);
}

CommandResult KernelSet::try_emit(const KernelText& text, const std::string& name) const {
  std::vector<std::string> words{"tilewright-emit-" + operator_of(text.workload),
                                 "--workload",
                                 text.workload,
                                 "--schedule",
                                 text.schedule,
                                 "--kind",
                                 text.kind,
                                 "--target",
                                 text.target,
                                 "--name",
                                 name,
                                 "-o",
                                 folder_.string(),
                                 "--digest"};
  if (!text.scheduled) words.emplace_back("--unscheduled");
  return run_command(words);
}

Json KernelSet::emit(const KernelText& text) {
  const std::string name = "kernel_" + std::to_string(emitted_.size());
  const CommandResult result = try_emit(text, name);
  EXPECT_EQ(result.exit_code, 0) << text.workload << ' ' << text.schedule << '\n' << result.err;
  if (result.exit_code != 0) return {};
  emitted_.push_back({name, text.workload, text.schedule});
  return Json::parse(result.out);
}

void KernelSet::link() {
  const CommandResult runtime =
      run_command({"tilewright-emit-conv2d_pool", "--runtime", "-o", folder_.string()});
  ASSERT_EQ(runtime.exit_code, 0) << runtime.err;
  const std::string file = Json::parse(runtime.out).at("files").at(0);
  std::vector<std::string> words{
      "/usr/bin/env",       "c++", "-shared", "-o", (folder_ / "kernels.so").string(),
      "-Wl,--whole-archive"};
  for (const Emitted& kernel : emitted_) words.push_back((folder_ / (kernel.name + ".a")).string());
  for (const std::string& word :
       {(folder_ / file).string(), std::string("-Wl,--no-whole-archive"), std::string("-lpthread"),
        std::string("-ldl"), std::string("-lm")}) {
    words.push_back(word);
  }
  const CommandResult linked = run_command(words);
  ASSERT_EQ(linked.exit_code, 0) << linked.err;
}

Json KernelSet::run(const std::string& workload, const Json& options) const {
  Json job{{"workload", workload}, {"check", true}, {"repeat", 1},
           {"warmup", 0},          {"threads", 2},  {"kernels", Json::array()}};
  job.update(options);
  for (const Emitted& kernel : emitted_) {
    if (kernel.workload != workload) continue;
    job["kernels"].push_back(
        {{"so", (folder_ / "kernels.so").string()}, {"function", kernel.name}});
  }
  const CommandResult result = run_command({"tilewright-harness"}, job.dump());
  EXPECT_EQ(result.exit_code, 0) << job.dump() << '\n' << result.err << result.out;
  return Json::parse(result.out, nullptr, false);
}

std::vector<std::string> KernelSet::digests(const std::string& workload,
                                            const Json& options) const {
  const Json answer = run(workload, options);
  std::vector<std::string> digests;
  if (!answer.contains("kernels")) return digests;
  for (const Json& kernel : answer.at("kernels")) {
    EXPECT_EQ(kernel.value("status", ""), "ok")
        << workload << ' ' << schedule_of(kernel.value("function", "")) << '\n'
        << kernel.dump();
    digests.push_back(kernel.value("digest", ""));
  }
  return digests;
}

std::string KernelSet::schedule_of(const std::string& function) const {
  for (const Emitted& kernel : emitted_) {
    if (kernel.name == function) return kernel.schedule;
  }
  return "(unknown)";
}

}  // namespace tilewright
