// SPDX-License-Identifier: Apache-2.0
// Laws of the systolic variants over random feasible schedules on random chips.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>

#include "device_model/model.h"
#include "device_model/simulator.h"
#include "device_model/systolic_bound.h"
#include "devices.h"
#include "schedules/space.h"

namespace tilewright {
namespace {

using namespace test;

Device chip(const std::vector<std::string>& set) {
  return value_of(with_overrides(device("systolic_128"), set));
}

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
