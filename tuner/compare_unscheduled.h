// SPDX-License-Identifier: Apache-2.0
// How much a schedule is worth: the scheduled kernel against the same algorithm without a schedule,
// one thread each, on a piece of the layer small enough for the slow one. Stored as two trials of
// one run.
#pragma once

#include <optional>
#include <string>

#include "tuner/tune.h"

namespace tilewright {

// One image or signal; of it as many output rows as a strip (conv2d_pool) or positions as two tiles
// (conv1d_bank).
Workload cropped(const Workload& workload, const Schedule& schedule);

struct PieceTimes {
  double scheduled_us = 0, unscheduled_us = 0;
  bool served_from_db = false;
};
// Errors: a kernel that does not build or fails its check, or the schedule does not fit the piece.
Result<PieceTimes> compare_with_unscheduled(const Workload& workload, const Schedule& schedule,
                                            const Device& device, const std::string& command_line,
                                            const TuneTools& tools);

}  // namespace tilewright
