// SPDX-License-Identifier: Apache-2.0
// Runs the program as a user does: a shell in an empty folder of its own.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tuner/files.h"
#include "tuner/json.h"
#include "tuner/process.h"

namespace tilewright {

class Program : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryFolder::make();
    ASSERT_TRUE(made);
    folder_ = std::make_unique<TemporaryFolder>(std::move(*made));
  }
  ProcessResult run(const std::string& commands) const {
    ProcessCommand command;
    command.words = {"sh", "-c", "PATH=" TILEWRIGHT_BINARY_DIR ":$PATH\n" + commands};
    command.folder = folder_->path();
    command.limits.seconds = 150;
    return run_process(command);
  }
  // The JSON on stdout; null if it is none or the exit code is another.
  Json json_of(const std::string& command, int exit_code = 0) const {
    const ProcessResult result = run("tilewright " + command + " --json");
    EXPECT_EQ(result.code, exit_code) << result.how() << "\n" << result.err;
    auto json = parse_json(result.out, "stdout");
    EXPECT_TRUE(json) << result.out;
    return json ? *json : Json();
  }
  std::string path(const std::string& name) const { return folder_->path() + "/" + name; }

  std::unique_ptr<TemporaryFolder> folder_;
};

// Small layers, so that kernels are made and run in a moment.
inline constexpr const char* kTinyConv =
    "conv2d_pool/n:1,cin:16,h:10,w:14,cout:16,kh:3,kw:3,pool:2,dtype:fp32";
inline constexpr const char* kTinyConvSchedule = "direct/base_m:16,base_n:6,base_k:16,rows:2";

}  // namespace tilewright
