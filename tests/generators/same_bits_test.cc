// SPDX-License-Identifier: Apache-2.0
// Same chains, same bits: the order of accumulation is the algorithm's, whatever the schedule, the
// vector width or the target make of it; and one schedule's files are the same bytes from every
// process.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "emission.h"

namespace tilewright {
namespace {

const std::string kBank =
    "conv1d_bank/n:2,l:4000,cout:20,k:61,stride:7,dtype:fp32,symmetry:even_odd";
const std::string kConv = "conv2d_pool/n:1,cin:24,h:19,w:21,cout:36,kh:3,kw:2,pool:2,dtype:fp32";
const std::string kConv16 = "conv2d_pool/n:1,cin:24,h:19,w:21,cout:36,kh:3,kw:2,pool:2,dtype:fp16";

constexpr const char* kAvx2 = "x86-64-linux-avx-avx2-f16c-fma-sse41";
constexpr const char* kAvx512 = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41";

std::vector<std::string> targets() {
  std::vector<std::string> all{kAvx2};
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
    all.emplace_back(kAvx512);
  return all;
}

void expect_same_bits(KernelSet& kernels, const std::string& workload,
                      const Json& options = Json::object()) {
  kernels.link();
  ASSERT_FALSE(testing::Test::HasFatalFailure());
  const std::vector<std::string> digests = kernels.digests(workload, options);
  ASSERT_GT(digests.size(), 1u);
  for (const std::string& digest : digests) EXPECT_EQ(digest, digests.front());
}

class SameBitsOfChains : public testing::TestWithParam<int> {};

TEST_P(SameBitsOfChains, WhateverTheSchedule) {
  KernelSet kernels("chains_" + std::to_string(GetParam()));
  const std::string chains = ",chains:" + std::to_string(GetParam());
  for (const std::string& target : targets()) {
    for (const char* knobs : {"base_m:2,base_n:16,m_tile:32,unroll:1",
                              "base_m:2,base_n:16,m_tile:64,unroll:3,fold:group",
                              "base_m:1,base_n:32,m_tile:96,par:none,vec:8"}) {
      kernels.emit({kBank, std::string("folded_channel_major/") + knobs + chains, "host", target});
    }
  }
  expect_same_bits(kernels, kBank);
}
INSTANTIATE_TEST_SUITE_P(Chains, SameBitsOfChains, testing::Values(1, 6));

TEST(SameBits, DirectConvolutionWithOneBlockOfChannelsAndTheTwin) {
  for (const std::string& workload : {kConv, kConv16}) {
    KernelSet kernels(workload == kConv ? "conv_fp32" : "conv_fp16");
    for (const std::string& target : targets()) {
      kernels.emit({workload, "direct/base_m:16,base_n:5,base_k:24,rows:4", "host", target});
      kernels.emit({workload,
                    "direct/base_m:32,base_n:3,base_k:24,rows:2,unroll:6,vec:8,par:channels",
                    "host", target});
      kernels.emit({workload,
                    "im2col/base_m:32,base_n:64,base_k:48,rows:6,load:mdl,step_ka:3,step_kb:1",
                    "npu", target});
    }
    expect_same_bits(kernels, workload);
  }
}

TEST(SameBits, OneOrTwoThreadsAndEveryRun) {
  KernelSet kernels("threads");
  kernels.emit({kConv, "direct/base_m:16,base_n:6,base_k:8,rows:2"});
  kernels.link();
  std::vector<std::string> digests;
  for (const int threads : {1, 2, 2, 2}) {
    for (const std::string& digest : kernels.digests(kConv, {{"threads", threads}}))
      digests.push_back(digest);
  }
  ASSERT_EQ(digests.size(), 4u);
  EXPECT_EQ(std::count(digests.begin(), digests.end(), digests.front()), 4);
}

using Choices = std::vector<std::pair<std::string, std::vector<std::string>>>;

// `count` random schedules on random targets: all give the same bits. Without reset the seed is the
// case's own.
void expect_same_bits_of_random_schedules(const std::string& folder, const std::string& workload,
                                          const std::string& kind, const std::string& fixed,
                                          const Choices& choices, int count) {
  SCOPED_TRACE(folder);
  std::mt19937 random(std::mt19937::default_seed);
  const auto pick = [&](const std::vector<std::string>& values) {
    return values[random() % values.size()];
  };
  KernelSet kernels(folder);
  for (int i = 0; i < count; ++i) {
    std::string schedule = fixed;
    for (const auto& [knob, values] : choices) schedule += "," + knob + ":" + pick(values);
    kernels.emit({workload, schedule, kind, pick(targets())});
  }
  expect_same_bits(kernels, workload);
}

TEST(SameBitsOfRandomSchedules, Twin) {
  const Choices choices{{"base_m", {"16", "32", "48"}},
                        {"base_n", {"16", "48", "80"}},
                        {"base_k", {"16", "32", "64"}},
                        {"rows", {"2", "4", "6"}},
                        {"step_ka", {"2", "4", "12"}},
                        {"step_kb", {"1", "2"}},
                        {"db_l0", {"1", "2"}},
                        {"db_l0c", {"1", "2"}},
                        {"l1", {"1", "2"}},
                        {"order", {"m", "n"}},
                        {"load", {"norm", "mdl"}},
                        {"deal", {"paired", "cube_first"}},
                        {"deal_stride", {"0", "3", "20"}},
                        {"split_m", {"1", "2", "3"}},
                        {"weights", {"stream", "resident"}},
                        {"async", {"1", "2"}},
                        {"transdata", {"host", "device"}},
                        {"ub_m", {"16", "32", "48"}},
                        {"ub_tiles", {"1", "3"}},
                        {"pool_buf", {"own", "inplace"}}};
  // Every knob is in `choices`: the text before them only names the variant.
  Choices rest(choices.begin() + 1, choices.end());
  for (const char* base_m : {"16", "32"}) {
    expect_same_bits_of_random_schedules(std::string("twin_") + base_m, kConv16, "npu",
                                         std::string("im2col/base_m:") + base_m, rest, 4);
  }
}

// Chains of every length, short ones above all: there an unrolled loop leaves straight code, and
// the compiler most freedom. (A chain of 3 products that began with a literal 0 was added back to
// front.)
TEST(SameBitsOfRandomSchedules, FilterBank) {
  const Choices tiles{{"base_n", {"16", "32"}},
                      {"m_tile", {"32", "64", "96"}},
                      {"unroll", {"1", "2", "3", "5"}},
                      {"par", {"rows", "channels", "none"}},
                      {"vec", {"0", "8"}}};
  Choices folded = tiles;
  folded.emplace_back("fold", std::vector<std::string>{"both", "group"});
  const auto bank = [](int taps) {
    return "conv1d_bank/n:1,l:700,cout:6,k:" + std::to_string(taps) +
           ",stride:3,dtype:fp32,symmetry:even_odd";
  };
  for (const auto& [taps, chains] : {std::pair{4, 1}, {61, 14}, {29, 3}}) {
    const std::string name = std::to_string(taps) + "_" + std::to_string(chains);
    const std::string fixed =
        "base_m:" + std::string(chains > 3 ? "1" : "2") + ",chains:" + std::to_string(chains);
    expect_same_bits_of_random_schedules("folded_" + name, bank(taps), "host",
                                         "folded_channel_major/" + fixed, folded, 4);
    expect_same_bits_of_random_schedules("direct_" + name, bank(taps), "host", "direct/" + fixed,
                                         tiles, 3);
  }
}

TEST(SameBitsOfRandomSchedules, DirectConvolution) {
  const Choices choices{{"base_m", {"16", "32"}},
                        {"base_n", {"1", "3", "5", "6"}},
                        {"rows", {"2", "4", "8"}},
                        {"unroll", {"1", "2", "3", "8"}},
                        {"par", {"rows", "channels", "none"}},
                        {"vec", {"0", "8"}}};
  for (const auto& [shape, block] : {std::pair{"cin:1,h:9,w:10,cout:5,kh:1,kw:3", "1"},
                                     {"cin:3,h:9,w:10,cout:20,kh:1,kw:1", "3"},
                                     {"cin:11,h:8,w:9,cout:20,kh:2,kw:3", "4"}}) {
    const std::string key = std::string("conv2d_pool/n:2,") + shape + ",pool:2,dtype:fp32";
    expect_same_bits_of_random_schedules(std::string("conv_") + block, key, "host",
                                         std::string("direct/base_k:") + block, choices, 4);
  }
}

// Small integers: every product and every sum is exact.
TEST(SameBits, IntegersExactlyInEveryVariant) {
  const Json integers{{"integer_check", true},
                      {"inputs",
                       {{"x", {{"class", "integers"}, {"seed", 1}}},
                        {"w", {{"class", "integers"}, {"seed", 2}}},
                        {"bias", {{"class", "integers"}, {"seed", 3}}}}}};
  for (const std::string& workload : {kConv, kConv16}) {
    KernelSet kernels("integers");
    kernels.emit({workload, "direct/base_m:32,base_n:6,base_k:5,rows:2"});
    kernels.emit({workload, "im2col/base_m:16,base_n:48,base_k:32,rows:4", "npu"});
    expect_same_bits(kernels, workload, integers);
  }
}

TEST(SameBytes, FromEveryProcessFolderAndEnvironment) {
  const KernelText texts[] = {
      {kConv, "direct/base_m:16,base_n:6,base_k:8,rows:2"},
      {kConv16, "im2col/base_m:16,base_n:48,base_k:32,rows:4", "npu"},
      {kBank, "folded_channel_major/base_m:5,base_n:32,m_tile:64,chains:3"}};
  for (const KernelText& text : texts) {
    KernelSet first("bytes_1"), second("bytes_2");
    const CommandResult a = first.try_emit(text, "same");
    setenv("HL_NUM_THREADS", "1", 1);
    setenv("TILEWRIGHT_TEST", "another environment", 1);
    const CommandResult b = second.try_emit(text, "same");
    unsetenv("HL_NUM_THREADS");
    unsetenv("TILEWRIGHT_TEST");
    ASSERT_EQ(a.exit_code, 0) << a.err;
    ASSERT_EQ(b.exit_code, 0) << b.err;
    EXPECT_EQ(Json::parse(a.out).at("lowered_digest"), Json::parse(b.out).at("lowered_digest"));
    for (const char* file : {"same.a", "same.h"}) {
      EXPECT_EQ(slurp(first.folder() / file), slurp(second.folder() / file)) << file;
      EXPECT_FALSE(slurp(first.folder() / file).empty());
    }
  }
}

TEST(SameBytes, TheDigestDoesNotDependOnTheName) {
  KernelSet kernels("names");
  const KernelText text{kConv, "direct/base_m:16,base_n:6,base_k:8,rows:2"};
  const CommandResult a = kernels.try_emit(text, "one_name"), b = kernels.try_emit(text, "another");
  EXPECT_EQ(Json::parse(a.out).at("lowered_digest"), Json::parse(b.out).at("lowered_digest"));
}

}  // namespace
}  // namespace tilewright
