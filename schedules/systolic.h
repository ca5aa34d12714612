// SPDX-License-Identifier: Apache-2.0
// The variants of a systolic device: their limits, grids and hand schedules.
#pragma once

#include "schedules/variants.h"

namespace tilewright {

const VariantRow& matmul_blocked_systolic_row();
const VariantRow& matmul_systolic_row();
const VariantRow& conv2d_systolic_row();

}  // namespace tilewright
