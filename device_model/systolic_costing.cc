// SPDX-License-Identifier: Apache-2.0
#include "device_model/systolic_costing.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace tilewright {
namespace {

double real(std::int64_t value) { return static_cast<double>(value); }
std::int64_t rounded_up(double cycles) { return static_cast<std::int64_t>(std::ceil(cycles)); }

}  // namespace

std::string_view engine_name(SystolicEngine engine) {
  return engine == SystolicEngine::array ? "ARRAY" : "OFF_CHIP";
}

SystolicCosting::SystolicCosting(const Device& device)
    : clock_mhz_(device.number("clock_mhz")),
      bytes_per_second_(device.number("off_chip.bytes_per_second")),
      cycles_fp16_(device.number("array.cycles_per_position_fp16")),
      cycles_fp32_(device.number("array.cycles_per_position_fp32")),
      rows_(static_cast<std::int64_t>(device.number("array.rows"))),
      columns_(static_cast<std::int64_t>(device.number("array.columns"))) {}

std::int64_t SystolicCosting::hold(const Work& work) const {
  switch (work.kind) {
    case WorkKind::copy:
      return rounded_up(real(work.bytes()) * clock_mhz_ * 1e6 / bytes_per_second_);
    case WorkKind::product:
      return rounded_up(real(work.macs()) * cycles_per_position(work.dtype) /
                        (real(rows_) * real(columns_)));
    case WorkKind::stream:
      return rounded_up(real(work.m) * cycles_per_position(work.dtype)) + 2 * rows_ + columns_ - 2 -
             1;
    case WorkKind::turn:
      return 1;
    case WorkKind::bind:
      return 0;
    default:
      assert(false);  // kinds of work that no systolic device has
      return 0;
  }
}

double SystolicCosting::peak_macs_per_second(DType dtype) const {
  return real(rows_ * columns_) * clock_mhz_ * 1e6 / cycles_per_position(dtype);
}

void cost_program(const TileProgram& program, const SystolicCosting& costing, SimProgram& out) {
  out.clear();
  out.engines = kSystolicEngines;
  out.nodes.assign(program.nodes().begin(), program.nodes().end());
  for (const Ring& ring : program.rings()) out.slots.push_back(ring.slots);
  out.ops.resize(program.operations().size());
  for (std::size_t i = 0; i < out.ops.size(); ++i) {
    const Operation& operation = program.operations()[i];
    SimOp& op = out.ops[i];
    op.engine_count = 1;
    op.engines[0] = static_cast<std::uint8_t>(costing.engine(operation.work));
    op.holds[0] = costing.hold(operation.work);
    op.finish(0);
    op.access_count = operation.access_count;
    std::copy_n(operation.accesses, operation.access_count, op.accesses);
  }
}

}  // namespace tilewright
