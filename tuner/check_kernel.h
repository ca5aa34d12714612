// SPDX-License-Identifier: Apache-2.0
// The full check of a generated kernel: seeded or given data against the reference, whole numbers
// exactly, and the same bits for repeated runs, for one thread and for several.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schedules/records.h"
#include "tuner/installation.h"
#include "tuner/kernel_run.h"
#include "tuner/manifest.h"

namespace tilewright {

struct CheckOptions {
  std::vector<std::string> npy;       // inputs x, w, bias; empty: seeded
  std::string class_name = "normal";  // of seeded x
  std::uint64_t seed = 1;
  std::int64_t threads = 2;
  double seconds = 300;  // time limit of each of the three runs
  std::string reference_cache;
};

struct CheckReport {
  VerdictRecord
      verdict;  // ok only if all parts are; message says what was checked, or what went wrong
  double seconds = 0;
};

// Errors are usage errors: a wrong input file. A kernel that fails is a report.
Result<CheckReport> check_kernel(const Installation& installation, const Manifest& manifest,
                                 const Workload& workload, const CheckOptions& options,
                                 const std::function<bool()>& stop);

// Inputs from files in the order x, w, bias; as many as the workload has.
Result<std::vector<HarnessInput>> file_inputs(const Workload& workload,
                                              const std::vector<std::string>& npy);

}  // namespace tilewright
