// SPDX-License-Identifier: Apache-2.0
// Laws of the filter bank's model over random layers, schedules and chips.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "device_model/model.h"
#include "device_model/mxu_bound.h"
#include "device_model/mxu_costing.h"
#include "device_model/simulator.h"
#include "schedules/conv1d_mxu_lowering.h"
#include "schedules/space.h"
#include "schedules/variants.h"
#include "tests/schedules/samples.h"

namespace tilewright {
namespace {

constexpr std::array kVariants{Variant::lane_masked, Variant::compact_k,
                               Variant::folded_position_major, Variant::folded_channel_major};

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(engine_);
  }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return *(values.begin() + between(0, std::ssize(values) - 1));
  }

 private:
  std::mt19937_64 engine_;
};

Device mxu128() {
  return value_of(
      load_device("mxu128", std::string(TILEWRIGHT_SOURCE_DIR) + "/device_model/devices"));
}
Device any_device(Random& random) {
  Device device = mxu128();
  for (auto& [key, number] : device.numbers) {
    if (key.starts_with("mutually_exclusive") || key == "address_state.global_barrier") {
      number.value = static_cast<double>(random.between(0, 1));
    } else if (key.ends_with("_cycles") || key.ends_with("per_cycle")) {
      number.value *= random.one_of({0.25, 0.5, 1.0, 1.0, 1.0, 2.0, 4.0});
    }
  }
  return device;
}
Conv1dBank any_bank(Random& random) {
  Conv1dBank w;
  w.n = random.between(1, 5);
  w.cin = random.between(0, 3) == 0 ? random.between(2, 150) : 1;
  w.cout = 2 * random.between(1, 100);
  w.k = random.between(1, 400);
  w.stride = random.between(1, 12);
  w.dil = random.between(1, 2);
  w.pad_l = random.between(0, 20);
  w.pad_r = random.between(0, 20);
  w.dtype = DType::fp32;
  w.symmetry = Symmetry::even_odd;
  w.l = w.dil * (w.k - 1) + 1 + random.between(0, 20000);
  return w;
}

// A feasible schedule of the variant, or nothing after many tries.
std::optional<Schedule> any_schedule(Random& random, Variant variant, const Workload& w,
                                     const Limits& limits) {
  const std::int64_t step =
      variant == Variant::folded_channel_major ? limits.columns : limits.issue_rows;
  for (int tries = 0; tries < 200; ++tries) {
    Schedule s = default_schedule(*find_row(w, variant, DeviceKind::mxu), w);
    const std::int64_t most = ceil_div(std::get<Conv1dBank>(w).lout(), step);
    const std::int64_t size = random.one_of<std::int64_t>({1, 2, 4, 8, 16, 64, 200});
    s[Knob::m_tile] = static_cast<std::int32_t>(step * random.between(1, std::min(most, size)));
    s[Knob::stages] = static_cast<std::int32_t>(random.between(1, 8));
    s[Knob::terms] = static_cast<std::int32_t>(random.between(word::hp1, word::hp9));
    if (find_knob(*find_row(w, variant, DeviceKind::mxu), Knob::prep_groups) != nullptr)
      s[Knob::prep_groups] = random.one_of({1, 2, 4});
    if (variant == Variant::folded_position_major)
      s[Knob::lifetime] = static_cast<std::int32_t>(random.between(0, 1));
    if (first_violation(w, s, limits) == nullptr) return s;
  }
  return std::nullopt;
}

struct Case {
  Device device;
  Workload workload;
  Schedule schedule;
  Limits limits;
  TileProgram program;
  SimProgram costed;
  WorkSummary summary;

  std::string text() const {
    return to_key(workload) + " " + to_text(schedule, workload, DeviceKind::mxu) + " " +
           canonical_text(device);
  }
};
std::optional<Case> any_case(Random& random, Variant variant, const Device& device,
                             const Workload& w) {
  Case c{device, w, {}, limits_of(device), {}, {}, {}};
  const auto s = any_schedule(random, variant, w, c.limits);
  if (!s) return std::nullopt;
  c.schedule = *s;
  lower_bank(std::get<Conv1dBank>(w), *s, c.limits, c.program);
  summarize_bank(std::get<Conv1dBank>(w), *s, c.limits, c.summary);
  cost_program(c.program, MxuCosting(device), c.costed);
  return c;
}
std::optional<Case> drawn_case() {
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const Variant variant = *rc::gen::elementOf(kVariants);
  const Device device = any_device(random);
  return any_case(random, variant, device, Workload(any_bank(random)));
}

RC_GTEST_PROP(BankLaws, BoundIsNeverAboveTheSimulation, ()) {
  const auto c = drawn_case();
  RC_PRE(c.has_value());
  const std::int64_t bound = mxu_bound(c->summary, MxuCosting(c->device)).ticks;
  const std::int64_t simulated = Simulator().run(c->costed);
  if (bound > simulated) RC_LOG() << c->text();
  RC_ASSERT(bound <= simulated);
}

RC_GTEST_PROP(BankLaws, ProgramsAreSound, ()) {
  const auto c = drawn_case();
  RC_PRE(c.has_value());
  const MemoryUse chip{Memory::on_chip, 0, c->limits.on_chip};
  const auto defect = defect_of(c->program, {&chip, 1});
  if (defect) RC_LOG() << *defect << " " << c->text();
  RC_ASSERT(!defect.has_value());
  RC_ASSERT(!defect_of(c->costed).has_value());
}

RC_GTEST_PROP(BankLaws, ProgramAndSummaryDoTheSameWork, ()) {
  const auto c = drawn_case();
  RC_PRE(c.has_value());
  const MxuCosting costing(c->device);
  const auto total = [&](auto&& visit_all) {
    std::array<std::int64_t, kMxuEngines + 3> sums{};
    visit_all([&](const Work& work, std::int64_t times) {
      const MxuCost cost = costing.cost(work);
      for (std::size_t e = 0; e < kMxuEngines; ++e) {
        if ((cost.engines >> e) & 1U) sums[e] += times * cost.hold;
      }
      if (work.path == Path::dma_in) sums[kMxuEngines] += times * work.bytes();
      if (work.path == Path::dma_out) sums[kMxuEngines + 1] += times * work.bytes();
      if (work.kind == WorkKind::product) sums[kMxuEngines + 2] += times * costing.issues(work);
    });
    return sums;
  };
  const auto tree = total([&](auto&& visit) {
    c->program.for_each_operation(
        [&](const Operation& op, std::int64_t times) { visit(op.work, times); });
  });
  const auto closed = total([&](auto&& visit) {
    for (const WorkTerm& term : c->summary.terms) visit(term.work, term.count);
  });
  RC_ASSERT(tree == closed);
  const BankPlan plan(std::get<Conv1dBank>(c->workload), c->schedule, c->limits);
  RC_ASSERT(tree[kMxuEngines + 2] == plan.issues());
}

RC_GTEST_PROP(BankLaws, JumpsAreExact, ()) {
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  Conv1dBank w = any_bank(random);
  w.l = w.dil * (w.k - 1) + 1 + random.between(0, 2000);
  const auto c = any_case(random, *rc::gen::elementOf(kVariants), any_device(random), Workload(w));
  RC_PRE(c.has_value());
  Simulator jumping, walking;
  const Simulator::Options walk{false, false, Simulator::Options::Ablation::none};
  RC_ASSERT(jumping.run(c->costed) == walking.run(c->costed, walk));
}

RC_GTEST_PROP(BankLaws, AFasterEngineIsNeverSlower, ()) {
  const auto c = drawn_case();
  RC_PRE(c.has_value());
  const std::int64_t before = Simulator().run(c->costed);
  Device faster = c->device;
  const std::string key = *rc::gen::element<std::string>(
      "permute.tile_cycles", "permute.use_cycles", "transpose.tile_cycles", "mxu.issue_cycles",
      "dma.start_cycles", "permute.latency_cycles", "mutually_exclusive.transpose_mxu");
  faster.numbers.find(key)->second.value *= key.starts_with("mutually") ? 0 : 0.5;
  SimProgram costed;
  cost_program(c->program, MxuCosting(faster), costed);
  RC_ASSERT(Simulator().run(costed) <= before);
}

// Random feasible schedules of the reference layer on the shipped chip, every variant for itself.
TEST(BankTightness, MedianAndFifthPercentileOfEveryVariant) {
  const Workload w = workload(kSincnet);
  const Device device = mxu128();
  for (const Variant variant : kVariants) {
    Random random(1);
    CostModel model(w, device);
    std::vector<double> ratios;
    for (int i = 0; i < 300; ++i) {
      const auto s = any_schedule(random, variant, w, limits_of(device));
      ASSERT_TRUE(s.has_value());
      const auto bound = model.bound_cycles(*s), simulated = model.simulated_cycles(*s);
      ASSERT_LE(bound, simulated) << to_text(*s, w, DeviceKind::mxu);
      ratios.push_back(static_cast<double>(bound) / static_cast<double>(simulated));
    }
    std::sort(ratios.begin(), ratios.end());
    RecordProperty(std::string(variant_name(variant)) + "_p5", std::to_string(ratios[15]));
    RecordProperty(std::string(variant_name(variant)) + "_p50", std::to_string(ratios[150]));
    EXPECT_GE(ratios[150], 0.9) << variant_name(variant);
    EXPECT_GE(ratios[15], 0.7) << variant_name(variant);
  }
}

// The same over other layers and other chips, all variants together.
TEST(BankTightness, OnOtherLayersAndChips) {
  Random random(2);
  std::vector<double> ratios;
  while (ratios.size() < 1500) {
    const Variant variant = kVariants[static_cast<std::size_t>(random.between(0, 3))];
    const auto c = any_case(random, variant, any_device(random), Workload(any_bank(random)));
    if (!c) continue;
    ratios.push_back(static_cast<double>(mxu_bound(c->summary, MxuCosting(c->device)).ticks) /
                     static_cast<double>(Simulator().run(c->costed)));
  }
  std::sort(ratios.begin(), ratios.end());
  RecordProperty("p5", std::to_string(ratios[75]));
  RecordProperty("p50", std::to_string(ratios[750]));
  EXPECT_GE(ratios[750], 0.9);
  EXPECT_GE(ratios[75], 0.7);
}

}  // namespace
}  // namespace tilewright
