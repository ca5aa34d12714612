// SPDX-License-Identifier: Apache-2.0
#include "device_model/sim_facts.h"

#include <algorithm>

namespace tilewright {
namespace {

std::uint32_t engines_of(const SimOp& op) {
  std::uint32_t engines = 0;
  for (std::size_t k = 0; k < op.engine_count; ++k) engines |= 1U << op.engines[k];
  return engines;
}

void merge(LoopFacts& into, const LoopFacts& from, std::int64_t count) {
  constexpr std::int64_t kMany = std::int64_t{1} << 31;
  into.operations = std::min(kMany, into.operations + from.operations * std::min(count, kMany));
  into.engines |= from.engines;
  into.rings |= from.rings;
  into.taken |= from.taken;
  for (std::uint32_t rings = from.rings; rings != 0; rings &= rings - 1) {
    const auto r = static_cast<std::size_t>(__builtin_ctz(rings));
    into.used[r] |= from.used[r];
    into.filled[r] |= from.filled[r];
  }
}

}  // namespace

void SimFacts::add_operation(const SimOp& op, LoopFacts& facts) const {
  ++facts.operations;
  facts.engines |= engines_of(op);
  for (std::size_t a = 0; a < op.access_count; ++a) {
    const Access access = op.accesses[a];
    facts.rings |= 1U << access.ring;
    if (access.verbs & verb::take) facts.taken |= 1U << access.ring;
    const std::uint64_t lag = std::uint64_t{1} << std::min<unsigned>(access.lag, 63);
    facts.used[access.ring] |= lag;
    if (access.verbs & (verb::take | verb::write)) facts.filled[access.ring] |= lag;
  }
}

// Inner loops first: a node's end is known, so a loop is complete when all nodes below it are.
void SimFacts::collect(std::int32_t loop) {
  const auto& nodes = program_->nodes;
  const auto number = static_cast<std::size_t>(loop_of_[static_cast<std::size_t>(loop)]);
  for (std::int32_t i = loop + 1; i < nodes[static_cast<std::size_t>(loop)].end;) {
    const Node& node = nodes[static_cast<std::size_t>(i)];
    if (node.op >= 0) {
      add_operation(program_->ops[static_cast<std::size_t>(node.op)], loops_[number]);
      ++i;
    } else {
      collect(i);
      merge(loops_[number], loops_[static_cast<std::size_t>(loop_of_[static_cast<std::size_t>(i)])],
            node.count);
      i = node.end;
    }
  }
}

void SimFacts::prepare(const SimProgram& program) {
  program_ = &program;
  ring_count_ = program.slots.size();
  slot_count_ = 0;
  for (std::size_t r = 0; r < ring_count_; ++r) {
    rings_[r] = {};
    rings_[r].slots = static_cast<std::int32_t>(program.slots[r]);
    rings_[r].base = static_cast<std::int32_t>(slot_count_);
    rings_[r].takers = ~0U;
    slot_count_ += static_cast<std::size_t>(program.slots[r]);
  }
  for (const SimOp& op : program.ops) {
    for (std::size_t a = 0; a < op.access_count; ++a) {
      const Access access = op.accesses[a];
      RingFacts& ring = rings_[access.ring];
      if (access.verbs & verb::take) ring.takers &= engines_of(op);
      if (!(access.verbs & verb::read)) continue;
      ring.readable = std::max(ring.readable, access.lag + 1);
      ring.readers |= 1U << op.engines[0];
    }
  }
  loop_of_.resize(program.nodes.size());
  std::int32_t loops = 0;
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    if (program.nodes[i].op < 0) loop_of_[i] = loops++;
  }
  loops_.assign(static_cast<std::size_t>(loops), LoopFacts{});
  const auto end = static_cast<std::int32_t>(program.nodes.size());
  for (std::int32_t i = 0; i < end;) {
    const Node& node = program.nodes[static_cast<std::size_t>(i)];
    if (node.op < 0) collect(i);
    i = node.op < 0 ? node.end : i + 1;
  }
}

}  // namespace tilewright
