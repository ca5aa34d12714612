// SPDX-License-Identifier: Apache-2.0
// The knobs are real: for every knob of every variant's canonical text, two values give different
// lowered statements and the same output, bit for bit, which passes the gate.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "emission.h"

namespace tilewright {
namespace {

struct Change {
  std::string knob, value;
  std::string with;  // further knobs, of both schedules: without them this knob would mean nothing
  bool same_bits = true;
};

struct VariantCase {
  std::string name, kind, workload, variant;
  std::map<std::string, std::string> base;  // knobs of the base schedule
  std::vector<Change> changes;
  std::set<std::string> single_valued;  // knobs with one legal value
};

using Knobs = std::map<std::string, std::string>;

Knobs parse_knobs(const std::string& list) {
  Knobs knobs;
  std::stringstream items(list);
  for (std::string item; std::getline(items, item, ',');)
    knobs[item.substr(0, item.find(':'))] = item.substr(item.find(':') + 1);
  return knobs;
}

std::string schedule_text(const std::string& variant, const Knobs& knobs) {
  std::string text = variant + '/';
  for (const auto& [knob, value] : knobs) {
    if (text.back() != '/') text += ',';
    text += knob + ':' + value;
  }
  return text;
}

// Strided and padded, odd sizes, two images: nothing divides.
constexpr const char* kConv =
    "conv2d_pool/n:2,cin:10,h:15,w:35,cout:40,kh:3,kw:3,pool:2,dtype:fp32,pad:1";
constexpr const char* kConv16 =
    "conv2d_pool/n:2,cin:10,h:15,w:35,cout:40,kh:3,kw:3,pool:2,dtype:fp16,pad:1";
constexpr const char* kBank =
    "conv1d_bank/n:2,l:3000,cout:16,k:37,stride:5,dtype:fp32,symmetry:even_odd";

std::vector<VariantCase> variant_cases() {
  const std::vector<Change> twin{{"base_m", "32", "", true},
                                 {"base_n", "48", "", true},
                                 {"base_k", "32", "", true},
                                 {"step_ka", "2", "", true},
                                 {"step_kb", "2", "", true},
                                 {"rows", "2", "", true},
                                 {"db_l0", "1", "", true},
                                 {"db_l0c", "2", "", true},
                                 {"l1", "1", "", true},
                                 {"order", "n", "", true},
                                 {"load", "mdl", "step_ka:2,step_kb:2", true},
                                 {"deal", "cube_first", "", true},
                                 {"deal_stride", "3", "", true},
                                 {"split_m", "2", "", true},
                                 {"weights", "resident", "", true},
                                 {"async", "2", "", true},
                                 {"transdata", "device", "", true},
                                 {"ub_m", "16", "", true},
                                 {"ub_tiles", "4", "", true},
                                 {"pool_buf", "own", "", true}};
  const Knobs twin_base{{"base_m", "16"}, {"base_n", "32"}, {"base_k", "16"}, {"rows", "4"}};
  return {
      {"direct2d",
       "host",
       kConv,
       "direct",
       {{"base_m", "32"}, {"base_n", "4"}, {"base_k", "4"}, {"rows", "4"}},
       {{"base_m", "16", "", true},
        {"base_n", "5", "", true},
        {"base_k", "3", "", false},
        {"rows", "2", "", true},
        {"unroll", "4", "", true},
        {"par", "channels", "", true},
        {"par", "none", "", true},
        {"vec", "4", "", true}},
       {}},
      {"im2col", "npu", kConv16, "im2col", twin_base, twin, {}},
      {"folded",
       "host",
       kBank,
       "folded_channel_major",
       {{"base_m", "4"}, {"base_n", "16"}, {"m_tile", "64"}},
       {{"base_m", "3", "", true},
        {"base_n", "32", "", true},
        {"m_tile", "32", "", true},
        {"chains", "3", "", false},
        {"unroll", "3", "", true},
        {"fold", "group", "", true},
        {"par", "channels", "", true},
        {"par", "none", "", true},
        {"vec", "4", "", true}},
       {"terms"}},
      {"direct1d",
       "host",
       kBank,
       "direct",
       {{"base_m", "4"}, {"base_n", "16"}, {"m_tile", "64"}},
       {{"base_m", "3", "", true},
        {"base_n", "32", "", true},
        {"m_tile", "32", "", true},
        {"chains", "3", "", false},
        {"unroll", "3", "", true},
        {"par", "channels", "", true},
        {"par", "none", "", true},
        {"vec", "4", "", true}},
       {"terms"}},
  };
}

class KnobsAreReal : public testing::TestWithParam<VariantCase> {};

TEST_P(KnobsAreReal, TwoValuesOfEachDifferInTheStatementAndAgreeInTheOutput) {
  const VariantCase& variant = GetParam();
  KernelSet kernels(variant.name);
  std::vector<std::string> digests;  // of the lowered statements, in order of emission
  std::string canonical;
  const auto emit = [&](const Knobs& knobs) {
    const Json json =
        kernels.emit({variant.workload, schedule_text(variant.variant, knobs), variant.kind});
    digests.push_back(json.value("lowered_digest", ""));
    canonical = json.value("schedule", "");
  };

  std::set<std::string> changed = variant.single_valued;
  emit(variant.base);
  for (const Change& change : variant.changes) {
    changed.insert(change.knob);
    Knobs knobs = variant.base;
    for (const auto& [knob, value] : parse_knobs(change.with)) knobs[knob] = value;
    std::string before = digests.front();
    if (!change.with.empty()) {
      emit(knobs);
      before = digests.back();
    }
    knobs[change.knob] = change.value;
    emit(knobs);
    EXPECT_NE(digests.back(), before) << change.knob << ':' << change.value << " changes nothing";
  }
  for (const auto& [knob, value] : parse_knobs(canonical.substr(canonical.find('/') + 1))) {
    EXPECT_TRUE(changed.contains(knob)) << "this test does not change " << knob;
  }

  kernels.link();
  ASSERT_FALSE(HasFatalFailure());
  const std::vector<std::string> outputs = kernels.digests(variant.workload);
  ASSERT_EQ(outputs.size(), digests.size());
  std::size_t next = 1;
  for (const Change& change : variant.changes) {
    if (!change.with.empty()) {
      EXPECT_EQ(outputs[next++], outputs[0]) << change.with;
    }
    const std::string& output = outputs[next++];
    if (change.same_bits) {
      EXPECT_EQ(output, outputs[0]) << change.knob << ':' << change.value;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, KnobsAreReal, testing::ValuesIn(variant_cases()),
                         [](const auto& variant) { return variant.param.name; });

}  // namespace
}  // namespace tilewright
