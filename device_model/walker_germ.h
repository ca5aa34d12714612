// SPDX-License-Identifier: Apache-2.0
// Germ jumps of the walker; see walker.h for what they are. Included by simulator.cc only.
#pragma once

#include "device_model/walker.h"

namespace tilewright {

template <class Time, bool kStalls>
std::int64_t Walker<Time, kStalls>::affine_period(const LoopFacts& facts, std::int64_t iteration,
                                                  const History& history) const {
  for (std::int64_t c = 1; 2 * c < kHistory && 2 * c < iteration; ++c) {
    const auto& middle = history.engines[at(iteration - c)];
    const auto& old = history.engines[at(iteration - 2 * c)];
    bool affine = true;
    for (std::uint32_t e = facts.engines; e != 0 && affine; e &= e - 1) {
      const auto k = static_cast<std::size_t>(__builtin_ctz(e));
      affine = engines_[k] - middle[k] == middle[k] - old[k];
    }
    if (affine) return c;
  }
  return 0;
}

template <class Time, bool kStalls>
void Walker<Time, kStalls>::copy_times(const LoopFacts& facts, std::vector<Time>& out) {
  out.clear();
  for (std::uint32_t e = facts.engines; e != 0; e &= e - 1) {
    out.push_back(engines_[static_cast<std::size_t>(__builtin_ctz(e))]);
  }
  for_each_slot_time(facts, [&](Time& time, std::int64_t) {
    out.push_back(time);
    return true;
  });
}

template <class Time, bool kStalls>
void Walker<Time, kStalls>::try_germ(std::int32_t loop, const LoopFacts& facts, std::size_t depth,
                                     Search& search, const History& history, Time& before,
                                     std::int64_t& left) {
  if (!options_.germ_jumps || search.iteration < search.next_germ) return;
  if (search.germ_period == 0) {
    search.germ_period = affine_period(facts, search.iteration, history);
    search.germ_begin = search.iteration;
    if (search.germ_period > 0) copy_times(facts, scratch_[depth].old);
    return;
  }
  const std::int64_t c = search.germ_period;
  if (search.iteration == search.germ_begin + c) copy_times(facts, scratch_[depth].middle);
  if (search.iteration < search.germ_begin + 2 * c) return;
  const std::int64_t tried_at = search.iteration;
  search.germ_period = 0;
  search.next_germ = 2 * tried_at;  // what fails is tried ever more rarely
  if (left < c || !moves_repeat(facts, depth)) return;
  const std::int64_t m = germ_periods(loop, facts, c, left / c, before);
  if (m == 0) return;
  left -= m * c;
  ++statistics_.germ_jumps;
  statistics_.skipped += m * c;
  search = Search{};  // what was recorded lies before the jump
  // The next one is tried soon: a limited jump ends where a maximum changes its winner.
}

template <class Time, bool kStalls>
bool Walker<Time, kStalls>::moves_repeat(const LoopFacts& facts, std::size_t depth) {
  Scratch& scratch = scratch_[depth];
  copy_times(facts, scratch.moves);
  for (std::size_t i = 0; i < scratch.moves.size(); ++i) {
    scratch.moves[i] -= scratch.middle[i];
    if (scratch.moves[i] != scratch.middle[i] - scratch.old[i]) return false;
  }
  return true;
}

template <class Time, bool kStalls>
std::int64_t Walker<Time, kStalls>::germ_periods(std::int32_t loop, const LoopFacts& facts,
                                                 std::int64_t c, std::int64_t most, Time& before) {
  Walker<Germ, kStalls>& germ = *germ_walker_;
  const std::vector<Time>& moves = scratch_[depth_ - 1].moves;
  germ.adopt(*this, facts, moves);
  const std::int32_t end = facts_->program().nodes[static_cast<std::size_t>(loop)].end;
  for (std::int64_t k = 0; k < c; ++k) germ.run_range(loop + 1, end);
  statistics_.executed += germ.statistics_.executed;
  if (!germ.moved_by(*this, facts, moves)) return 0;
  const bool unlimited = options_.ablation == Options::Ablation::germ_limit;
  const std::int64_t m = unlimited ? most : std::min(most, germ.limit_.n + 1);
  std::size_t i = 0;
  for (std::uint32_t e = facts.engines; e != 0; e &= e - 1) {
    engines_[static_cast<std::size_t>(__builtin_ctz(e))] += m * moves[i++];
  }
  for_each_slot_time(facts, [&](Time& time, std::int64_t) {
    time += m * moves[i++];
    return true;
  });
  const Germ latest = germ.latest_;
  before = std::max({before, latest.v, latest.v + (m - 1) * latest.d});
  if constexpr (kStalls) {
    const auto add = [m](std::int64_t& sum, Germ period) {
      sum += m * period.v;
      // Without growth m may be so large that its square leaves 64 bits.
      if (period.d != 0) sum += period.d * (m * (m - 1) / 2);
    };
    for (std::size_t e = 0; e < facts_->program().engines; ++e) {
      add(times_[e].busy, germ.times_[e].busy);
      for (std::size_t s = 0; s < kStallCount; ++s)
        add(times_[e].stalls[s], germ.times_[e].stalls[s]);
    }
  }
  return m;
}

template <class Time, bool kStalls>
template <class Plain>
void Walker<Time, kStalls>::adopt(Plain& plain, const LoopFacts& facts,
                                  const std::vector<std::int64_t>& moves) {
  start(*plain.facts_, plain.options_);
  limit_ = {};
  for (std::size_t k = 0; k < kMaxEngines; ++k) engines_[k].v = plain.engines_[k];
  for (std::size_t r = 0; r < facts_->rings().size(); ++r) rings_[r].head = plain.rings_[r].head;
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    slots_[s].filled.v = plain.slots_[s].filled;
    slots_[s].free.v = plain.slots_[s].free;
  }
  std::size_t i = 0;
  for (std::uint32_t e = facts.engines; e != 0; e &= e - 1) {
    engines_[static_cast<std::size_t>(__builtin_ctz(e))].d = moves[i++];
  }
  for_each_slot_time(facts, [&](Germ& time, std::int64_t) {
    time.d = moves[i++];
    return true;
  });
}

template <class Time, bool kStalls>
template <class Plain>
bool Walker<Time, kStalls>::moved_by(Plain& plain, const LoopFacts& facts,
                                     const std::vector<std::int64_t>& moves) {
  std::size_t i = 0;
  bool alike = true;
  const auto check = [&](Germ now, std::int64_t was) {
    alike = alike && now.v == was + moves[i] && now.d == moves[i];
    ++i;
  };
  for (std::uint32_t e = facts.engines; e != 0; e &= e - 1) {
    const auto k = static_cast<std::size_t>(__builtin_ctz(e));
    check(engines_[k], plain.engines_[k]);
  }
  // Slot times by age, in the same order; the heads of the two may differ.
  std::vector<std::int64_t>& were = plain.scratch_[plain.depth_ - 1].old;
  plain.copy_times(facts, were);
  for_each_slot_time(facts, [&](Germ& time, std::int64_t) {
    check(time, were[i]);
    return alike;
  });
  return alike;
}

}  // namespace tilewright
