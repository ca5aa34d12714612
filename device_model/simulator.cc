// SPDX-License-Identifier: Apache-2.0
#include "device_model/simulator.h"

#include <algorithm>

namespace tilewright {

const char* stall_name(Stall stall) {
  static constexpr const char* kNames[kStallCount] = {
      "input_not_there", "slot_not_free", "engine_busy", "excluded", "call", "finished"};
  return kNames[static_cast<std::size_t>(stall)];
}

void Simulator::prepare(const SimProgram& program) {
  program_ = &program;
  statistics_ = {};
  engine_.fill(0);
  latest_ = 0;
  std::size_t base = 0;
  for (std::size_t r = 0; r < program.slots.size(); ++r) {
    rings_[r] = {static_cast<std::int32_t>(program.slots[r]), static_cast<std::int32_t>(base), 0};
    base += static_cast<std::size_t>(program.slots[r]);
  }
  filled_.assign(base, 0);
  free_.assign(base, 0);
}

template <bool kStalls>
void Simulator::execute(const SimOp& op) {
  ++statistics_.executed;
  std::int64_t start = engine_[op.engines[0]];
  for (std::size_t k = 1; k < op.engine_count; ++k) start = std::max(start, engine_[op.engines[k]]);
  [[maybe_unused]] Stall reason = Stall::engine_busy;
  if constexpr (kStalls) {
    for (std::size_t k = 0; k < op.engine_count; ++k) {
      const bool group = (program_->exclusion_groups >> op.engines[k]) & 1U;
      if (group && engine_[op.engines[k]] == start) reason = Stall::excluded;
    }
  }
  const auto wait_for = [&](std::int64_t time, Stall why) {
    if constexpr (kStalls) {
      if (time > start) reason = why;
    }
    start = std::max(start, time);
  };
  std::size_t slot[kMaxAccesses];
  for (std::size_t a = 0; a < op.access_count; ++a) {
    const Access access = op.accesses[a];
    RingState& ring = rings_[access.ring];
    std::int32_t position = ring.head;
    if (access.verbs & verb::take) {
      ring.head = position + 1 == ring.slots ? 0 : position + 1;
      slot[a] = static_cast<std::size_t>(ring.base + position);
      wait_for(free_[slot[a]], Stall::slot_not_free);
    } else {
      position -= 1 + access.lag;
      if (position < 0) position += ring.slots;
      slot[a] = static_cast<std::size_t>(ring.base + position);
    }
    if (access.verbs & verb::read) wait_for(filled_[slot[a]], Stall::input_not_there);
  }
  for (std::size_t k = 0; k < op.engine_count; ++k) {
    std::int64_t& engine = engine_[op.engines[k]];
    if constexpr (kStalls) {
      EngineTimes& times = times_[op.engines[k]];
      (op.overhead ? times.stalls[static_cast<std::size_t>(Stall::call)] : times.busy) +=
          op.holds[k];
      times.stalls[static_cast<std::size_t>(reason)] += start - engine;
    }
    engine = start + op.holds[k];
  }
  const std::int64_t done = start + op.duration;
  latest_ = std::max(latest_, done);
  for (std::size_t a = 0; a < op.access_count; ++a) {
    const std::uint8_t verbs = op.accesses[a].verbs;
    if (verbs & verb::take) filled_[slot[a]] = free_[slot[a]] = start;
    if (verbs & verb::write) filled_[slot[a]] = std::max(filled_[slot[a]], done);
    free_[slot[a]] = std::max(free_[slot[a]], done);
  }
}

template <bool kStalls>
void Simulator::run_range(std::int32_t begin, std::int32_t end) {
  for (std::int32_t i = begin; i < end;) {
    const Node& node = program_->nodes[static_cast<std::size_t>(i)];
    if (node.op >= 0) {
      execute<kStalls>(program_->ops[static_cast<std::size_t>(node.op)]);
      ++i;
    } else {
      run_loop<kStalls>(i);
      i = node.end;
    }
  }
}

template <bool kStalls>
void Simulator::run_loop(std::int32_t loop) {
  const Node& node = program_->nodes[static_cast<std::size_t>(loop)];
  for (std::int64_t k = 0; k < node.count; ++k) run_range<kStalls>(loop + 1, node.end);
}

std::int64_t Simulator::run(const SimProgram& program, const Options& options) {
  options_ = options;
  prepare(program);
  run_range<false>(0, static_cast<std::int32_t>(program.nodes.size()));
  return latest_;
}

std::int64_t Simulator::run_with_stalls(const SimProgram& program, std::vector<EngineTimes>& times,
                                        const Options& options) {
  options_ = options;
  prepare(program);
  times_ = {};
  run_range<true>(0, static_cast<std::int32_t>(program.nodes.size()));
  times.assign(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(program.engines));
  for (std::size_t k = 0; k < times.size(); ++k) {
    times[k].stalls[static_cast<std::size_t>(Stall::finished)] += latest_ - engine_[k];
  }
  return latest_;
}

}  // namespace tilewright
