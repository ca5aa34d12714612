// SPDX-License-Identifier: Apache-2.0
#include "device_model/device_keys.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace tilewright {
namespace {

using enum NumberRule;

constexpr std::array kNpuKeys{
    DeviceKey{"clock_mhz", positive},
    DeviceKey{"cores.cube", count},
    DeviceKey{"cores.vector", count},
    DeviceKey{"launch.head_us", not_negative},
    DeviceKey{"launch.call_us", not_negative},
    DeviceKey{"cube.fractal_elements", count},
    DeviceKey{"cube.macs_per_cycle_fp16", positive},
    DeviceKey{"cube.macs_per_cycle_fp32", positive},
    DeviceKey{"cube.macs_per_cycle_int8", positive},
    DeviceKey{"cube.start_cycles", not_negative},
    DeviceKey{"cube.latency_cycles", not_negative},
    DeviceKey{"vector.pool_us", not_negative},
    DeviceKey{"vector.pool_elements", count},
    DeviceKey{"memory.l0a.capacity_bytes", count},
    DeviceKey{"memory.l0b.capacity_bytes", count},
    DeviceKey{"memory.l0c.capacity_bytes", count},
    DeviceKey{"memory.l1.capacity_bytes", count},
    DeviceKey{"memory.ub.capacity_bytes", count},
    DeviceKey{"memory.l2.capacity_bytes", count},
    DeviceKey{"path.gm_l1.piece_cycles", positive},
    DeviceKey{"path.gm_l1.piece_min_bytes", power_of_two},
    DeviceKey{"path.gm_l1.piece_max_bytes", power_of_two},
    DeviceKey{"path.gm_l1.off_grid_factor", positive},
    DeviceKey{"path.gm_l1.bytes_per_cycle", positive},
    DeviceKey{"path.gm_l1.latency_cycles", not_negative},
    DeviceKey{"path.gm_l1.shared_piece_cycles", not_negative},
    DeviceKey{"path.gm_l1.spread_sharers", fraction},
    DeviceKey{"path.l1_l0a.bytes_per_cycle", positive},
    DeviceKey{"path.l1_l0a.latency_cycles", not_negative},
    DeviceKey{"path.l1_l0b.bytes_per_cycle", positive},
    DeviceKey{"path.l1_l0b.latency_cycles", not_negative},
    DeviceKey{"path.l0c_gm.bytes_per_cycle", positive},
    DeviceKey{"path.l0c_gm.latency_cycles", not_negative},
    DeviceKey{"off_chip.bytes_per_second", positive},
    DeviceKey{"off_chip.reachable", fraction},
};

// No clock: the chip's times are in cycles only.
constexpr std::array kMxuKeys{
    DeviceKey{"mxu.lanes", count},
    DeviceKey{"mxu.columns", count},
    DeviceKey{"mxu.issue_rows", count},
    DeviceKey{"mxu.issue_cycles", positive},
    DeviceKey{"permute.use_cycles", not_negative},
    DeviceKey{"permute.tile_cycles", not_negative},
    DeviceKey{"permute.latency_cycles", not_negative},
    DeviceKey{"transpose.tile_cycles", not_negative},
    DeviceKey{"vector.elements_per_cycle", positive},
    DeviceKey{"dma.in_bytes_per_cycle", positive},
    DeviceKey{"dma.out_bytes_per_cycle", positive},
    DeviceKey{"dma.start_cycles", not_negative},
    DeviceKey{"dma.offset_elements", count},
    DeviceKey{"memory.on_chip.capacity_bytes", count},
    DeviceKey{"mutually_exclusive.transpose_mxu", on_off},
    DeviceKey{"address_state.global_barrier", on_off},
    DeviceKey{"address_state.barrier_groups", count},
};

constexpr std::array kHostKeys{
    DeviceKey{"clock_mhz", positive},
    DeviceKey{"cores.threads", count},
    DeviceKey{"vector.width_bytes", power_of_two},
    DeviceKey{"vector.registers", count},
    DeviceKey{"vector.fma_ports", count},
    DeviceKey{"memory.l1d.capacity_bytes", count},
    DeviceKey{"memory.l2.capacity_bytes", count},
    DeviceKey{"memory.gm.bytes_per_second", positive},
};

constexpr std::array kSystolicKeys{
    DeviceKey{"clock_mhz", positive},
    DeviceKey{"array.rows", count},
    DeviceKey{"array.columns", count},
    DeviceKey{"array.cycles_per_position_fp16", positive},
    DeviceKey{"array.cycles_per_position_fp32", positive},
    DeviceKey{"memory.sram.capacity_bytes", count},
    DeviceKey{"memory.sram.slots", count},
    DeviceKey{"off_chip.bytes_per_second", positive},
};

bool whole(double value) { return value >= 1 && value <= 9e15 && std::floor(value) == value; }

}  // namespace

std::span<const DeviceKey> device_keys(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::npu:
      return kNpuKeys;
    case DeviceKind::host:
      return kHostKeys;
    case DeviceKind::mxu:
      return kMxuKeys;
    case DeviceKind::systolic:
      return kSystolicKeys;
  }
  return {};
}

std::optional<RelationProblem> relation_problem(const Device& device) {
  if (device.kind != DeviceKind::npu) return std::nullopt;
  const double clients = device.number("cores.vector") / device.number("cores.cube");
  if (clients != 1 && clients != 2) {
    return RelationProblem{
        "cores.vector", fmt::format("must be once or twice cores.cube, not {:.4g} times", clients)};
  }
  const double most = device.number("path.gm_l1.piece_max_bytes");
  if (device.number("path.gm_l1.piece_min_bytes") > most) {
    return RelationProblem{
        "path.gm_l1.piece_min_bytes",
        fmt::format("must not exceed path.gm_l1.piece_max_bytes, which is {}", most)};
  }
  return std::nullopt;
}

std::optional<std::string> number_problem(NumberRule rule, double value) {
  const auto must = [&](const char* what) {
    return fmt::format("must be {}, not {}", what, value);
  };
  switch (rule) {
    case positive:
      if (!(value > 0 && value <= 1e18)) return must("above 0 and at most 1e18");
      break;
    case not_negative:
      if (!(value >= 0 && value <= 1e12)) return must("from 0 to 1e12");
      break;
    case fraction:
      if (!(value > 0 && value <= 1)) return must("above 0 and at most 1");
      break;
    case count:
      if (!whole(value)) return must("a whole number of at least 1");
      break;
    case power_of_two:
      if (!whole(value) || std::exp2(std::round(std::log2(value))) != value)
        return must("a power of two");
      break;
    case on_off:
      if (value != 0 && value != 1) return must("0 or 1");
      break;
  }
  return std::nullopt;
}

}  // namespace tilewright
