// SPDX-License-Identifier: Apache-2.0
// The filter bank on a matrix unit with a permute unit: counts, limits, programs.
#include "schedules/conv1d_mxu.h"

#include <gtest/gtest.h>

#include "schedules/conv1d_mxu_lowering.h"
#include "tests/golden.h"
#include "tests/schedules/samples.h"

namespace tilewright {
namespace {

Schedule on_mxu(const std::string& text, const Workload& w) {
  return schedule(text, w, DeviceKind::mxu);
}
TileProgram lowered(const Workload& w, const std::string& text,
                    const Limits& limits = mxu_limits()) {
  TileProgram program;
  lower_bank(std::get<Conv1dBank>(w), on_mxu(text, w), limits, program);
  return program;
}

struct Counts {
  std::int64_t issues = 0, in = 0, out = 0, prepared = 0, rebuilt = 0;
};
Counts counts(const TileProgram& program) {
  Counts c;
  program.for_each_operation([&](const Operation& op, std::int64_t times) {
    const Work& work = op.work;
    if (work.kind == WorkKind::product)
      c.issues += times * (work.m / 8) * (work.n / 128) * (work.k / 128) * work.rows;
    if (work.path == Path::dma_in) c.in += times * work.bytes();
    if (work.path == Path::dma_out) c.out += times * work.bytes();
    if (work.kind == WorkKind::prepare) c.prepared += times * work.m * work.rows;
    if (work.kind == WorkKind::rebuild) c.rebuilt += times * work.m;
  });
  return c;
}
std::int64_t planned_issues(const Workload& w, const std::string& text) {
  const Schedule s = on_mxu(text, w);
  const Limits limits = mxu_limits();
  return BankPlan(std::get<Conv1dBank>(w), s, limits).issues();
}

TEST(BankOnMxu, IssuesOfTheReferenceLayer) {
  const Workload w = workload(kSincnet);
  struct Row {
    const char* text;
    std::int64_t issues;
  };
  for (const Row& row :
       {Row{"lane_masked/terms:hp9", 94735683}, Row{"lane_masked/m_tile:64,terms:hp9", 94735683},
        Row{"compact_k/terms:hp9", 754866}, Row{"folded_position_major/", 21 * 1997 * 2 * 6},
        Row{"folded_position_major/lifetime:instant,m_tile:64", 21 * 1997 * 2 * 6},
        Row{"folded_channel_major/", 157500},
        Row{"folded_channel_major/m_tile:512,stages:4", 157500}}) {
    EXPECT_EQ(planned_issues(w, row.text), row.issues) << row.text;
    EXPECT_EQ(counts(lowered(w, row.text)).issues, row.issues) << row.text;
  }
}

TEST(BankOnMxu, PreparedOnceOrForEveryUse) {
  const Workload w = workload(kSincnet);
  constexpr std::int64_t kRows = 21 * 1997 * 8, kColumns = 21 * 125 * 128;
  EXPECT_EQ(counts(lowered(w, "compact_k/terms:hp9")).rebuilt, kRows * 18);
  EXPECT_EQ(counts(lowered(w, "folded_position_major/")).prepared, kRows * 2 * 3);
  EXPECT_EQ(counts(lowered(w, "folded_position_major/lifetime:instant")).prepared, kRows * 2 * 6);
  EXPECT_EQ(counts(lowered(w, "folded_channel_major/")).prepared, kColumns * 2 * 3);
}

// Windows of 128 positions start at multiples of 1280 samples: no slack on the grid of 32.
TEST(BankOnMxu, BytesEqualTheClosedForm) {
  const Workload w = workload(kSincnet);
  const Counts c = counts(lowered(w, "folded_channel_major/m_tile:128"));
  constexpr std::int64_t kWeights = 80 * 251 + 16;      // rounded up to 32 elements
  constexpr std::int64_t kWindow = 1536, kTail = 1280;  // 127*10+251, 102*10+251 rounded up
  EXPECT_EQ(c.in, 4 * (kWeights + 21 * (124 * kWindow + kTail)));
  EXPECT_EQ(c.out, 4 * 80 * 21 * (124 * 128 + 128));
}

TEST(BankOnMxu, TilesOffTheGridReadAndWriteMore) {
  const Workload w = workload(kSincnet);
  const Limits limits = mxu_limits();
  const Schedule small = on_mxu("lane_masked/m_tile:8", w);
  const BankPlan plan(std::get<Conv1dBank>(w), small, limits);
  // Starts at multiples of 80 samples, up to 16 off the grid: 16 + 7*10 + 251 = 337.
  EXPECT_EQ(plan.window_elements(8), 352);
  EXPECT_EQ(plan.result_row_elements(8), 32);  // up to 24 off the grid
}

TEST(BankOnMxu, StageHoldsPartsOfBothParitiesAndItsWindow) {
  const Workload w = workload(kSincnet);
  const Schedule s = on_mxu("folded_channel_major/m_tile:512,stages:4", w);
  const Limits limits = mxu_limits();
  const BankPlan plan(std::get<Conv1dBank>(w), s, limits);
  EXPECT_EQ(plan.stage_bytes(), 2 * 3 * 128 * 512 * 2);
  EXPECT_EQ(plan.raw_bytes(), 4 * 5376);
  EXPECT_TRUE(infeasible_reasons(w, s, limits).empty());
}

TEST(BankOnMxu, TooManyStagesNameTheSumAndWhatFits) {
  const Workload w = workload(kSincnet);
  const Schedule s = on_mxu("folded_channel_major/m_tile:1024,stages:4", w);
  const auto reasons = infeasible_reasons(w, s, mxu_limits());
  ASSERT_EQ(reasons.size(), 1U);
  const Reason& reason = reasons.front();
  EXPECT_EQ(reason.buffer, "on_chip");
  EXPECT_EQ(reason.needed_bytes,
            4 * (2 * 3 * 128 * 1024 * 2 + 4 * 10496 + 80 * 1024 * 4) + 80 * 126 * 3 * 2);
  EXPECT_EQ(reason.available_bytes, 4194304);
  EXPECT_EQ(reason.nearest.at("stages"), "2");
  EXPECT_EQ(reason.nearest.at("m_tile"), "512");
  EXPECT_EQ(reason.nearest.at("terms"), "hp1");
}

TEST(BankOnMxu, RulesNameTheNearestValue) {
  const Workload w = workload(kSincnet);
  const auto nearest = [&](const std::string& text, const char* knob) {
    const auto reasons = infeasible_reasons(w, on_mxu(text, w), mxu_limits());
    EXPECT_EQ(reasons.size(), 1U) << text;
    return reasons.empty() ? std::string("none") : reasons.front().nearest.at(knob);
  };
  EXPECT_EQ(nearest("folded_channel_major/m_tile:200", "m_tile"), "256");
  EXPECT_EQ(nearest("folded_position_major/m_tile:12", "m_tile"), "8");
  EXPECT_EQ(nearest("folded_position_major/prep_groups:3", "prep_groups"), "2");
  EXPECT_EQ(nearest("compact_k/stages:70", "stages"), "64");
  EXPECT_EQ(nearest("compact_k/terms:fp32", "terms"), "hp9");
}

TEST(BankOnMxu, FoldedFormsNeedTheSymmetryTheOthersDoNot) {
  const Workload w = workload("conv1d_bank/n:2,l:900,cout:6,k:31,stride:3,dtype:fp32");
  for (const Variant variant : {Variant::folded_position_major, Variant::folded_channel_major})
    EXPECT_MENTIONS(refusal(w, variant, DeviceKind::mxu).value_or(""), "use compact_k");
  EXPECT_EQ(refusal(w, Variant::compact_k, DeviceKind::mxu), std::nullopt);
  EXPECT_EQ(refusal(w, Variant::lane_masked, DeviceKind::mxu), std::nullopt);
}

TEST(BankOnMxu, DefaultsAndHandSchedules) {
  const Workload w = workload(kSincnet);
  const auto full = [&](const std::string& text) {
    return to_text(on_mxu(text, w), w, DeviceKind::mxu);
  };
  EXPECT_EQ(full("lane_masked/"), "lane_masked/m_tile:8,stages:2,terms:tri6");
  EXPECT_EQ(full("folded_position_major/"),
            "folded_position_major/m_tile:8,stages:2,terms:tri6,prep_groups:2,lifetime:resident");
  EXPECT_EQ(full("folded_channel_major/"),
            "folded_channel_major/m_tile:128,stages:2,terms:tri6,prep_groups:2");
  const auto hand = hand_schedule(w, Variant::folded_channel_major, mxu_limits());
  EXPECT_EQ(to_text(value_of(hand), w, DeviceKind::mxu),
            "folded_channel_major/m_tile:512,stages:4,terms:tri6,prep_groups:4");
}

TEST(BankOnMxu, AGlobalBarrierLimitsTheGroupsInFlight) {
  const Workload w = workload(kSincnet);
  Limits barrier = mxu_limits();
  barrier.group_limit = 2;
  const auto groups = [&](const Limits& limits, const std::string& text) {
    const TileProgram program = lowered(w, text, limits);
    for (const Ring& ring : program.rings()) {
      if (std::string(ring.name) == "group") return ring.slots;
    }
    return std::int64_t{0};
  };
  EXPECT_EQ(groups(mxu_limits(), "folded_channel_major/prep_groups:4"), 4);
  EXPECT_EQ(groups(barrier, "folded_channel_major/prep_groups:4"), 2);
  EXPECT_EQ(groups(barrier, "folded_channel_major/prep_groups:1"), 1);
}

TEST(BankOnMxuGolden, ProgramsOfEveryVariant) {
  const Workload w = workload(kSincnet);
  struct Row {
    const char *name, *text;
  };
  for (const Row& row :
       {Row{"lane_masked", "lane_masked/terms:hp9"}, Row{"compact_k", "compact_k/terms:hp9"},
        Row{"folded_position_major", "folded_position_major/m_tile:256"},
        Row{"folded_position_major_instant", "folded_position_major/m_tile:256,lifetime:instant"},
        Row{"folded_channel_major", "folded_channel_major/m_tile:512,stages:4,prep_groups:4"}}) {
    const TileProgram program = lowered(w, row.text);
    const MemoryUse chip{Memory::on_chip, 0, mxu_limits().on_chip};
    EXPECT_EQ(defect_of(program, {&chip, 1}), std::nullopt) << row.text;
    expect_golden(std::string("schedules/golden/mxu_") + row.name + ".txt",
                  to_text(on_mxu(row.text, w), w, DeviceKind::mxu) + "\n" + to_text(program));
  }
}

}  // namespace
}  // namespace tilewright
