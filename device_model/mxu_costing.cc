// SPDX-License-Identifier: Apache-2.0
#include "device_model/mxu_costing.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "schedules/units.h"

namespace tilewright {
namespace {

constexpr double kBf16 = 2;
constexpr double kLongest = 1e15;  // ticks of one operation; more is no schedule anybody runs

std::int64_t ticks(double cycles) {
  const double exact = cycles * static_cast<double>(MxuCosting::kTicks);
  // 3.568 cycles are 3568 ticks, though 3.568 is no binary fraction.
  return static_cast<std::int64_t>(std::min(std::ceil(exact - exact * 1e-12), kLongest));
}
double real(std::int64_t value) { return static_cast<double>(value); }

}  // namespace

std::string_view engine_name(MxuEngine engine) {
  constexpr std::string_view kNames[kMxuEngines] = {
      "DMA_IN", "PERMUTE", "PERMUTE.TRANSPOSE", "VECTOR", "MXU", "DMA_OUT", "HOLD_ISSUE"};
  return kNames[static_cast<std::size_t>(engine)];
}

MxuCosting::MxuCosting(const Device& device)
    : lanes_(std::llround(device.number("mxu.lanes"))),
      columns_(std::llround(device.number("mxu.columns"))),
      issue_rows_(std::llround(device.number("mxu.issue_rows"))),
      issue_cycles_(device.number("mxu.issue_cycles")),
      use_cycles_(device.number("permute.use_cycles")),
      tile_cycles_(device.number("permute.tile_cycles")),
      permute_latency_(device.number("permute.latency_cycles")),
      transpose_cycles_(device.number("transpose.tile_cycles")),
      vector_rate_(device.number("vector.elements_per_cycle")),
      in_rate_(device.number("dma.in_bytes_per_cycle")),
      out_rate_(device.number("dma.out_bytes_per_cycle")),
      start_cycles_(device.number("dma.start_cycles")),
      exclusive_(device.number("mutually_exclusive.transpose_mxu") != 0) {}

MxuCost MxuCosting::cost(const Work& work) const {
  switch (work.kind) {
    case WorkKind::copy:
      return copy(work);
    case WorkKind::product:
      return product(work);
    case WorkKind::rebuild:
      return rebuild(work);
    case WorkKind::prepare:
      return prepare(work);
    case WorkKind::vector:
      return vector(work);
    case WorkKind::transpose:
      return transpose(work);
    case WorkKind::reserve:
      return {bit(MxuEngine::permute), 0, 0};
    default:  // bind, and kinds of work that this chip does not have
      return {bit(MxuEngine::mxu), 0, 0};
  }
}

// bytes / rate; the start-up passes before the copy's result is there and is hidden while another
// copy is queued.
MxuCost MxuCosting::copy(const Work& work) const {
  const bool in = work.path == Path::dma_in;
  return {bit(in ? MxuEngine::dma_in : MxuEngine::dma_out),
          ticks(real(work.bytes()) / (in ? in_rate_ : out_rate_)), ticks(start_cycles_)};
}

// Products of (m x k)(k x n): an issue takes issue_rows rows, all lanes and all columns.
std::int64_t MxuCosting::issues(const Work& work) const {
  return tilewright::product(ceil_div(work.m, issue_rows_), ceil_div(work.n, columns_),
                             ceil_div(work.k, lanes_), std::max<std::int64_t>(1, work.rows));
}
MxuCost MxuCosting::product(const Work& work) const {
  MxuCost cost{bit(MxuEngine::mxu), ticks(real(issues(work)) * issue_cycles_), 0};
  if (exclusive_) cost.engines |= bit(MxuEngine::hold_issue);
  return cost;
}

// Rows of one use, an issue's worth at a time.
MxuCost MxuCosting::rebuild(const Work& work) const {
  return {bit(MxuEngine::permute), ticks(real(ceil_div(work.m, issue_rows_)) * use_cycles_), 0};
}
// A tile is all lanes x all columns, one part; fewer rows take their share of it. It is there when
// it has passed the permute network; a rebuilt operand's way is in its fitted figure.
MxuCost MxuCosting::prepare(const Work& work) const {
  const double tiles = real(work.m) / real(columns_) * real(work.rows);
  return {bit(MxuEngine::permute), ticks(tiles * tile_cycles_), ticks(permute_latency_)};
}

MxuCost MxuCosting::vector(const Work& work) const {
  return {bit(MxuEngine::vector), ticks(real(work.elements) / vector_rate_), 0};
}

// In tiles of lanes x columns BF16 elements, by bytes.
MxuCost MxuCosting::transpose(const Work& work) const {
  const double tile_bytes = kBf16 * real(lanes_) * real(columns_);
  MxuCost cost{bit(MxuEngine::transpose),
               ticks(real(work.bytes()) / tile_bytes * transpose_cycles_), 0};
  if (exclusive_) cost.engines |= bit(MxuEngine::hold_issue);
  return cost;
}

void cost_program(const TileProgram& program, const MxuCosting& costing, SimProgram& out) {
  out.engines = kMxuEngines;
  out.exclusion_groups = bit(MxuEngine::hold_issue);
  out.nodes.assign(program.nodes().begin(), program.nodes().end());
  out.slots.clear();
  for (const Ring& ring : program.rings()) out.slots.push_back(ring.slots);
  out.ops.resize(program.operations().size());
  for (std::size_t i = 0; i < out.ops.size(); ++i) {
    const Operation& operation = program.operations()[i];
    const MxuCost cost = costing.cost(operation.work);
    SimOp& op = out.ops[i];
    op.overhead = false;
    op.engine_count = 0;
    for (std::uint32_t engines = cost.engines; engines != 0; engines &= engines - 1) {
      op.engines[op.engine_count] = static_cast<std::uint8_t>(std::countr_zero(engines));
      op.holds[op.engine_count++] = cost.hold;
    }
    op.finish(cost.latency);
    op.access_count = operation.access_count;
    std::copy_n(operation.accesses, operation.access_count, op.accesses);
  }
}

}  // namespace tilewright
