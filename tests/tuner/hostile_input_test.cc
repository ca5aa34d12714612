// SPDX-License-Identifier: Apache-2.0
// What strangers typed, and what became of it: each case once went wrong.
#include <gtest/gtest.h>

#include <filesystem>

#include "tuner/files.h"
#include "tuner/json.h"
#include "tuner/verbs.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLayer =
    "conv2d_pool/n:1,cin:8,h:12,w:12,cout:16,kh:3,kw:3,pool:2,dtype:fp32";
constexpr const char* kTile = "direct/base_m:16,base_n:5,base_k:8,rows:2";

class HostileInput : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryFolder::make();
    ASSERT_TRUE(made);
    folder_ = std::make_unique<TemporaryFolder>(std::move(*made));
  }
  std::string in_folder(const std::string& name) const { return folder_->path() + "/" + name; }
  // The error of a verb as main would print it; empty if there is none.
  static Error error_of(const std::vector<std::string>& words,
                        const std::string& devices_dir = "") {
    const Verb* verb = find_verb(words.front());
    Progress silent(nullptr, false);
    Session session{find_installation(""), silent, "test", {}};
    if (!devices_dir.empty()) session.installation.devices_dir = devices_dir;
    const auto arguments =
        parse_command_line(verb->command, std::span(words).subspan(1, words.size() - 1));
    if (!arguments) return arguments.error();
    const auto report = verb->run(*arguments, session);
    return report ? Error{} : report.error();
  }
  std::string kernel() const {
    EXPECT_TRUE(write_file(in_folder("k.json"), Json::object()
                                                    .set("manifest_version", 1)
                                                    .set("name", "k")
                                                    .set("workload", kLayer)
                                                    .set("schedule", kTile)
                                                    .set("shared", "k.so")
                                                    .dump()));
    return in_folder("k.json");
  }

  std::unique_ptr<TemporaryFolder> folder_;
};

TEST_F(HostileInput, ADamagedManifestIsToldWithoutTheNamesOfALibrary) {
  ASSERT_TRUE(write_file(in_folder("k.json"), "{\"name\": \"k"));
  const Error error = error_of({"verify", in_folder("k.json"), "--db", in_folder("t.db")});
  EXPECT_NE(error.message.find("is no JSON: parse error at line 1"), std::string::npos)
      << error.message;
  EXPECT_EQ(error.message.find("exception"), std::string::npos) << error.message;
}

TEST_F(HostileInput, AnEmptyOutputNameIsNoName) {
  const Error error = error_of({"run", kernel(), "--output", ""});
  EXPECT_EQ(error.kind, ErrorKind::usage);
  EXPECT_NE(error.message.find("--output is missing"), std::string::npos) << error.message;
}

TEST_F(HostileInput, AHundredMillionThreadsAreNotStarted) {
  const Error error = error_of({"run", kernel(), "--output", "y.npy", "--threads", "100000000"});
  EXPECT_EQ(error.kind, ErrorKind::usage);
  EXPECT_EQ(error.message, "--threads must be at most 1024, not 100000000");
}

TEST_F(HostileInput, AKernelsNameIsOneThatCTakes) {
  for (const std::string& name :
       {std::string("int"), std::string("main"), std::string("9lives"), std::string("../../x"),
        std::string("a b"), std::string(), std::string("'; rm -rf"), std::string(300, 'a')}) {
    const Error error = error_of({"generate", kLayer, "--device", "host", "--schedule", kTile, "-o",
                                  in_folder("out"), "--name", name});
    EXPECT_EQ(error.kind, ErrorKind::usage) << name;
    EXPECT_EQ(error.message.find("--name '"), 0U) << error.message;
    EXPECT_LT(error.message.size(), 400U);
  }
  EXPECT_FALSE(fs::exists(in_folder("out")));
  EXPECT_EQ(error_of({"generate", "--all", "--name", "k"}).kind, ErrorKind::usage);
}

TEST_F(HostileInput, AWrongQuestionLeavesNoDatabaseBehind) {
  const std::string db = in_folder("t.db");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--strategy", "nope"}, {"--variant", "nope"}, {"--budget", "0"}}) {
    std::vector<std::string> whole{"tune", kLayer, "--device", "host", "--db", db};
    whole.insert(whole.end(), words.begin(), words.end());
    EXPECT_EQ(error_of(whole).kind, ErrorKind::usage);
    EXPECT_FALSE(fs::exists(db)) << words[0];
  }
}

TEST_F(HostileInput, WithoutItsDevicesNoStoredAnswerIsCalledFresh) {
  ASSERT_TRUE(Store::open(in_folder("t.db"), OpenMode::read_write_create));
  const Error error = error_of({"query", "best", "--db", in_folder("t.db")}, in_folder("nowhere"));
  EXPECT_NE(error.message.find("nowhere: the devices can not be listed"), std::string::npos)
      << error.message;
}

TEST_F(HostileInput, ADemoThatCanNotWriteItsKernelsSaysSoBeforeItTunes) {
  ASSERT_TRUE(write_file(in_folder("file"), ""));
  const Error error =
      error_of({"demo", "-o", in_folder("file") + "/out", "--db", in_folder("t.db")});
  EXPECT_EQ(error.message.find("can not make the folder"), 0U) << error.message;
  EXPECT_FALSE(fs::exists(in_folder("t.db")));
}

}  // namespace
}  // namespace tilewright
