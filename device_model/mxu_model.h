// SPDX-License-Identifier: Apache-2.0
// Predictions for chips of kind mxu, which run the filter bank. Cycles only: Prediction::us stays
// 0.
#pragma once

#include "device_model/model.h"

namespace tilewright {

bool has_mxu_model(const Workload& workload);
// Precondition of both: the schedule is feasible.
Prediction mxu_bound(const Workload& workload, const Schedule& schedule, const Device& device);
Prediction mxu_simulate(const Workload& workload, const Schedule& schedule, const Device& device);

}  // namespace tilewright
