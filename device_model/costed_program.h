// SPDX-License-Identifier: Apache-2.0
// TileProgram + Costing -> SimProgram. Reuses the storage of `out`.
#pragma once

#include "device_model/costing.h"
#include "device_model/sim_program.h"
#include "schedules/tile_program.h"

namespace tilewright {

void cost_program(const TileProgram& program, const Costing& costing, SimProgram& out);

}  // namespace tilewright
