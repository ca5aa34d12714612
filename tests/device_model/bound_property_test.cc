// SPDX-License-Identifier: Apache-2.0
// Laws of the two readings over random feasible schedules. RC_PARAMS may raise the counts.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "device_model/bound.h"
#include "device_model/costed_program.h"
#include "device_model/model.h"
#include "device_model/npu_model.h"
#include "device_model/simulator.h"
#include "devices.h"
#include "random_schedules.h"
#include "schedules/conv2d_im2col_lowering.h"

namespace tilewright {
namespace {

using namespace test;

std::int64_t random_seed() { return *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 62); }

struct Case {
  Workload workload;
  Schedule schedule;
};
Case random_case(std::mt19937_64& random, const Limits& limits) {
  const auto& all = im2col_workloads();
  const Workload& w = all[random() % all.size()];
  return {w, random_im2col(random, w, limits)};
}
std::string text_of(const Case& c) {
  return to_key(c.workload) + " " + to_text(c.schedule, c.workload, DeviceKind::npu);
}

// Totals by path and of products, over a program or over `times` items of a summary.
struct Totals {
  std::int64_t bytes[kPathCount] = {}, macs = 0, off_chip = 0;
  void add(const Costing& costing, const Work& work, std::int64_t times) {
    if (work.path != Path::none) bytes[static_cast<std::size_t>(work.path)] += times * work.bytes();
    if (work.kind == WorkKind::product) macs += times * work.macs();
    off_chip += times * costing.off_chip_bytes(work);
  }
};

// Quantiles of bound / simulated, over all shapes and of each. Printed, so that a change is seen.
TEST(Tightness, MedianAndTail) {
  const Device npu = device("ascend_910b4");
  const Limits limits = limits_of(npu);
  std::mt19937_64 random(20240501);
  std::vector<double> all;
  const auto report = [](const std::string& name, std::vector<double>& ratios) {
    std::sort(ratios.begin(), ratios.end());
    const auto quantile = [&](double q) {
      return ratios[static_cast<std::size_t>(q * static_cast<double>(ratios.size()))];
    };
    std::printf("%s: least %.3f, 5 %% %.3f, 25 %% %.3f, median %.4f\n", name.c_str(), ratios[0],
                quantile(0.05), quantile(0.25), quantile(0.5));
    EXPECT_LE(ratios.back(), 1.0) << name;
    EXPECT_GE(quantile(0.5), 0.9) << name;
    return quantile(0.05);
  };
  for (const Workload& w : im2col_workloads()) {
    CostModel model(w, npu);
    std::vector<double> ratios;
    for (int i = 0; i < 400; ++i) {
      const Schedule s = random_im2col(random, w, limits);
      const auto lower = static_cast<double>(model.bound_cycles(s));
      ratios.push_back(lower / static_cast<double>(model.simulated_cycles(s)));
    }
    all.insert(all.end(), ratios.begin(), ratios.end());
    EXPECT_GE(report(to_key(w), ratios), 0.7);
  }
  EXPECT_GE(report("all shapes", all), 0.8);
}

RC_GTEST_PROP(Law1, BoundNeverAboveSimulation, ()) {
  static const Device npu = device("ascend_910b4");
  static const Limits limits = limits_of(npu);
  std::mt19937_64 random(static_cast<std::uint64_t>(random_seed()));
  const Case c = random_case(random, limits);
  CostModel model(c.workload, npu);
  RC_LOG() << text_of(c);
  RC_ASSERT(model.bound_cycles(c.schedule) <= model.simulated_cycles(c.schedule));
}

// Also with other numbers: no part of the proof rests on this device's rates.
RC_GTEST_PROP(Law1, HoldsOnOtherDevices, ()) {
  std::mt19937_64 random(static_cast<std::uint64_t>(random_seed()));
  Device npu = device("ascend_910b4");
  for (const char* key :
       {"launch.call_us", "cube.start_cycles", "cube.latency_cycles", "vector.pool_us",
        "path.gm_l1.piece_cycles", "path.gm_l1.bytes_per_cycle", "path.gm_l1.latency_cycles",
        "path.l1_l0a.bytes_per_cycle", "path.l1_l0b.bytes_per_cycle", "path.l1_l0b.latency_cycles",
        "path.l0c_gm.bytes_per_cycle", "path.l0c_gm.latency_cycles", "off_chip.bytes_per_second",
        "cube.macs_per_cycle_fp16", "memory.l2.capacity_bytes"}) {
    double& value = npu.numbers.find(key)->second.value;
    value = std::round(value * std::exp2(static_cast<double>(random() % 9) - 4) * 16) / 16;
    if (std::string_view(key).ends_with("_bytes")) value = std::ceil(value);
  }
  const Case c = random_case(random, limits_of(npu));
  CostModel model(c.workload, npu);
  RC_LOG() << text_of(c) << "\n" << canonical_text(npu);
  RC_ASSERT(model.bound_cycles(c.schedule) <= model.simulated_cycles(c.schedule));
}

RC_GTEST_PROP(Law2, TrafficOfTreeIsClosedForm, ()) {
  static const Device npu = device("ascend_910b4");
  static const Costing costing(npu);
  static const Limits limits = limits_of(npu);
  std::mt19937_64 random(static_cast<std::uint64_t>(random_seed()));
  const Case c = random_case(random, limits);
  RC_LOG() << text_of(c);
  const auto& conv = std::get<Conv2dPool>(c.workload);
  TileProgram program;
  lower_im2col(conv, c.schedule, limits, program);
  Totals tree;
  program.for_each_operation(
      [&](const Operation& op, std::int64_t times) { tree.add(costing, op.work, times); });
  Totals closed;
  const std::int64_t items = im2col_item(conv, c.schedule, limits).dealing.busiest();
  WorkSummary summary;
  for (const bool first : {true, false}) {
    summarize_im2col_item(conv, c.schedule, limits, first, summary);
    const std::int64_t times = first ? 1 : items - 1;
    for (const WorkTerm& term : summary.terms) {
      closed.add(costing, term.work, times * term.count);
    }
    closed.add(costing, summary.pool, times);
    if (!first) continue;
    for (const Work& work : summary.once) closed.add(costing, work, 1);
  }
  for (std::size_t p = 0; p < kPathCount; ++p) RC_ASSERT(tree.bytes[p] == closed.bytes[p]);
  RC_ASSERT(tree.macs == closed.macs);
  RC_ASSERT(tree.off_chip == closed.off_chip);
}

// busy + stalls = end on every engine, and jumps change nothing, on real programs.
RC_GTEST_PROP(Simulation, JumpsAndStallsAddUp, ()) {
  static const Device npu = device("ascend_910b4");
  static const Costing costing(npu);
  static const Limits limits = limits_of(npu);
  std::mt19937_64 random(static_cast<std::uint64_t>(random_seed()));
  const Case c = random_case(random, limits);
  RC_LOG() << text_of(c);
  TileProgram program;
  lower_im2col(std::get<Conv2dPool>(c.workload), c.schedule, limits, program);
  SimProgram costed;
  cost_program(program, costing, costed);
  RC_ASSERT(defect_of(costed) == std::nullopt);
  Simulator simulator;
  std::vector<EngineTimes> jumped, walked;
  const std::int64_t end = simulator.run_with_stalls(costed, {}, jumped);
  RC_ASSERT(simulator.run(costed) == end);
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

}  // namespace
}  // namespace tilewright
