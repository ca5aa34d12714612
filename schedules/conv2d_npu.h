// SPDX-License-Identifier: Apache-2.0
// conv2d_pool on an NPU (common Ascend-like block of knobs): rows of the variant table. Formulas:
// the limits of the fused Conv2d specification.
#pragma once

#include "schedules/variants.h"

namespace tilewright {

const VariantRow& conv2d_shift_reduce_row();  // text and UB sum only
const VariantRow& conv2d_k_folded_row();      // text and UB sum only
const VariantRow& conv2d_im2col_row();

}  // namespace tilewright
