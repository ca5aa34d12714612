// SPDX-License-Identifier: Apache-2.0
// Small programs by hand.
#include "device_model/simulator.h"

#include <gtest/gtest.h>

#include "random_program.h"

namespace tilewright {
namespace {

using test::interpret;
using Options = Simulator::Options;

class Program : public SimProgram {
 public:
  Program(std::size_t engine_count, std::vector<std::int64_t> ring_slots) {
    engines = engine_count;
    slots = std::move(ring_slots);
  }
  Program& op(std::uint8_t engine, std::int64_t hold, std::int64_t latency = 0,
              std::vector<Access> accesses = {}) {
    SimOp o;
    o.engines[0] = engine;
    o.holds[0] = hold;
    o.engine_count = 1;
    for (const Access& access : accesses) o.accesses[o.access_count++] = access;
    o.finish(latency);
    nodes.push_back(
        {static_cast<std::int32_t>(ops.size()), static_cast<std::int32_t>(nodes.size()) + 1, 1});
    ops.push_back(o);
    return *this;
  }
  Program& also(std::uint8_t engine, std::int64_t hold) {
    SimOp& o = ops.back();
    const std::int64_t latency = o.duration - o.holds[0];
    o.engines[o.engine_count] = engine;
    o.holds[o.engine_count++] = hold;
    o.finish(latency);
    return *this;
  }
  Program& loop(std::int64_t count) {
    open_.push_back(nodes.size());
    nodes.push_back({-1, 0, count});
    return *this;
  }
  Program& end() {
    nodes[open_.back()].end = static_cast<std::int32_t>(nodes.size());
    open_.pop_back();
    return *this;
  }

 private:
  std::vector<std::size_t> open_;
};

constexpr std::uint8_t kFill = verb::take | verb::write;
Access fill(std::uint8_t ring) { return {ring, kFill, 0}; }
Access read_of(std::uint8_t ring, std::uint8_t lag = 0) { return {ring, verb::read, lag}; }

std::int64_t run(const SimProgram& program) {
  Simulator simulator;
  const std::int64_t end = simulator.run(program);
  EXPECT_EQ(end, simulator.run(program, Options{false, false}));
  EXPECT_EQ(end, simulator.run(program, Options{true, false}));
  return end;
}

// Producer 100, consumer 101: with one slot they alternate, with two the consumer sets the pace.
TEST(Simulator, ProducerAndConsumer) {
  for (const std::int64_t slots : {1, 2}) {
    Program p(2, {slots});
    p.loop(2000).op(0, 100, 0, {fill(0)}).op(1, 101, 0, {read_of(0)}).end();
    EXPECT_EQ(run(p), slots == 1 ? 2000 * 201 : 100 + 2000 * 101);
  }
}

// A copy's start-up is latency: hidden while two copies are in flight.
TEST(Simulator, LatencyIsHiddenByASecondSlot) {
  for (const std::int64_t slots : {1, 2}) {
    Program p(2, {slots});
    p.loop(1000).op(0, 100, 90, {fill(0)}).op(1, 10, 0, {read_of(0)}).end();
    EXPECT_EQ(run(p), slots == 1 ? 1000 * 200 : 1000 * 100 + 90 + 10);
  }
}

// A slow channel beside a fast engine holds the operation's next start, not the engine's other
// work.
TEST(Simulator, HoldPerEngine) {
  Program p(2, {});
  p.loop(10).op(0, 10).also(1, 30).op(0, 5).end();
  EXPECT_EQ(run(p), 10 * 30);
}

TEST(Simulator, OperationWithoutAccessesCountsItsLatency) {
  Program p(1, {});
  p.op(0, 5, 7);
  EXPECT_EQ(run(p), 12);
}

TEST(Simulator, StallReasons) {
  Program p(3, {1});
  p.exclusion_groups = 4;        // engine 2 is a group
  p.op(0, 10, 5, {fill(0)});     // 0..10, filled at 15
  p.op(1, 20, 0, {read_of(0)});  // waits for input until 15, ends 35
  p.op(0, 10, 0, {fill(0)});     // waits for the slot until 35
  p.op(0, 4).also(2, 4);         // 45..49
  p.op(1, 3).also(2, 3);         // excluded until 49
  p.op(0, 2).also(1, 2);         // engine 1 busy until 52
  p.ops.back().overhead = true;
  Simulator simulator;
  std::vector<EngineTimes> times;
  EXPECT_EQ(simulator.run_with_stalls(p, {}, times), 54);
  const auto stall = [&](std::size_t engine, Stall why) {
    return times[engine].stalls[static_cast<std::size_t>(why)];
  };
  EXPECT_EQ(stall(1, Stall::input_not_there), 15);
  EXPECT_EQ(stall(0, Stall::slot_not_free), 25);
  EXPECT_EQ(stall(1, Stall::excluded), 14);
  EXPECT_EQ(stall(0, Stall::engine_busy), 3);
  EXPECT_EQ(stall(0, Stall::call), 2);
  EXPECT_EQ(stall(2, Stall::finished), 2);
  EXPECT_EQ(times[0].busy, 24);
  EXPECT_EQ(times[1].busy, 23);
}

// Two engines without a common ring never repeat in relative state; a germ skips all of it.
TEST(Simulator, UncoupledEnginesEndAtOnce) {
  constexpr std::int64_t kMany = 1'000'000'000'000;
  Program p(2, {});
  p.loop(kMany).op(0, 7).op(1, 5).end().op(1, 900);
  Simulator simulator;
  EXPECT_EQ(simulator.run(p), 7 * kMany);
  EXPECT_EQ(simulator.engine_time(1), 5 * kMany + 900);
  EXPECT_LT(simulator.statistics().executed, 1000);
  std::vector<EngineTimes> times;
  EXPECT_EQ(simulator.run_with_stalls(p, {}, times), 7 * kMany);
  EXPECT_EQ(times[1].busy, 5 * kMany + 900);
  EXPECT_EQ(times[1].stalls[static_cast<std::size_t>(Stall::finished)], 2 * kMany - 900);
}

// Engine 1 starts 50,000 ahead and is overtaken: the jump must end where the winner changes.
TEST(Simulator, OvertakingEngine) {
  Program p(3, {2});
  p.op(1, 50000).loop(100000).op(0, 7, 0, {fill(0)}).op(2, 7, 0, {read_of(0)}).op(1, 6).end();
  p.op(1, 1, 0, {read_of(0)});
  EXPECT_EQ(run(p), interpret(p).end);
  Simulator simulator;
  simulator.run(p);
  EXPECT_LT(simulator.statistics().executed, 5000);
}

TEST(Simulator, NestedLoopsOfAnyCount) {
  Program p(3, {1, 2});
  p.loop(1'000'000)
      .loop(1'000'000)
      .op(0, 3, 20, {fill(1)})
      .op(1, 4, 0, {read_of(1), fill(0)})
      .end();
  p.op(2, 11, 2, {read_of(0)}).end();
  Simulator simulator;
  EXPECT_GT(simulator.run(p), 4'000'000'000'000);
  EXPECT_LT(simulator.statistics().executed, 10000);
}

std::int64_t run_without(const SimProgram& program, Options::Ablation rule) {
  Options options;
  options.ablation = rule;
  Simulator simulator;
  return simulator.run(program, options);
}

// A slot that the loop only reads is waited for in the first iteration only.
TEST(Ablation, FirstIteration) {
  Program p(2, {1});
  p.op(0, 1000, 0, {fill(0)}).op(1, 5);
  p.loop(100).op(1, 10, 995, {read_of(0)}).end();
  EXPECT_EQ(run(p), 1000 + 100 * 10 + 995);
  EXPECT_NE(run_without(p, Options::Ablation::first_iteration), run(p));
}

// A release time below the time of a taker that rests during the loop can still grow past it.
TEST(Ablation, RestingEngines) {
  Program p(2, {1});
  p.op(0, 1, 2000, {fill(0)}).op(0, 3000).op(1, 1001);
  p.loop(500).op(1, 10, 0, {read_of(0)}).end();
  p.op(0, 1, 0, {fill(0)});
  EXPECT_EQ(run(p), 2001 + 500 * 10 + 1);
  Program q(2, {1});
  q.op(0, 1, 0, {fill(0)}).op(0, 3000).op(1, 1, 2000, {read_of(0)});
  q.loop(500).op(1, 10, 0, {read_of(0)}).end();
  q.op(0, 1, 0, {fill(0)});
  EXPECT_EQ(run(q), 1 + 1 + 500 * 10 + 1);
  EXPECT_NE(run_without(q, Options::Ablation::resting_engines), run(q));
}

TEST(Defects, AreNamed) {
  const auto defect = [](const SimProgram& p) { return defect_of(p).value_or("none"); };
  EXPECT_EQ(defect(Program(1, {}).op(3, 1)), "operation 0 on unknown engine 3");
  EXPECT_EQ(defect(Program(1, {0})), "ring 0 has 0 slots");
  EXPECT_EQ(defect(Program(1, {}).op(0, -1)), "operation 0 holds engine 0 for -1 of 0 cycles");
  EXPECT_EQ(defect(Program(1, {2}).op(0, 1, 0, {read_of(0, 2)})),
            "operation 0: lag 2 in ring 0 of 2 slots");
  EXPECT_EQ(defect(Program(2, {2}).op(0, 1, 0, {fill(0)}).op(1, 1, 0, {fill(0)})),
            "ring 0 is taken by several engines");
  EXPECT_EQ(defect(Program(1, {}).loop(0).op(0, 1).end()), "a loop of 0 iterations");
}

}  // namespace
}  // namespace tilewright
