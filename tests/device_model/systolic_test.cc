// SPDX-License-Identifier: Apache-2.0
// The textbook chip: its worked figures, the closed form of the array, and the laws over random
// schedules.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "device_model/simulator.h"
#include "device_model/systolic_bound.h"
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

// ---- Laws ----

struct Case {
  Device device;
  Workload workload;
  Schedule schedule;
};

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = [] {
    std::vector<Workload> list;
    for (const char* key :
         {"matmul/m:8192,n:8192,k:8192,dtype:fp16", "matmul/m:1000,n:3000,k:700,dtype:fp16",
          "matmul/m:100,n:4096,k:333,dtype:fp32", "matmul/m:5000,n:80,k:64,dtype:bf16",
          "matmul/m:129,n:129,k:129,dtype:fp16",
          "conv2d_pool/n:1,cin:256,h:224,w:224,cout:256,kh:3,kw:3,pool:2,dtype:fp16",
          "conv2d_pool/n:2,cin:3,h:57,w:61,cout:72,kh:7,kw:7,pool:1,dtype:fp16,stride:2,pad:3",
          "conv2d_pool/n:8,cin:512,h:14,w:14,cout:100,kh:1,kw:1,pool:1,dtype:fp32"})
      list.push_back(test::workload(key));
    return list;
  }();
  return all;
}

Case random_case(std::mt19937_64& random) {
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    const auto span = static_cast<std::uint64_t>(std::max(low, high) - low + 1);
    return low + static_cast<std::int64_t>(random() % span);
  };
  const auto number = [](const char* key, std::int64_t value) {
    return std::string(key) + "=" + std::to_string(value);
  };
  Case c{chip({number("array.rows", 16 << pick(0, 4)), number("array.columns", 16 << pick(0, 4)),
               number("memory.sram.slots", pick(1, 3)),
               number("memory.sram.capacity_bytes", 1 << pick(20, 24)),
               number("off_chip.bytes_per_second", 64'000'000'000 << pick(0, 4))}),
         workloads()[static_cast<std::size_t>(pick(0, std::ssize(workloads()) - 1))],
         {}};
  const auto variants = variants_of(c.workload, DeviceKind::systolic);
  const Variant variant = variants[static_cast<std::size_t>(pick(0, std::ssize(variants) - 1))];
  const Limits limits = limits_of(c.device);
  const ProductSizes sizes = product_sizes(c.workload);
  c.schedule.variant = variant;
  while (true) {
    const auto set = [&](Knob knob, std::int64_t extent) {
      c.schedule[knob] =
          static_cast<std::int32_t>(pick(1, std::min<std::int64_t>(extent, 1 << pick(4, 11))));
    };
    set(Knob::base_m, sizes.m);
    if (variant == Variant::blocked) {
      set(Knob::base_n, sizes.n);
      set(Knob::base_k, sizes.k);
    }
    c.schedule[Knob::db_l0c] = static_cast<std::int32_t>(pick(1, 2));
    if (first_violation(c.workload, c.schedule, limits) == nullptr) return c;
  }
}
Case random_case() {
  std::mt19937_64 random(
      static_cast<std::uint64_t>(*rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 62)));
  Case c = random_case(random);
  RC_LOG() << to_key(c.workload) << " " << to_text(c.schedule, c.workload, DeviceKind::systolic)
           << "\n"
           << canonical_text(c.device);
  return c;
}

RC_GTEST_PROP(SystolicLaws, BoundNeverAboveSimulation, ()) {
  const Case c = random_case();
  CostModel model(c.workload, c.device);
  RC_ASSERT(model.bound_cycles(c.schedule) <= model.simulated_cycles(c.schedule));
}

TEST(SystolicLaws, Tightness) {
  std::mt19937_64 random(7);
  for (const Variant variant : {Variant::blocked, Variant::systolic}) {
    std::vector<double> ratios;
    while (ratios.size() < 1000) {
      const Case c = random_case(random);
      if (c.schedule.variant != variant) continue;
      CostModel model(c.workload, c.device);
      ratios.push_back(static_cast<double>(model.bound_cycles(c.schedule)) /
                       static_cast<double>(model.simulated_cycles(c.schedule)));
    }
    std::sort(ratios.begin(), ratios.end());
    std::printf("%s: min %.3f, 5th percentile %.3f, median %.4f\n",
                std::string(variant_name(variant)).c_str(), ratios[0], ratios[50], ratios[500]);
    EXPECT_GE(ratios[500], 0.9);
    EXPECT_GE(ratios[50], 0.7);
    EXPECT_LE(ratios.back(), 1.0);
  }
}

// Totals of the tree are those of the closed form and of a plain loop over blocks; the program has
// no defect; jumps change nothing; busy + stalls = end.
RC_GTEST_PROP(SystolicLaws, ProgramsAreSoundAndTotalsAgree, ()) {
  const Case c = random_case();
  const SystolicCosting costing(c.device);
  const Limits limits = limits_of(c.device);
  const SystolicPlan plan = systolic_plan(c.workload, c.schedule, limits);
  RC_PRE(plan.m().count() * plan.n().count() * plan.k().count() < 20'000);
  SystolicBound naive;
  bool first = true;
  for (std::int64_t m = 0; m < plan.product.m; m += plan.base.m) {
    for (std::int64_t n = 0; n < plan.product.n; n += plan.base.n) {
      const std::int64_t rows = std::min(plan.base.m, plan.product.m - m);
      const std::int64_t columns = std::min(plan.base.n, plan.product.n - n);
      for (std::int64_t k = 0; k < plan.product.k; k += plan.base.k) {
        const std::int64_t depth = std::min(plan.base.k, plan.product.k - k);
        naive.busy[0] +=
            costing.hold(plan.multiply(rows, columns, depth)) + (plan.stationary && !first ? 1 : 0);
        naive.busy[1] +=
            costing.hold(plan.load_a(rows, depth)) + costing.hold(plan.load_b(columns, depth));
        naive.loaded_bytes += (rows + columns) * depth * plan.element_bytes;
        naive.macs += rows * columns * depth;
        first = false;
      }
      naive.busy[1] += costing.hold(plan.store(rows, columns));
      naive.stored_bytes += rows * columns * plan.element_bytes;
    }
  }
  const SystolicBound closed = systolic_bound(plan, costing);
  RC_ASSERT(closed.busy == naive.busy);
  RC_ASSERT(closed.loaded_bytes == naive.loaded_bytes);
  RC_ASSERT(closed.stored_bytes == naive.stored_bytes);
  RC_ASSERT(closed.macs == naive.macs);

  TileProgram program;
  lower_systolic(plan, program);
  const MemoryUse sram{Memory::on_chip, 0, limits.sram};
  const auto defect = defect_of(program, {&sram, 1});
  RC_LOG() << defect.value_or("no defect");
  RC_ASSERT(!defect);
  SimProgram costed;
  cost_program(program, costing, costed);
  RC_ASSERT(!defect_of(costed));
  Simulator simulator;
  std::vector<EngineTimes> jumped, walked;
  const std::int64_t end = simulator.run_with_stalls(costed, {}, jumped);
  Simulator::Options walk;
  walk.uniform_jumps = walk.germ_jumps = false;
  RC_ASSERT(simulator.run_with_stalls(costed, walk, walked) == end);
  RC_ASSERT(jumped == walked);
  for (std::size_t e = 0; e < kSystolicEngines; ++e) {
    RC_ASSERT(jumped[e].busy == naive.busy[e]);
    std::int64_t sum = jumped[e].busy;
    for (const std::int64_t stall : jumped[e].stalls) sum += stall;
    RC_ASSERT(sum == end);
  }
}

}  // namespace
}  // namespace tilewright
