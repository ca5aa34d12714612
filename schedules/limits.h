// SPDX-License-Identifier: Apache-2.0
// Capacities that a schedule must respect: a plain struct, filled from a Device by the caller, so
// that schedules/ knows no device. Bytes unless said otherwise; a field that the kind of device
// does not have is 0.
#pragma once

#include <cstdint>

#include "schedules/schedule.h"

namespace tilewright {

struct Limits {
  DeviceKind kind = DeviceKind::host;
  // npu
  std::int64_t l0a = 0, l0b = 0, l0c = 0, l1 = 0, ub = 0;  // ub: usable bytes
  std::int64_t fractal = 16;  // elements per side of the matrix unit's block
  std::int64_t cube_cores = 0, vector_cores = 0;
  std::int64_t l2 = 0;
  // mxu
  std::int64_t on_chip = 0;                             // the one memory
  std::int64_t lanes = 0, columns = 0, issue_rows = 0;  // of the matrix unit, elements
  std::int64_t dma_step = 0;                            // grid of a copy's offsets, elements
  std::int64_t group_limit = 0;  // preparation groups in flight at most; 0 = as many as scheduled
  // systolic
  std::int64_t sram = 0, sram_slots = 0;  // slots: blocks of each operand that it must hold
  std::int64_t array_rows = 0, array_columns = 0;
  // host
  std::int64_t vector_bytes = 0, vector_registers = 0, l1d = 0, l2_per_core = 0, threads = 0;
  friend bool operator==(const Limits&, const Limits&) = default;
};

}  // namespace tilewright
