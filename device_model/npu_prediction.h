// SPDX-License-Identifier: Apache-2.0
// bound() and simulate() on an NPU: the busiest core decides, the figures of the chip are sums over
// all its cores.
#pragma once

#include "device_model/model.h"
#include "device_model/npu_model.h"

namespace tilewright {

// Precondition of both: the schedule is feasible.
Prediction npu_bound(const NpuVariantModel& model, const Workload& workload,
                     const Schedule& schedule, const Device& device);
Prediction npu_simulate(const NpuVariantModel& model, const Workload& workload,
                        const Schedule& schedule, const Device& device);

}  // namespace tilewright
