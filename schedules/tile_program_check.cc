// SPDX-License-Identifier: Apache-2.0
// The checker of tile programs: structure first, then the meaning of the rings.
#include <fmt/format.h>

#include <algorithm>

#include "schedules/text.h"
#include "schedules/tile_program.h"

namespace tilewright {
namespace {

// Which engine kind takes a slot: the same path or unit always runs on the same engine of a device.
std::pair<WorkKind, Path> engine_kind(const Work& work) {
  if (work.kind != WorkKind::bind) return {work.kind, work.path};
  return {work.path == Path::none ? WorkKind::product : WorkKind::copy, work.path};
}

std::optional<std::string> structure_defect(const TileProgram& program) {
  const auto nodes = program.nodes();
  std::vector<std::int32_t> ends;  // of the loops that are open
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(nodes.size()); ++i) {
    while (!ends.empty() && ends.back() == i) ends.pop_back();
    const Node& node = nodes[static_cast<std::size_t>(i)];
    if (node.op >= 0) {
      if (static_cast<std::size_t>(node.op) >= program.operations().size()) {
        return fmt::format("node {}: no operation {}", i, node.op);
      }
      continue;
    }
    if (node.count < 1) return fmt::format("node {}: a loop of {} iterations", i, node.count);
    if (node.end <= i + 1 || node.end > static_cast<std::int32_t>(nodes.size()) ||
        (!ends.empty() && node.end > ends.back())) {
      return fmt::format("node {}: a loop that is empty, not closed or not nested", i);
    }
    ends.push_back(node.end);
  }
  return std::nullopt;
}

std::optional<std::string> ring_defect(const TileProgram& program) {
  for (const Ring& ring : program.rings()) {
    if (ring.slots < 1)
      return fmt::format("ring {} has {} slots; it needs at least one", ring.name, ring.slots);
  }
  std::vector<const Operation*> takers(program.rings().size(), nullptr);
  for (const Operation& operation : program.operations()) {
    for (const Access& access : operation.all_accesses()) {
      if (access.ring >= program.rings().size()) {
        return fmt::format("{}: no ring {}; there are {}", operation.label, access.ring,
                           program.rings().size());
      }
      const Ring& ring = program.rings()[access.ring];
      if (access.lag >= ring.slots) {
        return fmt::format("{}: lag {} of ring {}, which has {} slots", operation.label, access.lag,
                           ring.name, ring.slots);
      }
      if (!(access.verbs & verb::take)) continue;
      if (access.lag != 0)
        return fmt::format("{}: a take with lag {}", operation.label, access.lag);
      for (const Access& other : operation.all_accesses()) {
        const bool overwritten =
            (other.verbs & verb::take) || (&other < &access && other.lag + 1 >= ring.slots);
        if (&other != &access && other.ring == access.ring && overwritten) {
          return fmt::format("{} takes a slot of ring {} that it uses", operation.label, ring.name);
        }
      }
      const Operation*& taker = takers[access.ring];
      if (taker != nullptr && engine_kind(taker->work) != engine_kind(operation.work)) {
        return fmt::format("ring {} is taken by {} and by {}; one engine must take all its slots",
                           ring.name, taker->label, operation.label);
      }
      taker = &operation;
    }
  }
  return std::nullopt;
}

// Walks the program with at most two iterations a loop and follows what every slot holds.
class SlotWalk {
 public:
  explicit SlotWalk(const TileProgram& program)
      : program_(program), taken_(program.rings().size()) {
    for (const Ring& ring : program.rings())
      filled_.emplace_back(static_cast<std::size_t>(ring.slots), 0);
  }

  std::optional<std::string> range(std::int32_t begin, std::int32_t end) {
    for (std::int32_t i = begin; i < end;) {
      const Node& node = program_.nodes()[static_cast<std::size_t>(i)];
      if (node.op >= 0) {
        if (auto defect = operation(program_.operations()[static_cast<std::size_t>(node.op)]))
          return defect;
        ++i;
        continue;
      }
      for (std::int64_t k = 0; k < std::min<std::int64_t>(node.count, 2); ++k) {
        if (auto defect = range(i + 1, node.end)) return defect;
      }
      i = node.end;
    }
    return std::nullopt;
  }

 private:
  std::optional<std::string> operation(const Operation& op) {
    for (const Access& access : op.all_accesses()) {
      const Ring& ring = program_.rings()[access.ring];
      std::size_t& taken = taken_[access.ring];
      if (access.verbs & verb::take) ++taken;
      if (taken <= access.lag) {
        return fmt::format("{} uses ring {} before {} slots of it are taken", op.label, ring.name,
                           access.lag + 1);
      }
      char& filled =
          filled_[access.ring][(taken - 1 - access.lag) % static_cast<std::size_t>(ring.slots)];
      if (access.verbs & verb::take) filled = 0;
      // Who writes may wait for the take: it begins to fill the slot.
      if ((access.verbs & verb::read) && !(access.verbs & verb::write) && !filled) {
        return fmt::format("{} reads a slot of ring {} that nothing has written", op.label,
                           ring.name);
      }
      if (access.verbs & verb::write) filled = 1;
    }
    return std::nullopt;
  }

  const TileProgram& program_;
  std::vector<std::size_t> taken_;         // takes so far, per ring
  std::vector<std::vector<char>> filled_;  // per ring and physical slot
};

std::optional<std::string> capacity_defect(const TileProgram& program,
                                           std::span<const MemoryUse> capacities) {
  for (const MemoryUse& capacity : capacities) {
    std::int64_t needed = 0;
    std::string sum;
    for (const Ring& ring : program.rings()) {
      if (ring.memory != capacity.memory) continue;
      needed += ring.slots * ring.slot_bytes;
      sum += fmt::format("{}{} {}*{}", sum.empty() ? "" : " + ", ring.name, ring.slots,
                         with_commas(ring.slot_bytes));
    }
    if (capacity.available_bytes > 0 && needed > capacity.available_bytes) {
      return fmt::format("{} needs {} B ({}), it has {}", memory_name(capacity.memory),
                         with_commas(needed), sum, with_commas(capacity.available_bytes));
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> defect_of(const TileProgram& program,
                                     std::span<const MemoryUse> capacities) {
  if (auto defect = structure_defect(program)) return defect;
  if (auto defect = ring_defect(program)) return defect;
  if (auto defect = SlotWalk(program).range(0, static_cast<std::int32_t>(program.nodes().size())))
    return defect;
  return capacity_defect(program, capacities);
}

}  // namespace tilewright
