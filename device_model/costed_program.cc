// SPDX-License-Identifier: Apache-2.0
#include "device_model/costed_program.h"

#include <algorithm>
#include <bit>

namespace tilewright {
namespace {

void cost_operation(const Operation& operation, const Costing& costing, SimOp& op) {
  const Cost cost = costing.cost(operation.work);
  op.overhead = operation.work.kind == WorkKind::launch || operation.work.kind == WorkKind::call;
  op.engine_count = 0;
  for (std::uint32_t engines = cost.engines; engines != 0; engines &= engines - 1) {
    const auto engine = static_cast<std::uint8_t>(std::countr_zero(engines));
    const bool off_chip = engine == static_cast<std::uint8_t>(NpuEngine::off_chip);
    op.engines[op.engine_count] = engine;
    const bool beside = off_chip && cost.main != NpuEngine::off_chip;
    op.holds[op.engine_count++] = beside ? cost.off_chip_hold : cost.hold;
  }
  op.finish(cost.latency);
  op.access_count = operation.access_count;
  std::copy_n(operation.accesses, operation.access_count, op.accesses);
}

}  // namespace

void cost_program(const TileProgram& program, const Costing& costing, SimProgram& out) {
  out.engines = kNpuEngines;
  out.exclusion_groups = 0;
  out.nodes.assign(program.nodes().begin(), program.nodes().end());
  out.slots.clear();
  for (const Ring& ring : program.rings()) out.slots.push_back(ring.slots);
  const auto operations = program.operations();
  out.ops.resize(operations.size());
  for (std::size_t i = 0; i < operations.size(); ++i)
    cost_operation(operations[i], costing, out.ops[i]);
}

}  // namespace tilewright
