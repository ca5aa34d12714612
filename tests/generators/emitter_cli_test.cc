// SPDX-License-Identifier: Apache-2.0
// The emitters' command line: what they answer, and one line for everything that is wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "emission.h"

namespace tilewright {
namespace {

const std::string kConv = "conv2d_pool/n:1,cin:8,h:10,w:12,cout:16,kh:3,kw:3,pool:2,dtype:fp32";
const std::string kBank = "conv1d_bank/n:1,l:400,cout:8,k:31,stride:4,dtype:fp32,symmetry:even_odd";
const std::string kDirect = "direct/base_m:16,base_n:6,base_k:8,rows:2";

void expect_usage_error(const CommandResult& result, const std::string& says) {
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_NE(result.err.find(says), std::string::npos) << result.err;
}

TEST(EmitterCommandLine, SaysWhatItEmitted) {
  KernelSet kernels("answer");
  const CommandResult result = kernels.try_emit({kConv, kDirect}, "layer");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json.at("name"), "layer");
  EXPECT_EQ(json.at("operator"), "conv2d_pool");
  EXPECT_EQ(json.at("workload"), kConv);
  EXPECT_EQ(json.at("schedule"),
            "direct/base_m:16,base_n:6,base_k:8,rows:2,unroll:2,par:rows,vec:0");
  EXPECT_EQ(json.at("halide_version"), "21.0.0");
  EXPECT_EQ(json.at("files"), (Json{"layer.a", "layer.h"}));
  EXPECT_EQ(json.at("target").get<std::string>().find("no_runtime"), std::string::npos);
  EXPECT_NE(json.at("target"), "host");
  EXPECT_EQ(json.at("lowered_digest").get<std::string>().size(), 32u);
  EXPECT_GT(json.at("seconds_total").get<double>(), json.at("seconds_lowering").get<double>());
  EXPECT_NE(slurp(kernels.folder() / "layer.h").find("int layer(struct halide_buffer_t *_x_buffer"),
            std::string::npos);
}

TEST(EmitterCommandLine, VersionsAndRuntime) {
  const CommandResult versions = run_command({"tilewright-emit-conv1d_bank", "--versions"});
  EXPECT_EQ(versions.exit_code, 0);
  EXPECT_TRUE(Json::parse(versions.out).contains("generator_version"));
  KernelSet folder("runtime");
  const CommandResult runtime =
      run_command({"tilewright-emit-conv1d_bank", "--runtime", "--target", "x86-64-linux-avx-avx2",
                   "-o", folder.folder().string()});
  ASSERT_EQ(runtime.exit_code, 0) << runtime.err;
  const std::string file = Json::parse(runtime.out).at("files").at(0);
  EXPECT_NE(file.find("x86-64-linux-avx-avx2"), std::string::npos) << file;
  EXPECT_TRUE(std::filesystem::exists(folder.folder() / file));
}

TEST(EmitterCommandLine, UsageErrorsAreOneLine) {
  KernelSet kernels("usage");
  const auto error = [&](const std::string& workload, const std::string& schedule,
                         const std::string& says, const std::string& kind = "host",
                         const std::string& target = "host") {
    SCOPED_TRACE(workload + ' ' + schedule);
    expect_usage_error(kernels.try_emit({workload, schedule, kind, target}, "bad"), says);
  };
  error("conv2d_pool/n:1,cin:8", kDirect, "missing");
  error(kConv, "direkt/base_m:16", "nearest is 'direct'");
  error(kConv, "direct/base_m:16,base_n:6,base_k:8", "rows is missing");
  error(kConv, "direct/base_m:16,base_n:6,base_k:8,rows:2,fold:both", "fold");
  error(kConv, "direct/base_m:20,base_n:6,base_k:8,rows:2", "base_m must be a multiple of", "host",
        "x86-64-linux-avx-avx2-fma");
  error(kConv, "direct/base_m:16,base_n:6,base_k:8,rows:3", "rows must be a multiple of 2");
  error(kConv, "direct/base_m:16,base_n:6,base_k:8,rows:2,vec:5", "vec must be");
  error(kConv, "direct/base_m:1024,base_n:6,base_k:8,rows:2", "accumulators");
  error(kConv, "direct/base_m:64,base_n:6,base_k:8,rows:2,unroll:1000", "unroll must be at most");
  error(kConv, kDirect, "--target", "host", "z80");
  error(kConv, "im2col/base_m:16,base_n:32,base_k:24,rows:2", "base_k must be a multiple of 16",
        "npu");
  error(kConv, "im2col/base_m:16,base_n:32,base_k:16,rows:2,step_ka:2,step_kb:3",
        "must divide the other", "npu");
  error(kConv, "im2col/base_m:16,base_n:32,base_k:16,rows:2,deal_stride:41",
        "deal_stride must be at most 40", "npu");
  error(kConv + ",groups:8", kDirect, "groups");
  error(kConv + ",layout:nhwc", kDirect, "nhwc");
  error(kBank, "folded_channel_major/base_m:4,base_n:24,m_tile:60",
        "m_tile must be a multiple of 24", "host", "x86-64-linux-avx-avx2-fma");
  error(kBank, "folded_channel_major/base_m:4,base_n:16,m_tile:32,terms:tri6",
        "terms must be fp32");
  error("conv1d_bank/n:1,l:400,cout:8,k:31,stride:4,dtype:fp32",
        "folded_channel_major/base_m:4,base_n:16,m_tile:32", "symmetry");
}

TEST(EmitterCommandLine, ArgumentsThatAreMissingOrNotThere) {
  KernelSet kernels("arguments");
  const std::string folder = kernels.folder().string();
  const std::string program = "tilewright-emit-conv2d_pool";
  expect_usage_error(run_command({program}), "-o");
  expect_usage_error(run_command({program, "-o", "/no/such/folder"}), "/no/such/folder");
  expect_usage_error(run_command({program, "-o", folder}), "--workload");
  expect_usage_error(run_command({program, "-o", folder, "--workload", kConv}), "--schedule");
  expect_usage_error(
      run_command({program, "-o", folder, "--workload", kConv, "--schedule", kDirect}), "--name");
  expect_usage_error(run_command({program, "-o", folder, "--workload", kConv, "--schedule", kDirect,
                                  "--name", "a-b"}),
                     "a-b");
  expect_usage_error(run_command({program, "-o", folder, "--kind", "tpu"}), "tpu");
  expect_usage_error(run_command({program, "--frobnicate"}), "--frobnicate");
  expect_usage_error(run_command({program, "-o", folder, "--workload", kBank, "--schedule",
                                  "direct/", "--name", "a"}),
                     "emits conv2d_pool");
}

}  // namespace
}  // namespace tilewright
