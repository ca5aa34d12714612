// SPDX-License-Identifier: Apache-2.0
// conv1d_bank as a workload: its row of the operator table.
#pragma once

#include <cstdint>

#include "schedules/operators.h"
#include "schedules/units.h"

namespace tilewright {

Operator conv1d_bank_operator();

// Products of one output after folding: tap and mirror share one, an odd number of taps has a
// centre (251 -> 126).
inline std::int64_t folded_taps(const Conv1dBank& w) { return (w.k + 1) / 2; }

}  // namespace tilewright
