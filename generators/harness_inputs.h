// SPDX-License-Identifier: Apache-2.0
// A job's inputs where kernels find them: read-only, between poisoned borders.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "generators/guard.h"
#include "generators/harness_job.h"
#include "generators/kernel_library.h"

namespace tilewright {

struct GuardedInputs {
  DType dtype = DType::fp32;
  std::vector<ArrayShape> shapes;  // x, w, [bias]
  std::vector<GuardedBuffer> buffers;

  std::vector<ArrayView> views() const;
  std::vector<KernelArgument> arguments() const;
};

// Errors: files that do not fit, classes that can not be made for this workload, no memory.
Result<GuardedInputs> make_guarded_inputs(const Workload& workload,
                                          const std::map<std::string, InputSource>& sources);

// Small integers everywhere, so that the exact gate applies.
bool all_integers(const std::map<std::string, InputSource>& sources);
std::map<std::string, InputSource> as_integers(std::map<std::string, InputSource> sources);

}  // namespace tilewright
