// SPDX-License-Identifier: Apache-2.0
// conv1d_bank on a CPU: `folded_channel_major` (polyphase, folded, any number of chains) and
// `direct` (polyphase, every tap, any weights).
#pragma once

#include "schedules/variants.h"

namespace tilewright {

const VariantRow& conv1d_folded_row();
const VariantRow& conv1d_direct_row();

}  // namespace tilewright
