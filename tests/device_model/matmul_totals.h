// SPDX-License-Identifier: Apache-2.0
// What one core of a `blocked` matmul moves and multiplies, counted three times: by a plain loop
// over its blocks that knows nothing of the lowering, from the tile program, from the closed form.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "device_model/costing.h"
#include "schedules/matmul_lowering.h"

namespace tilewright::test {

struct CoreTotals {
  std::array<std::int64_t, kNpuEngines> busy{};
  std::int64_t loaded = 0, stored = 0, off_chip = 0, macs = 0;  // bytes, multiply-adds

  void add(const Costing& costing, const Work& work, std::int64_t times);
  std::string text() const;
  friend bool operator==(const CoreTotals&, const CoreTotals&) = default;
};

CoreTotals naive_totals(const Matmul& w, const Schedule& s, const Limits& limits,
                        const Costing& costing, const MatmulPart& part);
CoreTotals tree_totals(const Matmul& w, const Schedule& s, const Limits& limits,
                       const Costing& costing, const MatmulPart& part);
CoreTotals closed_totals(const Matmul& w, const Schedule& s, const Limits& limits,
                         const Costing& costing, const MatmulPart& part);
// Blocks of base_m x base_n x base_k on the largest core.
std::int64_t block_count(const Matmul& w, const Schedule& s);

}  // namespace tilewright::test
