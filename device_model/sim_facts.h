// SPDX-License-Identifier: Apache-2.0
// Static facts of a SimProgram that jumps rest on: what every loop touches, and which slot times
// nobody can notice.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "device_model/sim_program.h"

namespace tilewright {

// What an iteration of a loop's body touches. Untouched engines and slots stay as they are and
// decide nothing in the loop (after a first whole iteration: until then a slot that is only read
// may still be waited for).
struct LoopFacts {
  std::uint32_t engines = 0;                              // a bit each
  std::uint32_t rings = 0;                                // accessed at all
  std::int64_t operations = 0;                            // executed in an iteration, at most 2^31
  std::uint32_t taken = 0;                                // rings with a take: all their slots age
  std::array<std::uint64_t, kMaxRings> used{}, filled{};  // lags accessed, lags written
};

struct RingFacts {
  std::int32_t slots = 1, base = 0;  // base: index of its first slot among all slots
  std::int32_t readable = 0;         // 1 + the largest lag read anywhere: older fill times are dead
  // A take starts no earlier than its engine is free, so a release time below that engine's time
  // can not be noticed; the same for a fill time and the engines of all readers.
  std::uint32_t takers = 0;   // engines that every take of the ring holds
  std::uint32_t readers = 0;  // one engine of every operation that reads the ring
};

class SimFacts {
 public:
  // Keeps a pointer to the program.
  void prepare(const SimProgram& program);

  const SimProgram& program() const { return *program_; }
  std::span<const RingFacts> rings() const { return {rings_.data(), ring_count_}; }
  const LoopFacts& loop(std::int32_t node) const {
    return loops_[static_cast<std::size_t>(loop_of_[static_cast<std::size_t>(node)])];
  }
  std::size_t slot_count() const { return slot_count_; }

 private:
  void add_operation(const SimOp& op, LoopFacts& facts) const;
  void collect(std::int32_t loop);

  const SimProgram* program_ = nullptr;
  std::array<RingFacts, kMaxRings> rings_{};
  std::size_t ring_count_ = 0, slot_count_ = 0;
  std::vector<LoopFacts> loops_;
  std::vector<std::int32_t> loop_of_;  // by node
};

}  // namespace tilewright
