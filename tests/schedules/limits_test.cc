// SPDX-License-Identifier: Apache-2.0
#include "schedules/limits.h"

#include <gtest/gtest.h>

#include "schedules/space.h"
#include "tests/schedules/samples.h"

namespace tilewright {
namespace {

constexpr const char* kPublished = "im2col/base_m:128,base_n:256,base_k:64,rows:6";

std::vector<Reason> reasons(const std::string& key, const std::string& text,
                            const Limits& limits = npu_limits()) {
  const Workload w = workload(key);
  return infeasible_reasons(w, schedule(text, w, limits.kind), limits);
}
// The only reason.
Reason reason(const std::string& key, const std::string& text,
              const Limits& limits = npu_limits()) {
  const auto all = reasons(key, text, limits);
  EXPECT_EQ(all.size(), 1U) << text
                            << (all.size() > 1 ? "\n" + all[0].message + "\n" + all[1].message
                                               : "");
  return all.empty() ? Reason{} : all.front();
}
bool feasible(const std::string& key, const std::string& text,
              const Limits& limits = npu_limits()) {
  return reasons(key, text, limits).empty();
}

TEST(UbSum, ThePublishedConfigurationsToTheByte) {
  const Workload fp16 = workload(kLargeFp16), fp32 = workload(kLargeFp32);
  const auto bytes = [](const Workload& w, const std::string& text) {
    return ub_bytes(w, schedule(text, w, DeviceKind::npu));
  };
  EXPECT_EQ(bytes(fp16, kPublished), 172544);
  EXPECT_EQ(bytes(fp16, std::string(kPublished) + ",pool_buf:own"), 201216);
  EXPECT_EQ(bytes(fp32, "im2col/base_m:64,base_n:224,base_k:32,rows:6,pool_buf:own"), 201728);
  EXPECT_EQ(bytes(fp16, "k_folded/base_m:128,base_n:224,base_k:64,rows:2"), 143872);
  EXPECT_EQ(bytes(fp16, "k_folded/base_m:128,base_n:64,base_k:64,rows:2"), 176640);
}

TEST(UbSum, TheQueueThatDoesNotFitSaysSoWithItsSum) {
  const Reason r = reason(kLargeFp16, std::string(kPublished) + ",pool_buf:own");
  EXPECT_EQ(r.buffer, "UB");
  EXPECT_EQ(r.needed_bytes, 201216);
  EXPECT_EQ(r.available_bytes, 196352);
  ASSERT_EQ(r.terms.size(), 3U);
  EXPECT_EQ(r.terms[0].bytes, 172032);
  EXPECT_EQ(r.terms[1].bytes, 28672);
  EXPECT_EQ(r.terms[2].bytes, 512);
  const std::map<std::string, std::string> nearest{
      {"pool_buf", "inplace"}, {"ub_m", "112"}, {"ub_tiles", "2"}};
  EXPECT_EQ(r.nearest, nearest);
  EXPECT_MENTIONS(r.message, "UB: 201,216 bytes needed, 196,352 there");
}

TEST(MatrixBuffers, ThePublishedTileFitsExactly) {
  EXPECT_TRUE(feasible(kLargeFp16, kPublished));
  EXPECT_EQ(reason(kLargeFp16, "im2col/base_m:112,base_n:272,base_k:64,rows:6").buffer,
            "L0B");  // L0B was full
  const Reason accumulators =
      reason(kLargeFp16, std::string(kPublished) + ",db_l0c:2");  // so was L0C
  EXPECT_EQ(accumulators.buffer, "L0C");
  EXPECT_EQ(accumulators.needed_bytes, 2 * accumulators.available_bytes);
  const std::map<std::string, std::string> nearest{
      {"base_m", "64"}, {"base_n", "128"}, {"db_l0c", "1"}};
  EXPECT_EQ(accumulators.nearest, nearest);
  // With steps 8 and 4 and two slots L1 is exactly full, too.
  EXPECT_TRUE(feasible(kLargeFp16, std::string(kPublished) + ",step_ka:8,step_kb:4,load:mdl"));
  EXPECT_EQ(reason(kLargeFp16, std::string(kPublished) + ",step_ka:16,step_kb:4").needed_bytes,
            524288 + 262144);
}

TEST(MatrixBuffers, StepsCountUnderBothLoads) {
  for (const char* load : {"norm", "mdl"}) {
    EXPECT_EQ(
        reason(kLargeFp16, std::string(kPublished) + ",step_ka:8,step_kb:8,load:" + load).buffer,
        "L1")
        << load;
  }
}

TEST(MatrixBuffers, ResidentWeightsFitAt128ChannelsOnly) {
  EXPECT_TRUE(
      feasible(kSmallFp16, "im2col/base_m:128,base_n:64,base_k:64,rows:6,weights:resident"));
  const Reason r = reason(kLargeFp16, std::string(kPublished) + ",weights:resident");
  EXPECT_EQ(r.buffer, "L1");
  EXPECT_EQ(r.terms[1].bytes, 1152 * 1024);
  EXPECT_EQ(r.terms[2].bytes, 64 * 1024);
  EXPECT_EQ(r.needed_bytes, 1216 * 1024);
  EXPECT_EQ(r.nearest.at("weights"), "stream");
}

TEST(Rules, BlocksOffTheirGrid) {
  const Reason m = reason(kLargeFp16, "im2col/base_m:100,base_n:256,base_k:64,rows:6");
  EXPECT_EQ(m.buffer, "base_m");
  EXPECT_EQ(m.nearest.at("base_m"), "96");
  EXPECT_EQ(reason(kSmallFp16, "im2col/base_m:144,base_n:64,base_k:64,rows:6").nearest.at("base_m"),
            "128");
  const Reason n =
      reason(kSmallFp16, "im2col/base_m:128,base_n:112,base_k:64,rows:6");  // 6 rows of 16
  EXPECT_EQ(n.buffer, "base_n");
  EXPECT_EQ(n.nearest.at("base_n"), "96");
  EXPECT_EQ(n.nearest.at("rows"), "8");
  const Reason k = reason(kSmallFp16, "im2col/base_m:16,base_n:16,base_k:1168,rows:6,db_l0:1");
  EXPECT_EQ(k.buffer, "base_k");
  EXPECT_EQ(k.nearest.at("base_k"), "1152");
}

TEST(Rules, StripsAndSteps) {
  const Reason rows = reason(kLargeFp16, "im2col/base_m:128,base_n:256,base_k:64,rows:5");
  EXPECT_EQ(rows.buffer, "rows");
  EXPECT_EQ(rows.nearest.at("rows"), "4");
  EXPECT_EQ(
      reason(kLargeFp16, "im2col/base_m:128,base_n:256,base_k:64,rows:224").nearest.at("rows"),
      "222");
  const Reason step = reason(kLargeFp16, std::string(kPublished) + ",step_ka:3,step_kb:2");
  EXPECT_EQ(step.buffer, "step");
  EXPECT_EQ(step.nearest.at("step_ka"), "2");
  EXPECT_EQ(step.nearest.at("step_kb"), "1");
  EXPECT_EQ(
      reason(kLargeFp16, "im2col/base_m:16,base_n:16,base_k:1152,rows:6,db_l0:1,l1:1,step_kb:3")
          .buffer,
      "step_kb");
}

TEST(Rules, Counts) {
  for (const char* knob : {"db_l0", "db_l0c", "l1", "async"}) {
    const auto all = reasons(kLargeFp16, std::string(kPublished) + "," + knob + ":3");
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all.front().buffer, knob);
    EXPECT_EQ(all.front().nearest.at(knob), "2");
  }
  EXPECT_EQ(
      reason(kLargeFp16, std::string(kPublished) + ",deal_stride:41").nearest.at("deal_stride"),
      "40");
  EXPECT_EQ(reason(kLargeFp16, std::string(kPublished) + ",split_m:3").nearest.at("split_m"), "2");
  EXPECT_EQ(reason(kLargeFp16, std::string(kPublished) + ",ub_m:120").nearest.at("ub_m"), "112");
}

TEST(Rules, AllViolatedLimitsAreReported) {
  std::vector<std::string> buffers;
  for (const Reason& r :
       reasons(kLargeFp16, "im2col/base_m:256,base_n:512,base_k:128,rows:6,step_ka:3,step_kb:2")) {
    buffers.push_back(r.buffer);
  }
  EXPECT_EQ(buffers, (std::vector<std::string>{"L0A", "L0B", "L0C", "L1", "step"}));
}

TEST(Refusals, NameTheFieldAndTheVariantThatCan) {
  const auto refused = [](const std::string& key, Variant variant, DeviceKind kind) {
    std::string why = refusal(workload(key), variant, kind).value_or("not refused");
    Limits limits = kind == DeviceKind::npu ? npu_limits() : host_limits();
    Schedule any{variant, {}};
    EXPECT_STREQ(first_violation(workload(key), any, limits), "workload");
    EXPECT_EQ(infeasible_reasons(workload(key), any, limits).front().message, why);
    return why;
  };
  const std::string conv = "conv2d_pool/n:1,cin:8,h:9,w:9,cout:8,kh:3,kw:3,pool:1,";
  EXPECT_MENTIONS(refused(conv + "dtype:fp16,groups:8", Variant::im2col, DeviceKind::npu),
                  "groups");
  EXPECT_MENTIONS(refused(conv + "dtype:int8", Variant::im2col, DeviceKind::npu), "dtype");
  EXPECT_MENTIONS(refused(conv + "dtype:fp16,layout:nhwc", Variant::im2col, DeviceKind::npu),
                  "layout");
  EXPECT_MENTIONS(refused(conv + "dtype:fp32,groups:2", Variant::direct, DeviceKind::host),
                  "groups");
  EXPECT_MENTIONS(refused(kLargeFp16, Variant::k_folded, DeviceKind::npu), "use im2col");
  EXPECT_MENTIONS(refused(kLargeFp16, Variant::shift_reduce, DeviceKind::npu), "use im2col");
  const std::string bank = "conv1d_bank/n:1,l:300,cout:4,k:5,stride:1,dtype:fp32";
  EXPECT_MENTIONS(refused(bank, Variant::folded_channel_major, DeviceKind::host), "compact_k");
  EXPECT_EQ(refusal(workload(bank), Variant::direct, DeviceKind::host), std::nullopt);
  EXPECT_EQ(refusal(workload(kLargeFp16), Variant::im2col, DeviceKind::npu), std::nullopt);
  EXPECT_MENTIONS(refused(kLargeFp16, Variant::direct, DeviceKind::npu), "no such variant");
}

TEST(HostLimits, RegistersHoldThePublishedTiles) {
  const Limits host = host_limits();
  EXPECT_TRUE(feasible(kSincnet, "folded_channel_major/base_m:5,base_n:16,chains:6",
                       host));  // 30 accumulators
  EXPECT_TRUE(feasible(kSincnet, "folded_channel_major/base_m:8,base_n:48,m_tile:192", host));
  EXPECT_TRUE(feasible(kLargeFp32, "direct/base_m:64,base_n:6,base_k:64,rows:2", host));
  const Reason spill = reason(kLargeFp32, "direct/base_m:32,base_n:37,base_k:64,rows:2", host);
  EXPECT_EQ(spill.buffer, "registers");
  EXPECT_EQ(spill.needed_bytes, 76);
  EXPECT_EQ(spill.available_bytes, 32);
  EXPECT_EQ(spill.nearest.at("base_n"), "15");
  EXPECT_EQ(reason(kSincnet, "folded_channel_major/base_m:8,base_n:16,chains:6", host)
                .nearest.at("chains"),
            "3");
  // Half as many, half as long registers.
  EXPECT_FALSE(feasible(kLargeFp32, "direct/base_m:64,base_n:6,base_k:64,rows:2", host_limits(32)));
  EXPECT_TRUE(feasible(kLargeFp32, "direct/base_m:16,base_n:6,base_k:64,rows:2", host_limits(32)));
}

TEST(HostLimits, Rules) {
  const Limits host = host_limits();
  EXPECT_EQ(
      reason(kLargeFp32, "direct/base_m:24,base_n:6,base_k:64,rows:2", host).nearest.at("base_m"),
      "16");
  EXPECT_EQ(
      reason(kLargeFp32, "direct/base_m:64,base_n:6,base_k:63,rows:2", host).nearest.at("base_k"),
      "64");
  EXPECT_EQ(
      reason(kLargeFp32, "direct/base_m:64,base_n:6,base_k:64,rows:3", host).nearest.at("rows"),
      "2");
  EXPECT_EQ(reason(kLargeFp32, "direct/base_m:64,base_n:6,base_k:64,rows:2,unroll:40", host)
                .nearest.at("unroll"),
            "21");
  EXPECT_EQ(reason(kLargeFp32, "direct/base_m:64,base_n:3,base_k:64,rows:2,vec:12", host).buffer,
            "vec");
  EXPECT_TRUE(feasible(kLargeFp32, "direct/base_m:64,base_n:3,base_k:64,rows:2,vec:8", host));
  EXPECT_EQ(
      reason(kSmallFp16, "direct/base_m:16,base_n:15,base_k:64,rows:2", host).nearest.at("base_n"),
      "14");
  EXPECT_EQ(reason(kSincnet, "folded_channel_major/base_m:6,base_n:16", host).nearest.at("base_m"),
            "5");
  EXPECT_EQ(reason(kSincnet, "folded_channel_major/base_m:5,base_n:24,m_tile:96", host)
                .nearest.at("base_n"),
            "16");
  EXPECT_EQ(reason(kSincnet, "folded_channel_major/base_m:8,base_n:48", host).nearest.at("m_tile"),
            "144");
  EXPECT_EQ(reason(kSincnet, "folded_channel_major/base_m:5,base_n:16,chains:2", host)
                .nearest.at("chains"),
            "1");
  const Reason terms = reason(kSincnet, "folded_channel_major/base_m:5,base_n:16,terms:tri6", host);
  EXPECT_EQ(terms.nearest.at("terms"), "fp32");
  EXPECT_MENTIONS(terms.message, "tri6");
}

}  // namespace
}  // namespace tilewright
