// SPDX-License-Identifier: Apache-2.0
#include "device_model/sim_program.h"

#include <fmt/format.h>

namespace tilewright {
namespace {

std::optional<std::string> op_defect(const SimProgram& program, const SimOp& op, std::size_t number,
                                     std::vector<std::uint32_t>& takers) {
  std::uint32_t engines = 0;
  if (op.engine_count < 1) return fmt::format("operation {} has no engine", number);
  for (std::size_t k = 0; k < op.engine_count; ++k) {
    if (op.engines[k] >= program.engines)
      return fmt::format("operation {} on unknown engine {}", number, op.engines[k]);
    if (op.holds[k] < 0 || op.holds[k] > op.duration) {
      return fmt::format("operation {} holds engine {} for {} of {} cycles", number, op.engines[k],
                         op.holds[k], op.duration);
    }
    engines |= 1U << op.engines[k];
  }
  for (std::size_t a = 0; a < op.access_count; ++a) {
    const Access& access = op.accesses[a];
    if (access.ring >= program.slots.size())
      return fmt::format("operation {} uses unknown ring {}", number, access.ring);
    if (access.lag >= program.slots[access.ring]) {
      return fmt::format("operation {}: lag {} in ring {} of {} slots", number, access.lag,
                         access.ring, program.slots[access.ring]);
    }
    if (!(access.verbs & verb::take)) continue;
    for (std::size_t b = 0; b < op.access_count; ++b) {
      const Access& other = op.accesses[b];
      const bool overwritten =
          (other.verbs & verb::take) || (b < a && other.lag + 1 >= program.slots[access.ring]);
      if (b != a && other.ring == access.ring && overwritten) {
        return fmt::format("operation {} takes a slot of ring {} that it uses", number,
                           access.ring);
      }
    }
    takers[access.ring] &= engines;
    if (takers[access.ring] == 0)
      return fmt::format("ring {} is taken by several engines", access.ring);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> defect_of(const SimProgram& program) {
  if (program.engines > kMaxEngines || program.slots.size() > kMaxRings)
    return "too many engines or rings";
  for (std::size_t r = 0; r < program.slots.size(); ++r) {
    if (program.slots[r] < 1) return fmt::format("ring {} has {} slots", r, program.slots[r]);
  }
  std::vector<std::uint32_t> takers(program.slots.size(), ~0U);
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    if (auto defect = op_defect(program, program.ops[i], i, takers)) return defect;
  }
  for (const Node& node : program.nodes) {
    if (node.op < 0 && node.count < 1) return fmt::format("a loop of {} iterations", node.count);
  }
  return std::nullopt;
}

}  // namespace tilewright
