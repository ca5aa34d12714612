// SPDX-License-Identifier: Apache-2.0
// Text that must stay as it is, in files below tests/<folder>/golden/. With the environment
// variable TILEWRIGHT_UPDATE_GOLDEN=1 the tests rewrite the files instead of comparing.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace tilewright {

// `file`: relative to tests/, for example "schedules/golden/lane_masked.txt".
inline void expect_golden(const std::string& file, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "tests" / file;
  if (std::getenv("TILEWRIGHT_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream stream(path, std::ios::binary);
  ASSERT_TRUE(stream) << path << " is missing; run the test with TILEWRIGHT_UPDATE_GOLDEN=1";
  std::ostringstream expected;
  expected << stream.rdbuf();
  EXPECT_EQ(text, expected.str()) << path;
}

}  // namespace tilewright
