// SPDX-License-Identifier: Apache-2.0
// Laws of `blocked` over random feasible schedules.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "device_model/costed_program.h"
#include "device_model/model.h"
#include "device_model/simulator.h"
#include "devices.h"
#include "matmul_totals.h"
#include "random_matmul.h"
#include "schedules/matmul_lowering.h"
#include "schedules/matmul_npu.h"

namespace tilewright {
namespace {

using namespace test;

struct Case {
  Workload workload;
  Schedule schedule;
};
Case random_case(const Limits& limits) {
  std::mt19937_64 random(
      static_cast<std::uint64_t>(*rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 62)));
  const auto& all = matmul_workloads();
  const Workload& w = all[random() % all.size()];
  Case c{w, random_blocked(random, w, limits)};
  RC_LOG() << to_key(w) + " " + to_text(c.schedule, w, DeviceKind::npu);
  return c;
}

TEST(MatmulTightness, MedianAndTail) {
  const Device npu = device("ascend_910b1");
  const Limits limits = limits_of(npu);
  std::mt19937_64 random(20240501);
  std::vector<double> all;
  for (const Workload& w : matmul_workloads()) {
    CostModel model(w, npu);
    std::vector<double> ratios;
    for (int i = 0; i < 200; ++i) {
      const Schedule s = random_blocked(random, w, limits);
      const auto lower = static_cast<double>(model.bound_cycles(s));
      ratios.push_back(lower / static_cast<double>(model.simulated_cycles(s)));
    }
    std::sort(ratios.begin(), ratios.end());
    all.insert(all.end(), ratios.begin(), ratios.end());
    const double p5 = ratios[ratios.size() / 20], median = ratios[ratios.size() / 2];
    std::printf("%s: min %.3f, 5th percentile %.3f, median %.4f\n", to_key(w).c_str(), ratios[0],
                p5, median);
    EXPECT_GE(median, 0.9) << to_key(w);
    EXPECT_GE(p5, 0.7) << to_key(w);
    EXPECT_LE(ratios.back(), 1.0) << to_key(w);
  }
  std::sort(all.begin(), all.end());
  std::printf("all: 5th percentile %.3f, median %.4f\n", all[all.size() / 20], all[all.size() / 2]);
}

RC_GTEST_PROP(MatmulLaw1, BoundNeverAboveSimulation, ()) {
  static const Device npu = device("ascend_910b1");
  static const Limits limits = limits_of(npu);
  const Case c = random_case(limits);
  CostModel model(c.workload, npu);
  RC_ASSERT(model.bound_cycles(c.schedule) <= model.simulated_cycles(c.schedule));
}

RC_GTEST_PROP(MatmulLaw1, HoldsOnOtherDevices, ()) {
  Device npu = device("ascend_910b1");
  for (const char* key :
       {"cube.start_cycles", "cube.latency_cycles", "path.gm_l1.piece_cycles",
        "path.gm_l1.bytes_per_cycle", "path.gm_l1.latency_cycles", "path.gm_l1.shared_piece_cycles",
        "path.l1_l0a.bytes_per_cycle", "path.l1_l0b.bytes_per_cycle", "path.l1_l0b.latency_cycles",
        "path.l0c_gm.bytes_per_cycle", "path.l0c_gm.latency_cycles", "off_chip.bytes_per_second",
        "cube.macs_per_cycle_fp16", "memory.l2.capacity_bytes"}) {
    double& value = npu.numbers.find(key)->second.value;
    value = std::round(value * std::exp2(*rc::gen::inRange(-4, 5)) * 16) / 16;
    if (std::string_view(key).ends_with("_bytes")) value = std::ceil(value);
  }
  const Case c = random_case(limits_of(npu));
  RC_LOG() << canonical_text(npu);
  CostModel model(c.workload, npu);
  RC_ASSERT(model.bound_cycles(c.schedule) <= model.simulated_cycles(c.schedule));
}

// busy + stalls = end on every engine, and jumps change nothing.
RC_GTEST_PROP(MatmulSimulation, JumpsAndStallsAddUp, ()) {
  static const Device npu = device("ascend_910b1");
  static const Costing costing(npu);
  static const Limits limits = limits_of(npu);
  const Case c = random_case(limits);
  const auto& w = std::get<Matmul>(c.workload);
  const CoreGrid grid(w, c.schedule);
  RC_PRE(block_count(w, c.schedule) < 20'000);
  TileProgram program;
  lower_matmul(w, c.schedule, limits, {grid.single_m, grid.single_n}, program);
  RC_ASSERT(defect_of(program) == std::nullopt);
  SimProgram costed;
  cost_program(program, costing, costed);
  RC_ASSERT(defect_of(costed) == std::nullopt);
  Simulator simulator;
  std::vector<EngineTimes> jumped, walked;
  const std::int64_t end = simulator.run_with_stalls(costed, {}, jumped);
  Simulator::Options walk;
  walk.uniform_jumps = walk.germ_jumps = false;
  RC_ASSERT(simulator.run_with_stalls(costed, walk, walked) == end);
  RC_ASSERT(jumped == walked);
  for (const EngineTimes& times : jumped) {
    std::int64_t sum = times.busy;
    for (const std::int64_t stall : times.stalls) sum += stall;
    RC_ASSERT(sum == end);
  }
}

RC_GTEST_PROP(MatmulTotals, EqualAPlainLoopOverBlocks, ()) {
  static const Device npu = device("ascend_910b1");
  static const Costing costing(npu);
  static const Limits limits = limits_of(npu);
  const Case c = random_case(limits);
  const auto& w = std::get<Matmul>(c.workload);
  RC_PRE(block_count(w, c.schedule) < 20'000);
  const CoreGrid grid(w, c.schedule);
  for (const MatmulPart& part :
       {MatmulPart{grid.single_m, grid.single_n}, MatmulPart{grid.last_m, grid.last_n}}) {
    const CoreTotals naive = naive_totals(w, c.schedule, limits, costing, part);
    const CoreTotals tree = tree_totals(w, c.schedule, limits, costing, part);
    const CoreTotals closed = closed_totals(w, c.schedule, limits, costing, part);
    RC_LOG() << naive.text() << tree.text() << closed.text();
    RC_ASSERT(naive == tree);
    RC_ASSERT(naive == closed);
  }
}

}  // namespace
}  // namespace tilewright
