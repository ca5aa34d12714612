// SPDX-License-Identifier: Apache-2.0
// The simulator's state and the execution of one operation, on times that are plain integers or
// germs, with or without stall accounting. The meaning is that of sim_program.h, to the letter.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "device_model/germ.h"
#include "device_model/sim_facts.h"
#include "device_model/simulator.h"

namespace tilewright {

template <class Time>
struct TimesOf {
  Time busy{};
  std::array<Time, kStallCount> stalls{};
};

template <class Time, bool kStalls>
class Executor {
 public:
  static constexpr bool kPlain = std::is_same_v<Time, std::int64_t>;
  using Times = std::array<TimesOf<Time>, kMaxEngines>;

  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  void start(const SimFacts& facts) {
    facts_ = &facts;
    engines_.fill(Time{});
    for (std::size_t r = 0; r < facts.rings().size(); ++r) {
      rings_[r] = {facts.rings()[r].base, facts.rings()[r].slots, 0};
    }
    slots_.assign(facts.slot_count(), SlotTimes{});
    latest_ = Time{};
    statistics_ = {};
    if constexpr (kStalls) times_ = {};
  }

  Time latest() const { return latest_; }
  Time engine(std::size_t k) const { return engines_[k]; }
  const Times& times() const { return times_; }
  const SimStatistics& statistics() const { return statistics_; }

 protected:
  template <class, bool>
  friend class Walker;
  using Max = std::conditional_t<kPlain, PlainMax, GermMax>;

  struct RingState {
    std::int32_t base = 0, slots = 1, head = 0;  // head: the slot that the next take binds
  };
  struct SlotTimes {
    Time filled{}, free{};  // F and R
  };

  SlotTimes& slot_at(const RingState& ring, std::int32_t lag) {
    std::int32_t position = ring.head - 1 - lag;
    if (position < 0) position += ring.slots;
    return slots_[static_cast<std::size_t>(ring.base + position)];
  }

  void execute(const SimOp& op) {
    ++statistics_.executed;
    Time start = engines_[op.engines[0]];
    for (std::size_t k = 1; k < op.engine_count; ++k) {
      start = max_(start, engines_[op.engines[k]]);
    }
    Stall reason = kStalls ? engine_stall(op, start) : Stall::engine_busy;
    SlotTimes* used[kMaxAccesses];
    const std::size_t accesses = op.access_count;
    for (std::size_t a = 0; a < accesses; ++a) {
      const Access access = op.accesses[a];
      RingState& ring = rings_[access.ring];
      if (access.verbs & verb::take) {
        used[a] = &slots_[static_cast<std::size_t>(ring.base + ring.head)];
        ring.head = ring.head + 1 == ring.slots ? 0 : ring.head + 1;
        wait_for(start, reason, used[a]->free, Stall::slot_not_free);
      } else {
        used[a] = &slot_at(ring, access.lag);
      }
      if (access.verbs & verb::read) {
        wait_for(start, reason, used[a]->filled, Stall::input_not_there);
      }
    }
    for (std::size_t k = 0; k < op.engine_count; ++k) {
      Time& engine = engines_[op.engines[k]];
      if constexpr (kStalls) account(op, k, start - engine, reason);
      engine = start + op.holds[k];
    }
    const Time done = start + op.duration;
    latest_ = max_(latest_, done);
    for (std::size_t a = 0; a < accesses; ++a) {
      const std::uint8_t verbs = op.accesses[a].verbs;
      SlotTimes& slot = *used[a];
      if (verbs & verb::take) slot.filled = slot.free = start;
      if (verbs & verb::write) slot.filled = max_(slot.filled, done);
      slot.free = max_(slot.free, done);
    }
  }

  const SimFacts* facts_ = nullptr;
  GermLimit limit_;  // germs only
  Max max_ = make_max();
  std::array<Time, kMaxEngines> engines_{};
  std::array<RingState, kMaxRings> rings_{};
  std::vector<SlotTimes> slots_;
  Time latest_{};
  Times times_{};
  SimStatistics statistics_;

 private:
  Max make_max() {
    if constexpr (kPlain) {
      return {};
    } else {
      return {&limit_};
    }
  }

  void wait_for(Time& start, Stall& reason, Time time, Stall why) {
    if constexpr (kStalls) {
      if (Max::later(time, start)) {
        // A germ that wins a tie wins it from the next period on only: the reason would change.
        if constexpr (!kPlain) {
          if (time.v == start.v) limit_.n = 0;
        }
        reason = why;
      }
    }
    start = max_(start, time);
  }

  // Why an operation can not start before `start`, as far as its engines are concerned.
  Stall engine_stall(const SimOp& op, Time start) const {
    for (std::size_t k = 0; k < op.engine_count; ++k) {
      const bool group = (facts_->program().exclusion_groups >> op.engines[k]) & 1U;
      if (group && engines_[op.engines[k]] == start) return Stall::excluded;
    }
    return Stall::engine_busy;
  }

  void account(const SimOp& op, std::size_t k, Time gap, Stall reason) {
    TimesOf<Time>& times = times_[op.engines[k]];
    Time& working = op.overhead ? times.stalls[static_cast<std::size_t>(Stall::call)] : times.busy;
    working = working + op.holds[k];
    times.stalls[static_cast<std::size_t>(reason)] += gap;
  }
};

}  // namespace tilewright
