// SPDX-License-Identifier: Apache-2.0
// matmul as a workload: its row of the operator table.
#pragma once

#include "schedules/operators.h"

namespace tilewright {

Operator matmul_operator();

}  // namespace tilewright
