// SPDX-License-Identifier: Apache-2.0
#include "device_model/costing.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace tilewright {
namespace {

std::int64_t rounded_up(double cycles) {
  const auto whole = static_cast<std::int64_t>(cycles);
  return whole + (static_cast<double>(whole) < cycles);
}
std::int64_t to_cycles(double us, double clock_mhz) { return std::llround(us * clock_mhz); }

}  // namespace

std::string_view engine_name(NpuEngine engine) {
  constexpr std::string_view kNames[kNpuEngines] = {"MTE2",     "MTE1", "CUBE", "FIXP",
                                                    "OFF_CHIP", "VEC0", "VEC1"};
  return kNames[static_cast<std::size_t>(engine)];
}

Costing::Costing(const Device& device)
    : clock_mhz_(device.number("clock_mhz")),
      piece_cycles_(device.number("path.gm_l1.piece_cycles")),
      shared_piece_cycles_(device.number("path.gm_l1.shared_piece_cycles")),
      spread_sharers_(device.number("path.gm_l1.spread_sharers")),
      // Static share of a core: bandwidth * reachable / cores, per clock cycle.
      off_chip_bytes_per_cycle_(device.number("off_chip.bytes_per_second") *
                                device.number("off_chip.reachable") / device.number("cores.cube") /
                                (clock_mhz_ * 1e6)),
      l2_bytes_(static_cast<std::int64_t>(device.number("memory.l2.capacity_bytes"))),
      pieces_(static_cast<std::int64_t>(device.number("path.gm_l1.piece_min_bytes")),
              static_cast<std::int64_t>(device.number("path.gm_l1.piece_max_bytes")),
              device.number("path.gm_l1.off_grid_factor")),
      product_start_(std::llround(device.number("cube.start_cycles"))),
      product_latency_(std::llround(device.number("cube.latency_cycles"))),
      launch_(to_cycles(device.number("launch.head_us"), clock_mhz_)),
      call_(to_cycles(device.number("launch.call_us"), clock_mhz_)),
      pool_cycles_per_element_(device.number("vector.pool_us") * clock_mhz_ /
                               device.number("vector.pool_elements")) {
  const auto path = [&](Path p, const std::string& key, NpuEngine engine) {
    paths_[static_cast<std::size_t>(p)] = {device.number(key + ".bytes_per_cycle"),
                                           std::llround(device.number(key + ".latency_cycles")),
                                           engine};
  };
  path(Path::gm_l1, "path.gm_l1", NpuEngine::mte2);
  path(Path::l1_l0a, "path.l1_l0a", NpuEngine::mte1);
  path(Path::l1_l0b, "path.l1_l0b", NpuEngine::mte1);
  path(Path::l0c_gm, "path.l0c_gm", NpuEngine::fixp);
  macs_per_cycle_[static_cast<std::size_t>(DType::fp32)] =
      device.number("cube.macs_per_cycle_fp32");
  macs_per_cycle_[static_cast<std::size_t>(DType::fp16)] =
      device.number("cube.macs_per_cycle_fp16");
  macs_per_cycle_[static_cast<std::size_t>(DType::bf16)] =
      device.number("cube.macs_per_cycle_fp16");
  macs_per_cycle_[static_cast<std::size_t>(DType::int8)] =
      device.number("cube.macs_per_cycle_int8");
}

// A byte is off-chip the first time any core reads it, and again where the distinct bytes read in
// between do not fit L2. Of bytes that several cores read, each core is charged its share, in an
// operation of its own.
std::int64_t Costing::off_chip_bytes(const Work& work) const {
  const bool own_copy =
      work.kind == WorkKind::copy && work.path == Path::gm_l1 && work.sharing == Sharing::none;
  if (!own_copy && work.kind != WorkKind::fetch) return 0;
  if (!work.first_read && work.reuse_bytes <= l2_bytes_) return 0;
  if (own_copy) return work.bytes();
  return rounded_up(static_cast<double>(work.bytes()) /
                    static_cast<double>(std::max<std::int64_t>(work.sharers, 1)));
}

// GM -> L1, row-major to fractal: max(pieces * c, bytes / rate) cycles a copy. The mean pieces of
// the copy's rows, rounded up, cost c cycles each; S cores on the same lines slow each other down
// to shared_piece_cycles * S a piece.
Cost Costing::load(const Work& work) const {
  const PathRate& rate = paths_[static_cast<std::size_t>(Path::gm_l1)];
  double piece = piece_cycles_;
  if (work.sharing != Sharing::none) {
    const double met = work.sharing == Sharing::spread ? spread_sharers_ : 1.0;
    piece = std::max(piece, shared_piece_cycles_ * met * static_cast<double>(work.sharers));
  }
  const double mean =
      pieces_.mean(work.row_bytes, work.origin_bytes, work.step_bytes, work.stride_bytes);
  const std::int64_t pieces = rounded_up(mean * static_cast<double>(work.rows));
  Cost cost;
  cost.main = rate.engine;
  cost.engines = bit(rate.engine);
  cost.hold = rounded_up(std::max(static_cast<double>(pieces) * piece,
                                  static_cast<double>(work.bytes()) / rate.bytes_per_cycle));
  cost.latency = rate.latency;
  if (const std::int64_t bytes = off_chip_bytes(work); bytes > 0) {
    cost.engines |= bit(NpuEngine::off_chip);
    cost.off_chip_hold = rounded_up(static_cast<double>(bytes) / off_chip_bytes_per_cycle_);
  }
  return cost;
}

Cost Costing::fetch(const Work& work) const {
  Cost cost;
  cost.main = NpuEngine::off_chip;
  cost.engines = bit(NpuEngine::off_chip);
  cost.hold = rounded_up(static_cast<double>(off_chip_bytes(work)) / off_chip_bytes_per_cycle_);
  cost.latency = paths_[static_cast<std::size_t>(Path::gm_l1)].latency;
  return cost;
}

// L1 -> L0A, L0B and L0C -> GM: bytes / rate, then the path's latency.
Cost Costing::straight_copy(const Work& work) const {
  const PathRate& rate = paths_[static_cast<std::size_t>(work.path)];
  Cost cost;
  cost.main = rate.engine;
  cost.engines = bit(rate.engine);
  cost.hold = rounded_up(static_cast<double>(work.bytes()) / rate.bytes_per_cycle);
  cost.latency = rate.latency;
  return cost;
}

// m*n*k / rate cycles and a start; its result comes a latency later.
Cost Costing::product(const Work& work) const {
  Cost cost;
  cost.engines = bit(NpuEngine::cube);
  cost.hold = rounded_up(static_cast<double>(work.macs()) /
                         macs_per_cycle_[static_cast<std::size_t>(work.dtype)]) +
              product_start_;
  cost.latency = product_latency_;
  return cost;
}

Cost Costing::fixed(const Work& work) const {
  constexpr std::uint32_t kCore =
      bit(NpuEngine::mte2) | bit(NpuEngine::mte1) | bit(NpuEngine::cube) | bit(NpuEngine::fixp);
  Cost cost;
  switch (work.kind) {
    case WorkKind::launch:  // the whole core, clients included
      cost.engines = kCore | bit(NpuEngine::vec0) | bit(NpuEngine::vec1);
      cost.hold = launch_;
      break;
    case WorkKind::call:  // message, wake-up and fetch: nothing of the cube core runs meanwhile
      cost.engines = kCore;
      cost.hold = call_;
      break;
    case WorkKind::bind:
      if (work.path != Path::none) {
        cost.main = paths_[static_cast<std::size_t>(work.path)].engine;
      }
      cost.engines = bit(cost.main);
      break;
    case WorkKind::pool:  // linear in the elements, from one fitted item
      cost.main = work.client == 0 ? NpuEngine::vec0 : NpuEngine::vec1;
      cost.engines = bit(cost.main);
      cost.hold = std::llround(pool_cycles_per_element_ * static_cast<double>(work.elements));
      break;
    default:
      assert(false);
  }
  return cost;
}

}  // namespace tilewright
