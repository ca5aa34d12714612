// SPDX-License-Identifier: Apache-2.0
// Work -> engines and time on a chip with one on-chip memory, a permute unit, a vector unit and a
// matrix unit with issues of a few rows. One function per kind of work, used by the bound and by
// the simulator alike. Such a chip has no published clock: times are in cycles, and inside the
// model in ticks of a thousandth of a cycle, so that a fitted rate such as 3.568 cycles an issue is
// not rounded operation by operation.
#pragma once

#include <cstdint>
#include <string_view>

#include "device_model/device.h"
#include "device_model/sim_program.h"
#include "schedules/tile_program.h"
#include "schedules/work.h"

namespace tilewright {

enum class MxuEngine : std::uint8_t {
  dma_in,
  permute,
  transpose,
  vector,
  mxu,
  dma_out,
  hold_issue,  // the exclusion group of transposes and products
};
inline constexpr std::size_t kMxuEngines = 7;
std::string_view engine_name(MxuEngine engine);
inline constexpr std::uint32_t bit(MxuEngine engine) { return 1U << static_cast<unsigned>(engine); }

// Every engine in `engines` (a bit each) is held `hold` ticks; the result is there `latency` ticks
// after that.
struct MxuCost {
  std::uint32_t engines = 0;
  std::int64_t hold = 0, latency = 0;
};

class MxuCosting {
 public:
  static constexpr std::int64_t kTicks = 1000;  // of a cycle

  explicit MxuCosting(const Device& device);  // kind mxu

  MxuCost cost(const Work& work) const;
  bool exclusive() const { return exclusive_; }
  std::int64_t issues(const Work& work) const;  // of a product

 private:
  MxuCost copy(const Work& work) const;
  MxuCost product(const Work& work) const;
  MxuCost rebuild(const Work& work) const;
  MxuCost prepare(const Work& work) const;
  MxuCost vector(const Work& work) const;
  MxuCost transpose(const Work& work) const;

  std::int64_t lanes_, columns_, issue_rows_;
  double issue_cycles_, use_cycles_, tile_cycles_, permute_latency_, transpose_cycles_;
  double vector_rate_, in_rate_, out_rate_, start_cycles_;
  bool exclusive_;
};

// TileProgram + costing -> SimProgram, in ticks. Reuses the storage of `out`.
void cost_program(const TileProgram& program, const MxuCosting& costing, SimProgram& out);

}  // namespace tilewright
