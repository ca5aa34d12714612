// SPDX-License-Identifier: Apache-2.0
// Work -> engines and integer cycles on a systolic device: one array, one off-chip channel that
// loads and stores share. One function, used by the bound and by the simulator alike.
#pragma once

#include <cstdint>
#include <string_view>

#include "device_model/device.h"
#include "device_model/sim_program.h"
#include "schedules/tile_program.h"
#include "schedules/work.h"

namespace tilewright {

enum class SystolicEngine : std::uint8_t { array, off_chip };
inline constexpr std::size_t kSystolicEngines = 2;
std::string_view engine_name(SystolicEngine engine);

class SystolicCosting {
 public:
  explicit SystolicCosting(const Device& device);  // kind systolic

  // Cycles that a piece of work holds its engine.
  //   copy     bytes / (bandwidth / clock)
  //   product  m*n*k multiply-adds at the flat peak of R*C a cycle
  //   stream   a pass of m positions: m + 2R + C - 2 cycles from its first weight to its last sum;
  //            counted from cycle 0, so that a pass lasts one less and a turn of one cycle lies
  //            between two: ceil(K/R)*ceil(N/C)*(M + 2R + C - 2) - 1 for the array alone
  std::int64_t hold(const Work& work) const;
  SystolicEngine engine(const Work& work) const {
    return work.kind == WorkKind::copy ? SystolicEngine::off_chip : SystolicEngine::array;
  }
  double clock_mhz() const { return clock_mhz_; }
  double microseconds(std::int64_t cycles) const {
    return static_cast<double>(cycles) / clock_mhz_;
  }
  // Multiply-adds a second of the whole array, every cell busy.
  double peak_macs_per_second(DType dtype) const;
  double bytes_per_second() const { return bytes_per_second_; }

 private:
  double cycles_per_position(DType dtype) const {
    return dtype == DType::fp32 ? cycles_fp32_ : cycles_fp16_;
  }

  double clock_mhz_, bytes_per_second_, cycles_fp16_, cycles_fp32_;
  std::int64_t rows_, columns_;
};

void cost_program(const TileProgram& program, const SystolicCosting& costing, SimProgram& out);

}  // namespace tilewright
