// SPDX-License-Identifier: Apache-2.0
// The harness's work: inputs, kernels between poisoned borders, gates, times.
#pragma once

#include "generators/harness_job.h"

namespace tilewright {

// What a kernel does wrong is part of the outcome. Errors: inputs that can not be had (usage), no
// memory, an output file that can not be written. A kernel that touches a guard page ends the
// process here, with a report on stdout (see guard.h).
Result<HarnessOutcome> run_job(const HarnessJob& job);

}  // namespace tilewright
