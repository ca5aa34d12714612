// SPDX-License-Identifier: Apache-2.0
// Work -> engines and integer cycles on an NPU. One function per kind of work, used by the bound
// and by the simulator alike. Every number comes from the device file; formulas and their sources
// stand beside each function.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "device_model/device.h"
#include "device_model/piece_table.h"
#include "schedules/tile_program.h"
#include "schedules/work.h"

namespace tilewright {

// Engines of one cube core with its vector clients, each an in-order queue.
enum class NpuEngine : std::uint8_t { mte2, mte1, cube, fixp, off_chip, vec0, vec1 };
inline constexpr std::size_t kNpuEngines = 7;
// Lane names of the vendor's profiler, and OFF_CHIP.
std::string_view engine_name(NpuEngine engine);

// What an operation does to the engines: every engine in `engines` (a bit each) is held `hold`
// cycles, the off-chip engine, where it takes part, `off_chip_hold`. Its result is there `latency`
// cycles after the longest hold.
struct Cost {
  std::uint32_t engines = 0;
  NpuEngine main = NpuEngine::cube;
  std::int64_t hold = 0, off_chip_hold = 0, latency = 0;
};
inline constexpr std::uint32_t bit(NpuEngine engine) { return 1U << static_cast<unsigned>(engine); }

class Costing {
 public:
  explicit Costing(const Device& device);  // kind npu

  Cost cost(const Work& work) const {
    switch (work.kind) {
      case WorkKind::copy:
        return work.path == Path::gm_l1 ? load(work) : straight_copy(work);
      case WorkKind::product:
        return product(work);
      case WorkKind::fetch:
        return fetch(work);
      case WorkKind::launch:
      case WorkKind::call:
      case WorkKind::bind:
      case WorkKind::pool:
      default:  // kinds of work that no core of this kind has
        break;
    }
    return fixed(work);
  }

  // Bytes that come from off-chip memory when this is executed once.
  std::int64_t off_chip_bytes(const Work& work) const;
  double clock_mhz() const { return clock_mhz_; }
  double microseconds(std::int64_t cycles) const {
    return static_cast<double>(cycles) / clock_mhz_;
  }

 private:
  Cost load(const Work& work) const;
  Cost fetch(const Work& work) const;
  Cost straight_copy(const Work& work) const;
  Cost product(const Work& work) const;
  Cost fixed(const Work& work) const;  // launch, call, bind, pool

  struct PathRate {
    double bytes_per_cycle = 1;
    std::int64_t latency = 0;
    NpuEngine engine = NpuEngine::mte1;
  };

  double clock_mhz_;
  double piece_cycles_, shared_piece_cycles_, spread_sharers_;
  double off_chip_bytes_per_cycle_;
  std::int64_t l2_bytes_;
  PathRate paths_[kPathCount];
  PieceTable pieces_;
  double macs_per_cycle_[4];  // by DType
  std::int64_t product_start_, product_latency_;
  std::int64_t launch_, call_;
  double pool_cycles_per_element_;
};

}  // namespace tilewright
