// SPDX-License-Identifier: Apache-2.0
// The textbook chip: its worked figures, the closed form of the array, limits and grids.
#include <gtest/gtest.h>

#include <set>

#include "device_model/systolic_model.h"
#include "devices.h"
#include "schedules/space.h"

namespace tilewright {
namespace {

using namespace test;

Device chip(const std::vector<std::string>& set = {}) {
  return value_of(with_overrides(device("systolic_128"), set));
}
Schedule on_chip(std::string_view text, const Workload& w) {
  return schedule(text, w, DeviceKind::systolic);
}

TEST(Systolic, WorkedFiguresOfTheTextbook) {
  const Device d = chip();
  const Workload large = workload("matmul/m:128,n:128,k:64,dtype:fp16");
  const Schedule t1 = on_chip("blocked/base_m:128,base_n:128,base_k:64", large);
  EXPECT_EQ(block_bytes(large, t1, limits_of(d)), 32768);
  EXPECT_EQ(needed_bandwidth(large, t1, d), 156250000000.0);
  const Workload small = workload("matmul/m:64,n:64,k:64,dtype:fp16");
  const Schedule t3 = on_chip("blocked/base_m:64,base_n:64,base_k:64", small);
  EXPECT_EQ(block_bytes(small, t3, limits_of(d)), 16384);
  EXPECT_EQ(needed_bandwidth(small, t3, d), 312500000000.0);
  // 0.21 us of work at the flat peak; the smaller tile is beyond the pins.
  const Prediction p = value_of(simulate(large, t1, d));
  EXPECT_NEAR(p.engines.at("ARRAY").busy_us, 0.2097, 0.0001);
  EXPECT_GT(needed_bandwidth(small, t3, d), d.number("off_chip.bytes_per_second"));
  EXPECT_LT(needed_bandwidth(large, t1, d), d.number("off_chip.bytes_per_second"));
}

// A needed bandwidth beyond the pins shows: with large products of small blocks the channel binds.
TEST(Systolic, TheBindingResourceIsNamed) {
  const Device d = chip();
  const Workload w = workload("matmul/m:4096,n:4096,k:4096,dtype:fp16");
  const Prediction small =
      value_of(simulate(w, on_chip("blocked/base_m:64,base_n:64,base_k:64,db_l0c:2", w), d));
  EXPECT_EQ(small.bottleneck.substr(0, 8), "OFF_CHIP");
  // A copy of 8192 B takes 9.77 cycles, and holds the channel for 10; 64 passes a block of the
  // result wait for two of them each, 16 cycles of work in 20, and there is one to store.
  EXPECT_NEAR(*small.bandwidth_utilisation, 8192 / 838.8608 / 10, 1e-3);
  EXPECT_NEAR(*small.compute_utilisation, 64.0 * 16 / (64 * 20 + 10), 1e-3);
  const Prediction large =
      value_of(simulate(w, on_chip("blocked/base_m:256,base_n:256,base_k:64,db_l0c:2", w), d));
  EXPECT_EQ(large.bottleneck.substr(0, 5), "ARRAY");
  EXPECT_NEAR(*large.compute_utilisation, 1, 0.01);
}

// ceil(K/R)*ceil(N/C)*(M + 2R + C - 2) - 1, in the simulator and in the bound.
TEST(Systolic, ArrayCyclesAreTheClosedForm) {
  for (const std::int64_t side : {128, 32, 7}) {
    const std::string s = std::to_string(side);
    const Device d = chip({"memory.sram.capacity_bytes=1000000000000", "array.rows=" + s,
                           "array.columns=" + std::to_string(side + 3)});
    for (const char* key :
         {"matmul/m:1000,n:300,k:700,dtype:fp16", "matmul/m:1,n:1,k:1,dtype:fp16",
          "matmul/m:128,n:128,k:128,dtype:bf16", "matmul/m:5000,n:129,k:1,dtype:fp16",
          "conv2d_pool/n:2,cin:64,h:30,w:28,cout:200,kh:3,kw:3,pool:1,dtype:fp16,pad:1",
          "conv2d_pool/n:1,cin:3,h:57,w:61,cout:72,kh:7,kw:7,pool:2,dtype:fp16,stride:2"}) {
      const Workload w = workload(key);
      std::int64_t m = 0, n = 0, k = 0;
      if (const auto* c = std::get_if<Conv2dPool>(&w)) {
        m = c->n * (c->hout() / c->pool * c->pool) * c->wout();
        n = c->cout;
        k = c->cin * c->kh * c->kw;
      } else {
        const auto& product = std::get<Matmul>(w);
        m = product.m;
        n = product.n;
        k = product.k;
      }
      const std::int64_t passes = ((k + side - 1) / side) * ((n + side + 2) / (side + 3));
      const std::int64_t cycles = passes * (m + 2 * side + side + 3 - 2) - 1;
      const double us = static_cast<double>(cycles) / d.number("clock_mhz");
      for (const char* text : {"systolic/", "systolic/db_l0c:2"}) {
        const Schedule schedule = on_chip(text, w);
        const Prediction upper = value_of(simulate(w, schedule, d));
        const Prediction lower = value_of(bound(w, schedule, d));
        EXPECT_DOUBLE_EQ(upper.engines.at("ARRAY").busy_us, us) << key << side;
        EXPECT_DOUBLE_EQ(lower.engines.at("ARRAY").busy_us, us) << key << side;
        EXPECT_EQ(upper.macs, m * n * k);
        EXPECT_EQ(upper.traffic_bytes, lower.traffic_bytes);
      }
    }
  }
}

// Well-tuned products reach 70 % of the peak.
TEST(Systolic, HandSchedulesUseTheArray) {
  const Device d = chip();
  for (const char* key :
       {"matmul/m:8192,n:8192,k:8192,dtype:fp16", "matmul/m:2048,n:2048,k:2048,dtype:fp16",
        "conv2d_pool/n:1,cin:256,h:224,w:224,cout:256,kh:3,kw:3,pool:2,dtype:fp16",
        "conv2d_pool/n:8,cin:128,h:56,w:56,cout:128,kh:3,kw:3,pool:1,dtype:fp16,pad:1"}) {
    const Workload w = workload(key);
    for (const Variant variant : variants_of(w, DeviceKind::systolic)) {
      const Schedule s = value_of(hand_schedule(w, variant, limits_of(d)));
      const Prediction p = value_of(simulate(w, s, d));
      std::printf("%s %s: %s\n", key, to_text(s, w, DeviceKind::systolic).c_str(),
                  p.bottleneck.c_str());
      EXPECT_GE(*p.compute_utilisation, 0.7) << key;
      EXPECT_LE(*p.compute_utilisation, 1.0) << key;
      EXPECT_LE(*p.bandwidth_utilisation, 1.0) << key;
    }
  }
}

TEST(Systolic, SramKeepsTwoBlocksOfEachOperand) {
  const Limits limits = limits_of(chip());
  const Workload w = workload("matmul/m:8192,n:8192,k:8192,dtype:fp16");
  // 2*(8192*128 + 128*128)*2 B and 8192*128*4 B of sums.
  const auto reasons = infeasible_reasons(w, on_chip("systolic/", w), limits);
  ASSERT_EQ(reasons.size(), 1U);
  EXPECT_EQ(reasons[0].buffer, "SRAM");
  EXPECT_EQ(reasons[0].needed_bytes, 2 * (8192 * 128 + 128 * 128) * 2 + 8192 * 128 * 4);
  // 4 B a position of A's two blocks and of the sums, times 128.
  EXPECT_EQ(reasons[0].nearest.at("base_m"), "4032");
  EXPECT_TRUE(infeasible_reasons(w, on_chip("systolic/base_m:4032", w), limits).empty());
  EXPECT_FALSE(infeasible_reasons(w, on_chip("systolic/base_m:4033", w), limits).empty());
  const Limits triple = limits_of(chip({"memory.sram.slots=3"}));
  EXPECT_FALSE(infeasible_reasons(w, on_chip("systolic/base_m:4032", w), triple).empty());
}

TEST(Systolic, Refusals) {
  const Workload grouped =
      workload("conv2d_pool/n:1,cin:8,h:9,w:9,cout:8,kh:3,kw:3,pool:1,dtype:fp16,groups:8");
  EXPECT_NE(refusal(grouped, Variant::systolic, DeviceKind::systolic), std::nullopt);
  EXPECT_NE(
      refusal(workload("matmul/m:8,n:8,k:8,dtype:int8"), Variant::blocked, DeviceKind::systolic),
      std::nullopt);
  EXPECT_EQ(simulate(grouped, on_chip("systolic/", grouped), chip()).error().message.substr(0, 10),
            "infeasible");
}

TEST(Systolic, GridIsWhatItCounts) {
  const Limits limits = limits_of(chip({"memory.sram.capacity_bytes=60000"}));
  for (const char* key :
       {"matmul/m:200,n:96,k:130,dtype:fp16", "matmul/m:70,n:300,k:64,dtype:fp32"}) {
    const Workload w = workload(key);
    for (const Variant variant : variants_of(w, DeviceKind::systolic)) {
      for (const Grid grid : {Grid::coarse, Grid::full}) {
        std::set<Schedule> seen;
        for_each_point(w, variant, limits, grid, [&](const Schedule& s) {
          EXPECT_EQ(first_violation(w, s, limits), nullptr);
          EXPECT_TRUE(seen.insert(s).second);
        });
        const SpaceSize size = space_size(w, variant, limits, grid);
        EXPECT_EQ(static_cast<std::int64_t>(seen.size()), size.feasible);
        if (variant == Variant::systolic || grid == Grid::coarse) continue;
        // Every tuple, one by one.
        std::int64_t points = 0, feasible = 0;
        const auto& product = std::get<Matmul>(w);
        const std::string text = "blocked/base_m:16,base_n:16,base_k:16";
        Schedule s = on_chip(text, w);
        for (s[Knob::db_l0c] = 1; s[Knob::db_l0c] <= 2; ++s[Knob::db_l0c])
          for (s[Knob::base_m] = 16; s[Knob::base_m] < product.m + 16; s[Knob::base_m] += 16)
            for (s[Knob::base_n] = 16; s[Knob::base_n] < product.n + 16; s[Knob::base_n] += 16)
              for (s[Knob::base_k] = 16; s[Knob::base_k] < product.k + 16; s[Knob::base_k] += 16) {
                ++points;
                feasible += first_violation(w, s, limits) == nullptr;
              }
        EXPECT_EQ(size.points, points);
        EXPECT_EQ(size.feasible, feasible);
      }
    }
  }
}

// No number of the file is for show: twice its value changes a time or a limit.
TEST(Systolic, EveryNumberMatters) {
  const Device original = chip();
  for (const auto& [key, number] : original.numbers) {
    const Device changed = chip({key + "=" + std::to_string(2 * number.value)});
    bool matters = !(limits_of(changed) == limits_of(original));
    for (const char* dtype : {"fp16", "fp32"}) {
      const Workload w = workload(std::string("matmul/m:500,n:500,k:500,dtype:") + dtype);
      const Schedule s = on_chip("systolic/", w);
      matters |= value_of(simulate(w, s, changed)).us != value_of(simulate(w, s, original)).us;
    }
    EXPECT_TRUE(matters) << key;
  }
}

TEST(Systolic, EndsAtOnceWhateverTheSize) {
  const Workload w = workload("matmul/m:1000000,n:1000000,k:1000000,dtype:fp16");
  const Device d = chip();
  const Schedule s = on_chip("blocked/base_m:16,base_n:16,base_k:16", w);
  EXPECT_LE(*value_of(bound(w, s, d)).cycles, *value_of(simulate(w, s, d)).cycles);
}

}  // namespace
}  // namespace tilewright
