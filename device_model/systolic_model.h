// SPDX-License-Identifier: Apache-2.0
// bound() and simulate() on a systolic device, and the bandwidth that a tile asks for.
#pragma once

#include "device_model/model.h"

namespace tilewright {

bool has_systolic_model(Variant variant);
// Precondition of both: the schedule is feasible.
Prediction systolic_prediction(const Workload& workload, const Schedule& schedule,
                               const Device& device);  // the bound
Prediction systolic_simulate(const Workload& workload, const Schedule& schedule,
                             const Device& device);

// Bytes a second that keep the array at its flat peak: the blocks of A and B in the time of their
// product. Whether that is more than the channel has, or the schedule is infeasible, is not asked.
double needed_bandwidth(const Workload& workload, const Schedule& schedule, const Device& device);

}  // namespace tilewright
