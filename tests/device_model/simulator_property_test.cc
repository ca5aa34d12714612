// SPDX-License-Identifier: Apache-2.0
// jumped == walked == an independent interpreter, over random programs; and the laws of monotony.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "device_model/simulator.h"
#include "random_program.h"

namespace tilewright {
namespace {

using namespace test;
using Options = Simulator::Options;

SimProgram any_program(std::mt19937_64& random) {
  ProgramShape shape;
  if (random() % 3 == 0) {
    shape.long_loops = true;
    shape.deepest = 2;
  }
  if (random() % 7 == 0) shape.most_slots = 8;
  return random_program(random, shape);
}
std::mt19937_64 any_random() {
  return std::mt19937_64(
      static_cast<std::uint64_t>(*rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 62)));
}

bool same(const SimProgram& program, const Options& options, const Interpreted& reference) {
  Simulator simulator;
  if (simulator.run(program, options) != reference.end) return false;
  for (std::size_t e = 0; e < program.engines; ++e) {
    if (simulator.engine_time(e) != reference.engines[e]) return false;
  }
  std::vector<EngineTimes> times;
  return simulator.run_with_stalls(program, options, times) == reference.end &&
         times == reference.times;
}

RC_GTEST_PROP(RandomPrograms, WalkingIsTheReference, ()) {
  auto random = any_random();
  const SimProgram program = any_program(random);
  RC_ASSERT(defect_of(program) == std::nullopt);
  RC_ASSERT(same(program, Options{false, false}, interpret(program)));
}

RC_GTEST_PROP(RandomPrograms, UniformJumpsAreExact, ()) {
  auto random = any_random();
  const SimProgram program = any_program(random);
  RC_ASSERT(same(program, Options{true, false}, interpret(program)));
}

RC_GTEST_PROP(RandomPrograms, GermJumpsAreExact, ()) {
  auto random = any_random();
  const SimProgram program = any_program(random);
  RC_ASSERT(same(program, Options{true, true}, interpret(program)));
}

RC_GTEST_PROP(RandomPrograms, FasterIsNeverSlower, ()) {
  auto random = any_random();
  SimProgram program = any_program(random);
  Simulator simulator;
  const std::int64_t end = simulator.run(program);
  const auto engine = static_cast<std::uint8_t>(random() % program.engines);
  for (SimOp& op : program.ops) {
    const std::int64_t latency = [&] {
      std::int64_t longest = 0;
      for (std::size_t k = 0; k < op.engine_count; ++k) longest = std::max(longest, op.holds[k]);
      return op.duration - longest;
    }();
    for (std::size_t k = 0; k < op.engine_count; ++k) {
      if (op.engines[k] == engine) op.holds[k] /= 2;
    }
    op.finish(latency);
  }
  RC_ASSERT(simulator.run(program) <= end);
}

// A use of a slot before the first take of its ring means another slot where there is one more.
RC_GTEST_PROP(RandomPrograms, OneMoreSlotIsNeverSlower, ()) {
  auto random = any_random();
  ProgramShape shape;
  shape.all_taken = true;
  SimProgram program = random_program(random, shape);
  const std::size_t ring = random() % program.slots.size();
  Simulator simulator;
  const std::int64_t end = simulator.run(program);
  ++program.slots[ring];
  RC_ASSERT(simulator.run(program) <= end);
}

// The rules that make jumps exact are needed: without each of them some program comes out wrong.
TEST(Ablations, EveryRuleIsNeeded) {
  using Ablation = Options::Ablation;
  for (const Ablation ablation :
       {Ablation::first_iteration, Ablation::slots, Ablation::germ_limit}) {
    std::mt19937_64 random(7);
    int wrong = 0;
    for (int i = 0; i < 20000 && wrong == 0; ++i) {
      const SimProgram program = any_program(random);
      Options options;
      options.ablation = ablation;
      Simulator simulator;
      wrong += simulator.run(program, options) != simulator.run(program, Options{false, false});
    }
    EXPECT_GT(wrong, 0) << "ablation " << static_cast<int>(ablation);
  }
}

}  // namespace
}  // namespace tilewright
