// SPDX-License-Identifier: Apache-2.0
// Command-line cases: each file of cases/ holds shell commands and what they must print. A file
// reads
//   $ tilewright explain ...        commands, run by sh in an empty folder with the program in PATH
//   exit 2                          of the last command
//   --- stdout
//   ...
//   --- stderr
//   ...
// UPDATE_GOLDEN=1 writes what was printed into the files instead of comparing: read the diff before
// you keep it. What differs between machines and runs is masked: folders, digests, times of day,
// seconds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>

#include "tuner/files.h"
#include "tuner/process.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string commands;  // without the "$ "
  std::string expected;  // from the line "exit N" on
};

Case read_case(const std::string& path) {
  Case result;
  const auto text = read_file(path);
  EXPECT_TRUE(text) << path;
  std::size_t at = 0;
  while (text && at < text->size() && (*text)[at] == '$') {
    const std::size_t end = std::min(text->find('\n', at), text->size() - 1);
    result.commands += text->substr(at + 2, end - at - 1);
    at = end + 1;
  }
  if (text) result.expected = text->substr(at);
  return result;
}

std::string commands_as_written(const std::string& commands) {
  std::string text;
  for (std::size_t at = 0; at < commands.size();) {
    const std::size_t end = commands.find('\n', at);
    text += "$ " + commands.substr(at, end - at + 1);
    at = end + 1;
  }
  return text;
}

std::string masked(std::string text, const std::string& folder) {
  const auto replace_all = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  };
  replace_all(folder, "<here>");
  replace_all(TILEWRIGHT_BINARY_DIR, "<build>");
  replace_all(TILEWRIGHT_SOURCE_DIR, "<source>");
  text = std::regex_replace(text, std::regex("\\b[0-9a-f]{32}\\b"), "<digest>");
  text =
      std::regex_replace(text, std::regex("\\b[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z\\b"), "<time>");
  text = std::regex_replace(text, std::regex("\\b[0-9]+\\.[0-9]+ s\\b"), "<seconds> s");
  return text;
}

std::string run_case(const Case& test) {
  auto folder = TemporaryFolder::make();
  EXPECT_TRUE(folder);
  ProcessCommand command;
  command.words = {"sh", "-c", "PATH=" TILEWRIGHT_BINARY_DIR ":$PATH\nunset CXX\n" + test.commands};
  command.folder = folder->path();
  const ProcessResult result = run_process(command);
  EXPECT_EQ(result.end, ProcessEnd::exited) << result.how();
  return masked("exit " + std::to_string(result.code) + "\n--- stdout\n" + result.out +
                    "--- stderr\n" + result.err,
                folder->path());
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, PrintsWhatItPrinted) {
  const std::string path = TILEWRIGHT_SOURCE_DIR "/tests/cli/cases/" + GetParam() + ".txt";
  const Case test = read_case(path);
  ASSERT_FALSE(test.commands.empty()) << path << " must start with a line '$ command'";
  const std::string printed = run_case(test);
  if (std::getenv("UPDATE_GOLDEN")) {
    ASSERT_TRUE(write_file(path, commands_as_written(test.commands) + printed));
    return;
  }
  EXPECT_EQ(printed, test.expected) << path << "\nUPDATE_GOLDEN=1 accepts the new output";
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(TILEWRIGHT_SOURCE_DIR "/tests/cli/cases")) {
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, testing::ValuesIn(case_names()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace tilewright
