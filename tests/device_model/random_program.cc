// SPDX-License-Identifier: Apache-2.0
#include "random_program.h"

#include <algorithm>
#include <map>

namespace tilewright::test {
namespace {

class Generator {
 public:
  Generator(std::mt19937_64& random, const ProgramShape& shape) : random_(random), shape_(shape) {}

  SimProgram make() {
    program_.clear();
    program_.engines = static_cast<std::size_t>(pick(2, 6));
    if (pick(0, 3) == 0) program_.exclusion_groups = 1U << (program_.engines - 1);
    const std::int64_t rings = pick(1, 5);
    for (std::int64_t r = 0; r < rings; ++r) {
      program_.slots.push_back(pick(0, 5) == 0 ? pick(1, 2 * shape_.most_slots)
                                               : pick(1, shape_.most_slots));
      takers_.push_back(
          static_cast<std::uint8_t>(pick(0, static_cast<std::int64_t>(program_.engines) - 1)));
    }
    // Balanced programs have long transients: draw all holds of some programs from few values.
    few_ = pick(0, 2) == 0;
    for (std::int64_t& value : values_) value = pick(0, shape_.longest);
    if (shape_.all_taken) take_all();
    if (pick(0, 1) == 0) operations(2);
    if (shape_.long_loops) {
      loop(pick(50, 2000), 1);
    } else {
      body(0, 1);
    }
    operations(3);
    return program_;
  }

 private:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  std::int64_t duration() {
    if (few_) return values_[static_cast<std::size_t>(pick(0, 2))];
    if (pick(0, 30) == 0) return pick(500, 3000);
    return pick(0, 6) == 0 ? 0 : pick(0, shape_.longest);
  }

  void loop(std::int64_t count, int depth) {
    const auto node = static_cast<std::int32_t>(program_.nodes.size());
    program_.nodes.push_back({-1, 0, count});
    body(depth, count);
    program_.nodes[static_cast<std::size_t>(node)].end =
        static_cast<std::int32_t>(program_.nodes.size());
  }
  void body(int depth, std::int64_t iterations) {
    const std::int64_t parts = pick(1, depth == 0 ? 3 : 2);
    operations(2);
    for (std::int64_t i = 0; i < parts; ++i) {
      if (depth < shape_.deepest && pick(0, 2) > 0 && iterations < shape_.most_executed / 40) {
        loop(pick(2, 30), depth + 1);
      }
      operations(2);
    }
  }
  void operations(std::int64_t most) {
    for (std::int64_t i = pick(1, most); i > 0; --i) operation();
  }

  void take_all() {
    for (std::size_t r = 0; r < takers_.size(); ++r) {
      const auto node = static_cast<std::int32_t>(program_.nodes.size());
      program_.nodes.push_back({-1, node + 2, program_.slots[r]});
      SimOp op;
      hold(op, takers_[r]);
      op.accesses[op.access_count++] = {static_cast<std::uint8_t>(r), verb::take | verb::write, 0};
      op.finish(0);
      add(op);
    }
  }
  void add(const SimOp& op) {
    program_.nodes.push_back({static_cast<std::int32_t>(program_.ops.size()),
                              static_cast<std::int32_t>(program_.nodes.size()) + 1, 1});
    program_.ops.push_back(op);
  }

  void hold(SimOp& op, std::uint8_t engine) {
    if (std::find(op.engines, op.engines + op.engine_count, engine) != op.engines + op.engine_count)
      return;
    op.engines[op.engine_count] = engine;
    op.holds[op.engine_count++] = duration();
  }
  // An operation must not take a slot that it uses.
  bool overwrites_itself(const SimOp& op, const Access& access) const {
    for (std::size_t b = 0; b < op.access_count; ++b) {
      const Access& other = op.accesses[b];
      if (other.ring != access.ring || !(access.verbs & verb::take)) continue;
      if ((other.verbs & verb::take) || other.lag + 1 >= program_.slots[access.ring]) return true;
    }
    return false;
  }
  void operation() {
    SimOp op;
    op.overhead = pick(0, 15) == 0;
    const auto any_engine = [&] {
      return static_cast<std::uint8_t>(pick(0, static_cast<std::int64_t>(program_.engines) - 1));
    };
    hold(op, any_engine());
    for (std::int64_t more = pick(0, 5) == 0 ? pick(1, 2) : 0; more > 0; --more)
      hold(op, any_engine());
    const std::int64_t accesses = pick(0, 3);
    for (std::int64_t a = 0; a < accesses; ++a) {
      const auto ring =
          static_cast<std::uint8_t>(pick(0, static_cast<std::int64_t>(program_.slots.size()) - 1));
      Access access{ring, 0, 0};
      switch (pick(0, 3)) {
        case 0:
          access.verbs = verb::take | verb::write;
          break;
        case 1:
          access.verbs = pick(0, 1) ? verb::take : verb::write;
          break;
        default:
          access.verbs = pick(0, 4) ? verb::read : verb::read | verb::write;
      }
      if (access.verbs & verb::take) {
        hold(op, takers_[ring]);
      } else if (pick(0, 2) == 0) {
        access.lag = static_cast<std::uint8_t>(pick(0, program_.slots[ring] - 1));
      }
      if (overwrites_itself(op, access)) continue;
      op.accesses[op.access_count++] = access;
    }
    op.finish(pick(0, 2) ? 0 : duration());
    add(op);
  }

  std::mt19937_64& random_;
  ProgramShape shape_;
  SimProgram program_;
  std::vector<std::uint8_t> takers_;  // per ring
  bool few_ = false;
  std::int64_t values_[3] = {};
};

struct Interpreter {
  const SimProgram& program;
  Interpreted result;
  struct Slot {
    std::int64_t filled = 0, last_use = 0;
  };
  std::vector<std::map<std::int64_t, Slot>>
      takes;  // per ring, by take number; negative: before the first take
  std::vector<std::int64_t> taken;

  void range(std::int32_t begin, std::int32_t end) {
    for (std::int32_t i = begin; i < end;) {
      const Node& node = program.nodes[static_cast<std::size_t>(i)];
      if (node.op >= 0) {
        operation(program.ops[static_cast<std::size_t>(node.op)]);
        i += 1;
        continue;
      }
      for (std::int64_t k = 0; k < node.count; ++k) range(i + 1, node.end);
      i = node.end;
    }
  }

  void operation(const SimOp& op) {
    // (time, reason) of everything that it waits for: its engines first, then rings in order of
    // access.
    std::vector<std::pair<std::int64_t, Stall>> waits;
    for (int k = 0; k < op.engine_count; ++k) {
      const bool group = (program.exclusion_groups >> op.engines[k]) & 1U;
      waits.emplace_back(result.engines[op.engines[k]],
                         group ? Stall::excluded : Stall::engine_busy);
    }
    std::vector<std::pair<int, std::int64_t>> used;  // ring, take number
    for (int a = 0; a < op.access_count; ++a) {
      const Access& access = op.accesses[a];
      const int ring = access.ring;
      const auto r = static_cast<std::size_t>(ring);
      std::int64_t number = taken[r] - 1 - access.lag;
      if (access.verbs & verb::take) {
        number = taken[r]++;
        waits.emplace_back(takes[r][number - program.slots[r]].last_use, Stall::slot_not_free);
        takes[r].erase(number - program.slots[r]);
      }
      // A read of the slot that this very operation takes sees what the slot held before.
      if (access.verbs & verb::read)
        waits.emplace_back(takes[r][number].filled, Stall::input_not_there);
      used.emplace_back(ring, number);
    }
    std::int64_t start = 0;
    for (const auto& [time, reason] : waits) start = std::max(start, time);
    // The first of the latest ones is to blame; among engines an exclusion group is.
    Stall blame = Stall::engine_busy;
    for (std::size_t w = 0; w < waits.size(); ++w) {
      if (waits[w].first != start) continue;
      const bool engine = w < op.engine_count;
      if (engine) {
        for (int k = 0; k < op.engine_count; ++k) {
          const auto& [time, reason] = waits[static_cast<std::size_t>(k)];
          if (time == start && reason == Stall::excluded) blame = Stall::excluded;
        }
      } else {
        blame = waits[w].second;
      }
      break;
    }
    const std::int64_t done = start + op.duration;
    for (int k = 0; k < op.engine_count; ++k) {
      EngineTimes& times = result.times[op.engines[k]];
      std::int64_t& engine = result.engines[op.engines[k]];
      times.stalls[static_cast<std::size_t>(blame)] += start - engine;
      (op.overhead ? times.stalls[static_cast<std::size_t>(Stall::call)] : times.busy) +=
          op.holds[k];
      engine = start + op.holds[k];
    }
    for (int a = 0; a < op.access_count; ++a) {
      Slot& slot = takes[static_cast<std::size_t>(used[static_cast<std::size_t>(a)].first)]
                        [used[static_cast<std::size_t>(a)].second];
      if (op.accesses[a].verbs & verb::take) slot.filled = slot.last_use = start;
      if (op.accesses[a].verbs & verb::write) slot.filled = std::max(slot.filled, done);
      slot.last_use = std::max(slot.last_use, done);
    }
    result.end = std::max(result.end, done);
  }
};

std::int64_t executed_in(const SimProgram& program, std::int32_t begin, std::int32_t end) {
  std::int64_t sum = 0;
  for (std::int32_t i = begin; i < end;) {
    const Node& node = program.nodes[static_cast<std::size_t>(i)];
    sum += node.op >= 0 ? 1 : node.count * executed_in(program, i + 1, node.end);
    i = node.op >= 0 ? i + 1 : node.end;
  }
  return sum;
}

}  // namespace

std::int64_t executed_operations(const SimProgram& program) {
  return executed_in(program, 0, static_cast<std::int32_t>(program.nodes.size()));
}

SimProgram random_program(std::mt19937_64& random, const ProgramShape& shape) {
  while (true) {
    SimProgram program = Generator(random, shape).make();
    if (executed_operations(program) <= shape.most_executed) return program;
  }
}

Interpreted interpret(const SimProgram& program) {
  Interpreter interpreter{program, {}, {}, {}};
  interpreter.result.engines.assign(program.engines, 0);
  interpreter.result.times.assign(program.engines, {});
  interpreter.takes.resize(program.slots.size());
  interpreter.taken.assign(program.slots.size(), 0);
  interpreter.range(0, static_cast<std::int32_t>(program.nodes.size()));
  for (std::size_t e = 0; e < program.engines; ++e) {
    interpreter.result.times[e].stalls[static_cast<std::size_t>(Stall::finished)] +=
        interpreter.result.end - interpreter.result.engines[e];
  }
  return interpreter.result;
}

}  // namespace tilewright::test
