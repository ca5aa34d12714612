// SPDX-License-Identifier: Apache-2.0
// A program with its costs: what the simulator runs. Engines are in-order queues with a time E at
// which they are free; every slot of a ring has a time F at which it is filled and a time R at
// which it may be taken again.
//
//   start  = max(E of all engines of the operation; R of the slot for a take; F of the slot for a
//   read) E_k    = start + hold_k            for each of its engines done   = start + longest hold
//   + latency take:  F = R = start, then the slot is the ring's newest (lag 0) write: F = max(F,
//   done) every access: R = max(R, done)
//
// Operations are executed in program order: head-of-line blocking on an engine, and shared or
// mutually exclusive engines are granted in that order. An exclusion group is one more engine that
// its members hold.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedules/tile_program.h"

namespace tilewright {

inline constexpr std::size_t kMaxEngines = 12;  // exclusion groups included
inline constexpr std::size_t kMaxRings = 16;

struct SimOp {
  std::uint8_t engine_count = 0, access_count = 0;
  bool overhead = false;  // launch and call: holds engines, but is no work of theirs
  std::uint8_t engines[kMaxEngines] = {};
  Access accesses[kMaxAccesses] = {};
  std::int64_t duration = 0;  // from start to done
  std::int64_t holds[kMaxEngines] = {};

  // Sets the duration from the holds and this latency.
  void finish(std::int64_t latency) {
    duration = latency;
    for (std::size_t k = 0; k < engine_count; ++k)
      duration = std::max(duration, holds[k] + latency);
  }
};

struct SimProgram {
  std::vector<Node> nodes;
  std::vector<SimOp> ops;
  std::vector<std::int64_t> slots;  // per ring
  std::size_t engines = 0;
  std::uint32_t exclusion_groups = 0;  // engines that are exclusion groups, a bit each

  void clear() {
    nodes.clear();
    ops.clear();
    slots.clear();
    engines = 0;
    exclusion_groups = 0;
  }
};

// What the simulator assumes and does not check: known engines and rings, at least one slot, counts
// of at least 1, no negative hold or latency, lags below the slots, one engine that takes all slots
// of a ring.
std::optional<std::string> defect_of(const SimProgram& program);

}  // namespace tilewright
