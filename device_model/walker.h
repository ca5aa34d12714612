// SPDX-License-Identifier: Apache-2.0
// The simulator's inside: executes operations and loops on times that are plain integers or germs,
// with or without stall accounting. Included by simulator.cc only.
//
// Uniform jump: if after at least one whole iteration the relative state repeats (every touched
// time moved by the same amount between iterations k-c and k), the remaining iterations repeat it
// too: add the amount once per skipped period. Relative state = engine times, fill and release
// times of the touched slots by age, those that nobody can notice left out. The physical slot is
// not part of it.
//
// Germ jump: engines that are not coupled, or an engine that falls ever further behind, never
// repeat in relative state. If every touched time moved by an amount of its own, the same in two
// consecutive periods, walk one more period on germs (v + n*d). If it maps (x, d) to (x + d, d),
// the period repeats for as long as no maximum changes its winner.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <type_traits>
#include <vector>

#include "device_model/executor.h"

namespace tilewright {

template <class Time, bool kStalls>
class Walker : public Executor<Time, kStalls> {
  using Base = Executor<Time, kStalls>;
  using Base::engines_, Base::facts_, Base::latest_, Base::limit_, Base::max_, Base::rings_,
      Base::slots_, Base::statistics_, Base::times_;

 public:
  using Base::kPlain;
  using typename Base::Times;
  using Options = Simulator::Options;

  void start(const SimFacts& facts, const Options& options) {
    Base::start(facts);
    options_ = options;
    depth_ = 0;
  }
  void set_germ_walker(Walker<Germ, kStalls>* germ) { germ_walker_ = germ; }

  void run_range(std::int32_t begin, std::int32_t end) {
    const SimProgram& program = facts_->program();
    for (std::int32_t i = begin; i < end;) {
      const Node& node = program.nodes[static_cast<std::size_t>(i)];
      if (node.op >= 0) {
        this->execute(program.ops[static_cast<std::size_t>(node.op)]);
        ++i;
      } else {
        run_loop(i);
        i = node.end;
      }
    }
  }

 private:
  template <class, bool>
  friend class Walker;

  static constexpr std::int64_t kLargestPeriod = 8, kHistory = 16;
  static constexpr std::int64_t kUnnoticed = std::numeric_limits<std::int64_t>::min();
  // Loops that execute fewer operations are just walked: a search for their steady state costs
  // more.
  static constexpr std::int64_t kFewIterations = 4, kFewOperations = 24;

  // ---- Loops
  // --------------------------------------------------------------------------------------------------------

  // What the last iterations of a loop left, by iteration number.
  struct History {
    std::array<std::array<Time, kMaxEngines>, kHistory> engines;
    std::array<Time, kHistory> latest;
    std::array<Times, kStalls ? kHistory : 1> times;
  };
  static std::size_t at(std::int64_t iteration) {
    return static_cast<std::size_t>(iteration & (kHistory - 1));
  }

  // One iteration; `before` collects the latest done of the earlier ones, so that a period's own is
  // known.
  void iterate(std::int32_t loop, std::int64_t iteration, Time& before, History& history) {
    before = max_(before, latest_);
    latest_ = Time{};
    run_range(loop + 1, facts_->program().nodes[static_cast<std::size_t>(loop)].end);
    history.engines[at(iteration)] = engines_;
    history.latest[at(iteration)] = latest_;
    if constexpr (kStalls) history.times[at(iteration)] = times_;
  }

  bool engines_moved_alike(const LoopFacts& facts, const std::array<Time, kMaxEngines>& old,
                           Time& moved) const {
    std::uint32_t engines = facts.engines;
    const auto first = static_cast<std::size_t>(__builtin_ctz(engines));
    moved = engines_[first] - old[first];
    for (engines &= engines - 1; engines != 0; engines &= engines - 1) {
      const auto k = static_cast<std::size_t>(__builtin_ctz(engines));
      if (!(engines_[k] - old[k] == moved)) return false;
    }
    return true;
  }

  // Calls visit(time, noticed_after) for every touched slot time, until it returns false; a time
  // not above noticed_after can not be noticed.
  template <class Visit>
  void for_each_slot_time(const LoopFacts& facts, Visit&& visit) {
    for (std::uint32_t rings = facts.rings; rings != 0; rings &= rings - 1) {
      const auto r = static_cast<std::size_t>(__builtin_ctz(rings));
      const RingFacts& ring = facts_->rings()[r];
      const bool taken = (facts.taken >> r) & 1U;
      const bool ever_taken = ring.takers != ~0U;
      const std::int64_t release_floor = ever_taken ? floor_of_takers(ring, facts) : kUnnoticed;
      const std::int64_t fill_floor = floor_of_readers(ring, facts);
      for (std::int32_t lag = 0; lag < ring.slots; ++lag) {
        const std::uint64_t mask = std::uint64_t{1} << std::min(lag, 63);
        auto& slot = this->slot_at(rings_[r], lag);
        const bool filled = lag < ring.readable && (taken || (facts.filled[r] & mask));
        if (filled && !visit(slot.filled, fill_floor)) return;
        const bool used = ever_taken && (taken || (facts.used[r] & mask));
        if (used && !visit(slot.free, release_floor)) return;
      }
    }
  }
  // Floors move with the loop's engines only, so that they hold for the iterations to come. A take
  // waits for all its engines: any of them is a floor.
  std::int64_t floor_of_takers([[maybe_unused]] const RingFacts& ring,
                               [[maybe_unused]] const LoopFacts& facts) const {
    if constexpr (kPlain) {
      const bool any = options_.ablation == Options::Ablation::resting_engines;
      const std::uint32_t engines = any ? ring.takers : ring.takers & facts.engines;
      if (engines != 0) return engines_[static_cast<std::size_t>(__builtin_ctz(engines))];
    }
    return kUnnoticed;
  }
  std::int64_t floor_of_readers([[maybe_unused]] const RingFacts& ring,
                                [[maybe_unused]] const LoopFacts& facts) const {
    if constexpr (kPlain) {
      if (ring.readers == 0 || (ring.readers & ~facts.engines) != 0) return kUnnoticed;
      std::int64_t floor = engines_[static_cast<std::size_t>(__builtin_ctz(ring.readers))];
      for (std::uint32_t e = ring.readers & (ring.readers - 1); e != 0; e &= e - 1) {
        floor = std::min(floor, engines_[static_cast<std::size_t>(__builtin_ctz(e))]);
      }
      return floor;
    }
    return kUnnoticed;
  }

  Time reference(const LoopFacts& facts) const {
    return engines_[static_cast<std::size_t>(__builtin_ctz(facts.engines))];
  }
  static bool noticed([[maybe_unused]] const Time& time, [[maybe_unused]] std::int64_t floor) {
    if constexpr (kPlain) return time > floor;
    return true;
  }

  void take_snapshot(const LoopFacts& facts, std::vector<Time>& snapshot) {
    snapshot.clear();
    const Time origin = reference(facts);
    for_each_slot_time(facts, [&](Time& time, std::int64_t floor) {
      snapshot.push_back(noticed(time, floor) ? time - origin : unnoticed());
      return true;
    });
  }
  bool same_as(const LoopFacts& facts, const std::vector<Time>& snapshot) {
    if (options_.ablation == Options::Ablation::slots) return true;
    const Time origin = reference(facts);
    auto old = snapshot.begin();
    bool same = true;
    for_each_slot_time(facts, [&](Time& time, std::int64_t floor) {
      same = *old++ == (noticed(time, floor) ? time - origin : unnoticed());
      return same;
    });
    return same;
  }
  static Time unnoticed() {
    if constexpr (kPlain) return kUnnoticed;
    return Time{};
  }

  // Skips m periods of c iterations that each move everything by `moved`.
  void jump(const LoopFacts& facts, std::int64_t iteration, std::int64_t c, std::int64_t m,
            Time moved, Time& before, const History& history) {
    const Time all = moved * m;
    for (std::uint32_t e = facts.engines; e != 0; e &= e - 1)
      engines_[static_cast<std::size_t>(__builtin_ctz(e))] += all;
    for_each_slot_time(facts, [&](Time& time, std::int64_t) {
      time += all;
      return true;
    });
    Time period = history.latest[at(iteration)];
    for (std::int64_t k = 1; k < c; ++k) period = max_(period, history.latest[at(iteration - k)]);
    period += all;
    before = max_(before, period);
    if constexpr (kStalls) {
      const Times& old = history.times[at(iteration - c)];
      for (std::size_t e = 0; e < facts_->program().engines; ++e) {
        times_[e].busy += (times_[e].busy - old[e].busy) * m;
        for (std::size_t s = 0; s < kStallCount; ++s) {
          times_[e].stalls[s] += (times_[e].stalls[s] - old[e].stalls[s]) * m;
        }
      }
    }
    ++statistics_.uniform_jumps;
    statistics_.skipped += m * c;
  }

  void run_loop(std::int32_t loop) {
    const Node& node = facts_->program().nodes[static_cast<std::size_t>(loop)];
    if (!options_.uniform_jumps || node.count < kFewIterations ||
        (node.count < kFewOperations &&
         node.count * facts_->loop(loop).operations < kFewOperations)) {
      for (std::int64_t k = 0; k < node.count; ++k) run_range(loop + 1, node.end);
      return;
    }
    if (depth_ == scratch_.size()) scratch_.emplace_back();
    ++depth_;
    run_long_loop(loop, node.count);
    --depth_;
  }

  // Where a loop stands with its search for a steady state.
  struct Search {
    std::int64_t iteration = 0;
    std::int64_t snapshot_at = -kHistory;  // none
    // Germ: slot times at three points a period apart.
    std::int64_t germ_begin = 0, germ_period = 0;  // 0: not looking
    std::int64_t next_germ = 2 * kLargestPeriod;
  };

  void run_long_loop(std::int32_t loop, std::int64_t left) {
    const LoopFacts& facts = facts_->loop(loop);
    const std::size_t depth = depth_ - 1;
    History history;
    Time before = latest_;
    Search search;
    if (options_.ablation == Options::Ablation::first_iteration) {
      history.engines[0] = engines_;
      history.latest[0] = Time{};
      if constexpr (kStalls) history.times[0] = times_;
      take_snapshot(facts, scratch_[depth].relative);
      search.snapshot_at = 0;
    }
    while (left > 0) {
      iterate(loop, ++search.iteration, before, history);
      if (--left == 0) break;
      if (try_uniform(facts, depth, search, history, before, left)) {
        for (; left > 0; --left) iterate(loop, ++search.iteration, before, history);
        break;
      }
      if constexpr (kPlain) try_germ(loop, facts, depth, search, history, before, left);
    }
    latest_ = max_(before, latest_);
  }

  // True after a jump; fewer than a period's iterations are left then.
  bool try_uniform(const LoopFacts& facts, std::size_t depth, Search& search,
                   const History& history, Time& before, std::int64_t& left) {
    const std::int64_t c = search.iteration - search.snapshot_at;
    Time moved{};
    if (c <= kLargestPeriod) {
      if (left >= c && engines_moved_alike(facts, history.engines[at(search.snapshot_at)], moved) &&
          same_as(facts, scratch_[depth].relative)) {
        const std::int64_t m = left / c;
        jump(facts, search.iteration, c, m, moved, before, history);
        left -= m * c;
        return true;
      }
      if (c < kLargestPeriod) return false;
    }
    if (engines_look_periodic(facts, search.iteration, history)) {
      take_snapshot(facts, scratch_[depth].relative);
      search.snapshot_at = search.iteration;
    }
    return false;
  }

  bool engines_look_periodic(const LoopFacts& facts, std::int64_t iteration,
                             const History& history) const {
    Time moved{};
    for (std::int64_t c = 1; c <= std::min(kLargestPeriod, iteration - 1); ++c) {
      if (engines_moved_alike(facts, history.engines[at(iteration - c)], moved)) return true;
    }
    return false;
  }

  // ---- Germ jumps, in walker_germ.h ---------------------------------------------------------

  // The smallest period over which every engine moved by the same amount twice, or 0.
  std::int64_t affine_period(const LoopFacts& facts, std::int64_t iteration,
                             const History& history) const;
  void copy_times(const LoopFacts& facts, std::vector<Time>& out);
  void try_germ(std::int32_t loop, const LoopFacts& facts, std::size_t depth, Search& search,
                const History& history, Time& before, std::int64_t& left);
  // Sets scratch.moves to the moves of the last period if the period before had the same.
  bool moves_repeat(const LoopFacts& facts, std::size_t depth);
  // Walks one period of c iterations on germs; jumps as many of at most `most` periods as are
  // provably alike and returns their number.
  std::int64_t germ_periods(std::int32_t loop, const LoopFacts& facts, std::int64_t c,
                            std::int64_t most, Time& before);
  // For germs: the plain walker's state, its touched times moving by `moves` a period; later,
  // whether they did.
  template <class Plain>
  void adopt(Plain& plain, const LoopFacts& facts, const std::vector<std::int64_t>& moves);
  template <class Plain>
  bool moved_by(Plain& plain, const LoopFacts& facts, const std::vector<std::int64_t>& moves);

  struct Scratch {
    std::vector<Time> relative, old, middle, moves;
  };

  Options options_;
  Walker<Germ, kStalls>* germ_walker_ = nullptr;
  std::deque<Scratch> scratch_;  // per loop depth; stays where it is while inner loops add theirs
  std::size_t depth_ = 0;
};

}  // namespace tilewright
