// SPDX-License-Identifier: Apache-2.0
// conv2d_pool on a CPU: the row of its production variant `direct` (implicit im2col, register tile
// of channels x positions).
#pragma once

#include "schedules/variants.h"

namespace tilewright {

const VariantRow& conv2d_direct_row();

}  // namespace tilewright
