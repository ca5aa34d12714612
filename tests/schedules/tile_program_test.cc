// SPDX-License-Identifier: Apache-2.0
// Tile programs by themselves: printing, checking, reuse of storage.
#include "schedules/tile_program.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

Work copy_of(Path path, std::int64_t bytes) {
  Work work;
  work.kind = WorkKind::copy;
  work.path = path;
  work.rows = 1;
  work.row_bytes = bytes;
  return work;
}
Work product_of(std::int64_t m, std::int64_t n, std::int64_t k) {
  Work work;
  work.kind = WorkKind::product;
  work.m = m;
  work.n = n;
  work.k = k;
  return work;
}

// Load, multiply `count` times.
class Small {
 public:
  explicit Small(std::int64_t slots = 2, std::int64_t count = 5) {
    const std::uint8_t l0a = program.add_ring("L0A", Memory::l0a, slots, 1024);
    program.repeat(count, [&] {
      program.add("feed", copy_of(Path::l1_l0a, 1024)).access(l0a, verb::take | verb::write);
      program.add("product", product_of(16, 16, 32)).access(l0a, verb::read);
    });
  }
  TileProgram program;
};

std::string defect(const TileProgram& program, std::span<const MemoryUse> capacities = {}) {
  return defect_of(program, capacities).value_or("none");
}

TEST(TileProgram, PrintsLoopsAndSizes) {
  EXPECT_EQ(to_text(Small().program),
            "ring L0A   2 x 1,024 B in L0A\n"
            "5 times\n"
            "  feed      l1_l0a 1,024 B | take write L0A\n"
            "  product   16 x 16 x 32 | read L0A\n");
}

TEST(TileProgram, ALoopOfOneIsNoLoop) {
  EXPECT_EQ(Small(1, 1).program.nodes().size(), 2U);
  EXPECT_EQ(Small(1, 0).program.nodes().size(), 0U);
  EXPECT_EQ(Small(1, 2).program.nodes().size(), 3U);
}

TEST(TileProgram, CountsThroughLoops) {
  TileProgram program;
  program.repeat(3, [&] {
    program.repeat(4, [&] { program.add("product", product_of(1, 2, 3)); });
    program.add("product", product_of(1, 1, 1));
  });
  std::int64_t macs = 0;
  program.for_each_operation(
      [&](const Operation& op, std::int64_t times) { macs += times * op.work.macs(); });
  EXPECT_EQ(macs, 3 * (4 * 6 + 1));
}

TEST(TileProgram, ReusesItsStorage) {
  TileProgram program;
  const auto build = [&] {
    program.clear();
    program.repeat(9, [&] { program.add("product", product_of(1, 1, 1)); });
    return program.operations().data();
  };
  const Operation* first = build();
  EXPECT_EQ(build(), first);
}

TEST(TileProgramCheck, AcceptsASoundProgram) { EXPECT_EQ(defect(Small().program), "none"); }

TEST(TileProgramCheck, RingsNeedSlotsAndLagsFit) {
  EXPECT_EQ(defect(Small(0).program), "ring L0A has 0 slots; it needs at least one");
  Small small(2);
  small.program.add("late", product_of(1, 1, 1)).access(0, verb::read, 2);
  EXPECT_EQ(defect(small.program), "late: lag 2 of ring L0A, which has 2 slots");
  Small unknown;
  unknown.program.add("lost", product_of(1, 1, 1)).access(7, verb::read);
  EXPECT_EQ(defect(unknown.program), "lost: no ring 7; there are 1");
}

TEST(TileProgramCheck, OneTakerPerRing) {
  Small small;
  small.program.add("other", copy_of(Path::l1_l0b, 8)).access(0, verb::take | verb::write);
  EXPECT_EQ(defect(small.program),
            "ring L0A is taken by feed and by other; one engine must take all its slots");
}

TEST(TileProgramCheck, NothingIsReadBeforeItIsWritten) {
  TileProgram program;
  const std::uint8_t ring = program.add_ring("R", Memory::l1, 2, 8);
  program.add("use", product_of(1, 1, 1)).access(ring, verb::read);
  EXPECT_EQ(defect(program), "use uses ring R before 1 slots of it are taken");
  program.clear();
  program.add_ring("R", Memory::l1, 2, 8);
  program.add("take", copy_of(Path::gm_l1, 8)).access(ring, verb::take);
  program.add("use", product_of(1, 1, 1)).access(ring, verb::read);
  EXPECT_EQ(defect(program), "use reads a slot of ring R that nothing has written");
  // The second iteration reads what the first one wrote into another slot: fine. Without the write
  // in the loop, it reads an empty slot.
  program.clear();
  program.add_ring("R", Memory::l1, 2, 8);
  program.add("fill", copy_of(Path::gm_l1, 8)).access(ring, verb::take | verb::write);
  program.repeat(3, [&] {
    program.add("use", product_of(1, 1, 1)).access(ring, verb::read);
    program.add("next", copy_of(Path::gm_l1, 8)).access(ring, verb::take);
  });
  EXPECT_EQ(defect(program), "use reads a slot of ring R that nothing has written");
}

TEST(TileProgramCheck, NoOperationOverwritesWhatItUses) {
  Small small(1);
  small.program.add("feed", copy_of(Path::l1_l0a, 8)).access(0, verb::read).access(0, verb::take);
  EXPECT_EQ(defect(small.program), "feed takes a slot of ring L0A that it uses");
}

TEST(TileProgramCheck, CapacityPerMemory) {
  const MemoryUse enough[] = {{Memory::l0a, 0, 2048}};
  const MemoryUse scarce[] = {{Memory::l0a, 0, 2047}};
  EXPECT_EQ(defect(Small().program, enough), "none");
  EXPECT_EQ(defect(Small().program, scarce), "L0A needs 2,048 B (L0A 2*1,024), it has 2,047");
}

TEST(TileProgramCheck, LoopsAreClosedAndCounted) {
  TileProgram program;
  program.open_loop(3);
  program.add("product", product_of(1, 1, 1));
  EXPECT_EQ(defect(program), "node 0: a loop that is empty, not closed or not nested");
  program.clear();
  const std::int32_t loop = program.open_loop(0);
  program.add("product", product_of(1, 1, 1));
  program.close_loop(loop);
  EXPECT_EQ(defect(program), "node 0: a loop of 0 iterations");
}

}  // namespace
}  // namespace tilewright
