// SPDX-License-Identifier: Apache-2.0
// The host's bound: multiply-adds at the vector units' rate, or the arrays once through memory,
// whichever takes longer.
#pragma once

#include <cstdint>

#include "device_model/device.h"
#include "schedules/schedule.h"
#include "schedules/workload.h"

namespace tilewright {

struct HostRoofline {
  double compute_ns = 0, memory_ns = 0;
  std::int64_t macs = 0;             // that the variant does, folding included
  std::int64_t bytes = 0;            // every input and output element once
  std::int64_t nanoseconds() const;  // the larger one, rounded down
};

bool has_host_model(Variant variant);
// Precondition: has_host_model(schedule.variant) and a device of kind host.
HostRoofline host_roofline(const Workload& workload, const Schedule& schedule,
                           const Device& device);

}  // namespace tilewright
