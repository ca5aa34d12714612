// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/schedules/samples.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

const std::string kWorkloads = std::string(TILEWRIGHT_SOURCE_DIR) + "/workloads";

class WorkloadFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::string error_of(const std::string& text) const {
    return usage_message(find_workload(write("bad.toml", text), kWorkloads));
  }
  fs::path folder_;
};

constexpr const char* kBank =
    "operator = \"conv1d_bank\"\nn = 1\nl = 300\ncout = 4\nk = 5\nstride = 1\ndtype = \"fp32\"\n";

TEST_F(WorkloadFiles, TheReferenceLayersAreThere) {
  std::vector<std::string> names;
  for (const NamedWorkload& named : value_of(list_workloads(kWorkloads)))
    names.push_back(named.name);
  const std::vector<std::string> expected{"sincnet",       "small-fp16-p1", "small-fp16-p2",
                                          "small-fp32-p1", "small-fp32-p2", "large-fp16-p1",
                                          "large-fp16-p2", "large-fp32-p1", "large-fp32-p2"};
  EXPECT_EQ(names, expected);
  EXPECT_EQ(to_key(value_of(find_workload("large-fp16-p2", kWorkloads))), kLargeFp16);
  EXPECT_EQ(to_key(value_of(find_workload("small-fp16-p2", kWorkloads))), kSmallFp16);
  EXPECT_EQ(to_key(value_of(find_workload("sincnet", kWorkloads))), kSincnet);
}

TEST_F(WorkloadFiles, FoundByKeyByFileAndByNameInAFile) {
  EXPECT_EQ(to_key(value_of(find_workload(kSincnet, "nowhere"))), kSincnet);
  const std::string one = write("one.toml", std::string("[a]\n") + kBank + "bias = false\n");
  EXPECT_EQ(to_key(value_of(find_workload(one, "nowhere"))),
            "conv1d_bank/n:1,l:300,cout:4,k:5,stride:1,dtype:fp32,bias:0");
  const std::string two =
      write("two.toml", std::string("[\"net/b\"]\n") + kBank + "[a]\n" + kBank + "cin = 3\n");
  EXPECT_EQ(to_key(value_of(find_workload(two + ":a", "nowhere"))),
            "conv1d_bank/n:1,l:300,cout:4,k:5,stride:1,dtype:fp32,cin:3");
  EXPECT_MENTIONS(usage_message(find_workload(two, "nowhere")), "has 2 workloads, say which");
  EXPECT_MENTIONS(usage_message(find_workload(two, "nowhere")), "one of net/b, a");
  EXPECT_MENTIONS(usage_message(find_workload(two + ":net/c", "nowhere")), "is 'net/b'");
}

TEST_F(WorkloadFiles, OneNameInTwoFilesIsRefused) {
  write("one.toml", std::string("[a]\n") + kBank);
  write("two.toml", std::string("[a]\n") + kBank);
  EXPECT_MENTIONS(usage_message(list_workloads(folder_.string())), "workload 'a' is already in");
}

TEST_F(WorkloadFiles, UnknownNameOffersTheNearest) {
  EXPECT_MENTIONS(usage_message(find_workload("snicnet", kWorkloads)), "'sincnet'");
  EXPECT_MENTIONS(usage_message(find_workload("large-fp16", kWorkloads)), "'large-fp16-p1'");
}

TEST_F(WorkloadFiles, ErrorsNameFileAndLine) {
  const std::string bank = std::string("[a]\n") + kBank;
  EXPECT_MENTIONS(
      error_of(bank + "cinn = 3\n"),
      "bad.toml:9: workload 'a': unknown field 'cinn' of conv1d_bank; nearest is 'cin'");
  EXPECT_MENTIONS(error_of(bank + "cin = \"3\"\n"),
                  "bad.toml:9: workload 'a': cin must be a whole number");
  EXPECT_MENTIONS(error_of(bank + "cin = 3.0\n"),
                  "bad.toml:9: workload 'a': cin must be a whole number");
  EXPECT_MENTIONS(error_of(bank + "symmetry = 1\n"),
                  "bad.toml:9: workload 'a': symmetry must be a text");
  EXPECT_MENTIONS(error_of(bank + "bias = 1\n"),
                  "bad.toml:9: workload 'a': bias must be true or false");
  EXPECT_MENTIONS(error_of(bank + "cin = -2\n"), "bad.toml:9: workload 'a': cin must be between 1");
  EXPECT_MENTIONS(error_of("[a]\nn = 1\n"), "bad.toml:1: workload 'a' has no operator");
  EXPECT_MENTIONS(error_of("[a]\noperator = \"conv1d\"\n"),
                  "bad.toml:2: unknown operator 'conv1d'; nearest is 'conv1d_bank'");
  EXPECT_MENTIONS(error_of("[a]\noperator = \"conv1d_bank\"\nn = 1\n"),
                  "bad.toml:1: workload 'a': l is missing");
  EXPECT_MENTIONS(error_of("n = 1\n" + bank), "bad.toml:1: 'n' stands outside of a workload");
}

TEST_F(WorkloadFiles, TruncatedAndRepeatedToml) {
  EXPECT_MENTIONS(error_of("[a]\noperator = \"conv1d_bank\"\nn = "), "bad.toml:3: no valid TOML");
  EXPECT_MENTIONS(error_of("[a]\noperator = \"conv1d"), "bad.toml:2: no valid TOML");
  EXPECT_MENTIONS(error_of(std::string("[a]\n") + kBank + "n = 2\n"), "bad.toml:9: no valid TOML");
}

TEST_F(WorkloadFiles, AMissingFileIsAnIoFailure) {
  const auto result = find_workload((folder_ / "none.toml").string(), kWorkloads);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::failed);
  EXPECT_MENTIONS(result.error().message, "none.toml: can not be read");
}

}  // namespace
}  // namespace tilewright
