// SPDX-License-Identifier: Apache-2.0
#include "schedules/schedule.h"

#include <gtest/gtest.h>

#include "schedules/variants.h"
#include "tests/schedules/samples.h"

namespace tilewright {
namespace {

constexpr const char* kPublished = "im2col/base_m:128,base_n:256,base_k:64,rows:6,load:norm";

std::string npu_text(const std::string& key, const std::string& text) {
  const Workload w = workload(key);
  return to_text(schedule(text, w, DeviceKind::npu), w, DeviceKind::npu);
}
std::string npu_error(const std::string& text) {
  return usage_message(parse_schedule(text, workload(kLargeFp16), DeviceKind::npu));
}

TEST(Schedule, FullCanonicalTextOfThePublishedPoint) {
  EXPECT_EQ(npu_text(kLargeFp16, kPublished),
            "im2col/"
            "base_m:128,base_n:256,base_k:64,step_ka:1,step_kb:1,rows:6,db_l0:2,db_l0c:1,l1:2,"
            "order:m,load:norm,"
            "deal:paired,deal_stride:0,split_m:1,weights:stream,async:1,transdata:host,ub_m:128,ub_"
            "tiles:3,"
            "pool_buf:inplace");
}

TEST(Schedule, DefaultsThatDependOnTheWorkload) {
  EXPECT_MENTIONS(npu_text(kLargeFp32, kPublished), ",ub_m:64,");
  EXPECT_MENTIONS(
      npu_text("conv2d_pool/n:1,cin:8,h:9,w:9,cout:20,kh:3,kw:3,pool:1,dtype:fp16", kPublished),
      ",ub_m:32,");
  EXPECT_MENTIONS(npu_text(kLargeFp16, "k_folded/base_m:128,base_n:224,base_k:64,rows:2"),
                  ",ub_tiles:2,pool_buf:own");
}

TEST(Schedule, HostTexts) {
  const Workload conv = workload(kLargeFp32);
  EXPECT_EQ(to_text(schedule("direct/rows:2,base_k:64,base_n:6,base_m:64", conv, DeviceKind::host),
                    conv, DeviceKind::host),
            "direct/base_m:64,base_n:6,base_k:64,rows:2,unroll:2,par:rows,vec:0");
  const Workload bank = workload(kSincnet);
  EXPECT_EQ(to_text(schedule("folded_channel_major/base_m:5,base_n:16,chains:6,m_tile:192", bank,
                             DeviceKind::host),
                    bank, DeviceKind::host),
            "folded_channel_major/"
            "base_m:5,base_n:16,m_tile:192,terms:fp32,chains:6,unroll:2,fold:both,par:rows,vec:0");
  EXPECT_EQ(to_text(schedule("direct/base_m:8,base_n:48", bank, DeviceKind::host), bank,
                    DeviceKind::host),
            "direct/base_m:8,base_n:48,m_tile:128,terms:fp32,chains:1,unroll:2,par:rows,vec:0");
}

TEST(Schedule, EveryKnobHasANameAMeaningAndDistinctWords) {
  for (std::size_t index = 0; index < kKnobCount; ++index) {
    const Knob knob = static_cast<Knob>(index);
    EXPECT_EQ(find_knob(knob_name(knob)), knob);
    EXPECT_FALSE(knob_meaning(knob).empty()) << knob_name(knob);
    const auto words = knob_words(knob);
    for (std::size_t word = 0; word < words.size(); ++word) {
      EXPECT_EQ(knob_value_text(knob, static_cast<std::int32_t>(word)), words[word]);
    }
  }
  EXPECT_EQ(knob_value_text(Knob::terms, word::fp32), "fp32");
  EXPECT_EQ(knob_value_text(Knob::terms, word::tri6), "tri6");
  EXPECT_EQ(knob_value_text(Knob::par, word::none), "none");
  EXPECT_EQ(find_knob("based_m"), std::nullopt);
}

TEST(Schedule, EveryRowListsItsKnobsInCanonicalOrder) {
  for (const VariantRow* row : variant_rows()) {
    ASSERT_NE(row->refuses, nullptr);
    for (std::size_t index = 1; index < row->knobs.size(); ++index) {
      EXPECT_LT(row->knobs[index - 1].knob, row->knobs[index].knob) << variant_name(row->variant);
    }
  }
}

TEST(ScheduleErrors, UnknownNamesOfferTheNearest) {
  EXPECT_MENTIONS(npu_error("im2cl/base_m:16"),
                  "unknown variant 'im2cl' of conv2d_pool on npu; nearest is 'im2col'");
  EXPECT_MENTIONS(npu_error("im2col/bas_m:16"),
                  "unknown knob 'bas_m'; nearest of im2col is 'base_m' (character 8)");
  EXPECT_MENTIONS(npu_error("im2col/load:nrm"),
                  "load can not be 'nrm'; nearest is 'norm' (of norm, mdl)");
}

TEST(ScheduleErrors, AScheduleOfAnotherVariantOrDevice) {
  EXPECT_MENTIONS(npu_error("direct/base_m:16,base_n:6,base_k:64,rows:2"),
                  "variant 'direct' is for host, not for npu");
  EXPECT_MENTIONS(npu_error("folded_channel_major/base_m:5"),
                  "unknown variant 'folded_channel_major' of conv2d_pool");
  EXPECT_MENTIONS(npu_error("im2col/base_m:128,chains:3"),
                  "knob 'chains' is not one of im2col on npu; its knobs are base_m");
  EXPECT_MENTIONS(npu_error("im2col/step_m:1"), "knob 'step_m' is not one of im2col");
  EXPECT_MENTIONS(
      usage_message(parse_schedule(kPublished, workload(kSincnet), DeviceKind::systolic)),
      "no variant of conv1d_bank on systolic yet");
  EXPECT_MENTIONS(usage_message(parse_schedule("direct/base_m:8,base_n:16,fold:both",
                                               workload(kSincnet), DeviceKind::host)),
                  "knob 'fold' is not one of direct");
}

TEST(ScheduleErrors, ValuesThatAreNone) {
  EXPECT_MENTIONS(npu_error("im2col/base_m:0"),
                  "base_m must be between 1 and 2,147,483,647, not 0; nearest is 1");
  EXPECT_MENTIONS(npu_error("im2col/base_m:-16"), "base_m must be between 1");
  EXPECT_MENTIONS(npu_error("im2col/base_m:2147483648"), "nearest is 2147483647");
  EXPECT_MENTIONS(npu_error("im2col/base_m:64x"), "base_m must be a whole number, not '64x'");
  EXPECT_MENTIONS(npu_error("im2col/deal_stride:-1"), "deal_stride must be between 0");
  EXPECT_MENTIONS(npu_error("im2col/base_m:64,base_m:64"),
                  "base_m is given twice; keep one (character 18)");
  EXPECT_MENTIONS(npu_error("im2col/base_m"), "expected name:value at character 8");
}

TEST(ScheduleErrors, KnobsWithoutDefaultMustBeWritten) {
  EXPECT_MENTIONS(npu_error("im2col"), "base_m is missing and has no default; add base_m:N");
  EXPECT_MENTIONS(npu_error("im2col/"), "base_m is missing");
  EXPECT_MENTIONS(npu_error("im2col/base_m:128,base_n:256,base_k:64"), "rows is missing");
}

}  // namespace
}  // namespace tilewright
