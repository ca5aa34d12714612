// SPDX-License-Identifier: Apache-2.0
#include "schedules/space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/schedules/samples.h"

namespace tilewright {
namespace {

std::vector<Schedule> points(const Workload& w, Variant variant, const Limits& limits) {
  std::vector<Schedule> all;
  for_each_point(w, variant, limits, Grid::coarse, [&](const Schedule& s) { all.push_back(s); });
  return all;
}

std::int64_t sum_of(const std::map<std::string, std::int64_t>& counts) {
  std::int64_t sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

TEST(Space, VariantsInCanonicalOrder) {
  EXPECT_EQ(variants_of(workload(kLargeFp16), DeviceKind::npu),
            (std::vector{Variant::shift_reduce, Variant::k_folded, Variant::im2col}));
  EXPECT_EQ(variants_of(workload(kLargeFp16), DeviceKind::host), std::vector{Variant::direct});
  EXPECT_EQ(variants_of(workload(kSincnet), DeviceKind::host),
            (std::vector{Variant::direct, Variant::folded_channel_major}));
  EXPECT_TRUE(variants_of(workload(kSincnet), DeviceKind::npu).empty());
}

TEST(Space, TheFullLegalGridOfTheSpecification) {
  const SpaceSize size =
      space_size(workload(kLargeFp16), Variant::im2col, npu_limits(), Grid::full);
  EXPECT_EQ(size.feasible, 162602304);
  EXPECT_EQ(size.points, size.feasible + sum_of(size.by_limit));
}

TEST(Space, CoarseGridsHaveThousandsOfFeasiblePoints) {
  for (const char* key : {kLargeFp16, kLargeFp32, kSmallFp16}) {
    const Workload w = workload(key);
    const SpaceSize size = space_size(w, Variant::im2col, npu_limits(), Grid::coarse);
    const std::vector<Schedule> all = points(w, Variant::im2col, npu_limits());
    EXPECT_GE(size.feasible, 1000) << key;
    EXPECT_EQ(size.feasible, std::ssize(all)) << key;
    EXPECT_TRUE(std::all_of(all.begin(), all.end(), [&](const Schedule& s) {
      return first_violation(w, s, npu_limits()) == nullptr;
    })) << key;
  }
}

TEST(Space, TheOrderOfPointsIsFixed) {
  const Workload w = workload(kSmallFp16);
  const std::vector<Schedule> once = points(w, Variant::im2col, npu_limits());
  EXPECT_EQ(once, points(w, Variant::im2col, npu_limits()));
  EXPECT_EQ(std::set<Schedule>(once.begin(), once.end()).size(), once.size());  // none twice
  // From the outside: rows, base_m; from the inside: deal, load, order.
  EXPECT_EQ(to_text(once.front(), w, DeviceKind::npu).substr(0, 46),
            "im2col/base_m:64,base_n:32,base_k:64,step_ka:1");
  EXPECT_EQ(once[0][Knob::deal], word::paired);
  EXPECT_EQ(once[1][Knob::deal], word::cube_first);
  EXPECT_EQ(once[2][Knob::load], word::mdl);
  EXPECT_EQ(once[4][Knob::order], word::order_n);
  EXPECT_EQ(once.back()[Knob::rows], 12);
}

TEST(Space, PublishedTilesAreOnTheCoarseGrid) {
  for (const auto& [key, text] :
       {std::pair{kLargeFp16, "im2col/base_m:128,base_n:256,base_k:64,rows:6"},
        std::pair{
            kLargeFp16,
            "im2col/"
            "base_m:256,base_n:128,base_k:64,step_ka:4,step_kb:8,rows:4,load:mdl,deal:cube_first"},
        std::pair{kLargeFp32, "im2col/base_m:64,base_n:256,base_k:32,rows:6"}}) {
    const Workload w = workload(key);
    const std::vector<Schedule> all = points(w, Variant::im2col, npu_limits());
    EXPECT_NE(std::find(all.begin(), all.end(), schedule(text, w, DeviceKind::npu)), all.end())
        << text;
  }
}

// The pruned enumeration counts what a walk over every tuple would: the same axes, one question per
// tuple.
TEST(Space, PrunedCountsEqualAskingEveryTuple) {
  const Workload w =
      workload("conv2d_pool/n:2,cin:24,h:12,w:40,cout:150,kh:3,kw:3,pool:2,dtype:fp16");
  Limits limits = npu_limits();
  limits.l1 = 40960;
  limits.l0a = limits.l0b = 16384;
  limits.l0c = 32768;
  const Schedule hand = value_of(hand_schedule(w, Variant::im2col, limits));
  SpaceSize asked;
  Schedule s = hand;
  const auto ask = [&] {
    ++asked.points;
    const char* limit = first_violation(w, s, limits);
    ++(limit == nullptr ? asked.feasible : asked.by_limit[limit]);
  };
  for (s[Knob::rows] = 2; s[Knob::rows] <= 10; s[Knob::rows] += 2)
    for (s[Knob::base_m] = 64; s[Knob::base_m] <= 160; s[Knob::base_m] += 64)
      for (s[Knob::base_n] = 64; s[Knob::base_n] <= std::min(512, 48 * s[Knob::rows]);
           s[Knob::base_n] += 64)
        for (s[Knob::base_k] = 64; s[Knob::base_k] <= 224; s[Knob::base_k] += 64)
          for (int slots = 0; slots < 8; ++slots)
            for (s[Knob::step_ka] = 1;
                 s[Knob::step_ka] <= (216 + s[Knob::base_k] - 1) / s[Knob::base_k];
                 ++s[Knob::step_ka])
              for (s[Knob::step_kb] = 1;
                   s[Knob::step_kb] <= (216 + s[Knob::base_k] - 1) / s[Knob::base_k];
                   ++s[Knob::step_kb])
                for (int free = 0; free < 8; ++free) {
                  s[Knob::db_l0] = 1 + (slots & 1);
                  s[Knob::db_l0c] = 1 + (slots >> 1 & 1);
                  s[Knob::l1] = 1 + (slots >> 2);
                  s[Knob::order] = free & 1;
                  s[Knob::load] = free >> 1 & 1;
                  s[Knob::deal] = free >> 2;
                  ask();
                }
  const SpaceSize pruned = space_size(w, Variant::im2col, limits, Grid::coarse);
  EXPECT_EQ(pruned.points, asked.points);
  EXPECT_EQ(pruned.feasible, asked.feasible);
  EXPECT_EQ(pruned.by_limit, asked.by_limit);
  for (const char* limit : {"L0A", "L0B", "L0C", "L1", "step"})
    EXPECT_GT(pruned.by_limit.count(limit), 0U) << limit;
}

TEST(Space, AWholeSpaceThatUbRefuses) {
  Limits limits = npu_limits();
  limits.ub = 1024;
  const SpaceSize size = space_size(workload(kSmallFp16), Variant::im2col, limits, Grid::coarse);
  EXPECT_EQ(size.feasible, 0);
  EXPECT_GT(size.by_limit.at("UB"), 0);
  EXPECT_TRUE(points(workload(kSmallFp16), Variant::im2col, limits).empty());
}

TEST(Space, HugeLayersEndAtOnce) {
  const Workload w =
      workload("conv2d_pool/n:1000,cin:400000,h:100,w:100000,cout:10,kh:1,kw:1,pool:1,dtype:fp16");
  const SpaceSize size = space_size(w, Variant::im2col, npu_limits(), Grid::coarse);
  EXPECT_GT(size.points, 0);
  EXPECT_EQ(size.feasible, 0);  // one row is wider than UB
  EXPECT_FALSE(hand_schedule(w, Variant::im2col, npu_limits()));
}

TEST(Space, TinyLayersHaveAPoint) {
  for (const char* key : {"conv2d_pool/n:1,cin:1,h:1,w:1,cout:1,kh:1,kw:1,pool:1,dtype:fp16",
                          "conv2d_pool/n:1,cin:3,h:5,w:5,cout:7,kh:3,kw:3,pool:3,dtype:fp32"}) {
    const Workload w = workload(key);
    EXPECT_GT(space_size(w, Variant::im2col, npu_limits(), Grid::coarse).feasible, 0) << key;
    EXPECT_TRUE(hand_schedule(w, Variant::im2col, npu_limits())) << key;
    EXPECT_GT(space_size(w, Variant::direct, host_limits(), Grid::coarse).feasible, 0) << key;
    EXPECT_TRUE(hand_schedule(w, Variant::direct, host_limits())) << key;
  }
}

TEST(HandSchedule, AsPublishedAndMeasured) {
  const auto hand = [](const char* key, Variant variant, const Limits& limits) {
    const Workload w = workload(key);
    return value_of(hand_schedule(w, variant, limits));
  };
  const auto expect = [](const char* key, const char* text, const Schedule& s, DeviceKind kind) {
    const Workload w = workload(key);
    EXPECT_EQ(to_text(s, w, kind), to_text(schedule(text, w, kind), w, kind));
  };
  expect(kLargeFp16, "im2col/base_m:128,base_n:256,base_k:64,rows:6",
         hand(kLargeFp16, Variant::im2col, npu_limits()), DeviceKind::npu);
  expect(kLargeFp32, "im2col/base_m:64,base_n:256,base_k:32,rows:6",
         hand(kLargeFp32, Variant::im2col, npu_limits()), DeviceKind::npu);
  expect(kLargeFp32, "direct/base_m:64,base_n:6,base_k:64,rows:2",
         hand(kLargeFp32, Variant::direct, host_limits()), DeviceKind::host);
  expect(kSincnet, "folded_channel_major/base_m:5,base_n:16,m_tile:192,chains:6",
         hand(kSincnet, Variant::folded_channel_major, host_limits()), DeviceKind::host);
}

TEST(Space, HostGridsAreSmallAndStartWithTheHandSchedule) {
  for (const std::int64_t vector_bytes : {64, 32}) {
    const Limits limits = host_limits(vector_bytes);
    for (const char* key : {kLargeFp16, kLargeFp32, kSmallFp16, kSincnet}) {
      const Workload w = workload(key);
      for (const Variant variant : variants_of(w, DeviceKind::host)) {
        const std::vector<Schedule> all = points(w, variant, limits);
        EXPECT_GE(all.size(), 6U) << key << variant_name(variant);
        EXPECT_LE(all.size(), 10U) << key << variant_name(variant);
        EXPECT_EQ(all.front(), value_of(hand_schedule(w, variant, limits)))
            << key << variant_name(variant);
        EXPECT_EQ(space_size(w, variant, limits, Grid::coarse).points, std::ssize(all));
      }
    }
  }
}

}  // namespace
}  // namespace tilewright
