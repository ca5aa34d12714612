// SPDX-License-Identifier: Apache-2.0
// The harness runs kernels in a process of its own: inputs, poisoned borders, comparison with the
// reference, times.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schedules/records.h"
#include "schedules/workload.h"
#include "tuner/installation.h"
#include "tuner/manifest.h"
#include "tuner/process.h"

namespace tilewright {

// One input array: a seeded class, or a file.
struct HarnessInput {
  std::string name;        // x, w, bias
  std::string npy;         // path; empty: generated
  std::string class_name;  // normal, integers, sincnet_bank ...
  std::uint64_t seed = 1;
  std::string text() const;  // "x normal/1" or "x file.npy"
};

struct HarnessJob {
  std::string workload_key;
  std::vector<Manifest> kernels;  // timed interleaved
  std::vector<HarnessInput> inputs;
  bool check = true;
  bool integer_check = false;  // tolerance 0
  std::int64_t repeat = 1, warmup = 0, threads = 1;
  bool peak = false;            // measure the FMA peak in the same process
  std::string reference_cache;  // folder; empty: none
  std::string output_npy;       // of the first kernel
};

struct KernelRun {
  std::string function, status, message;  // status: ok, mismatch, run_failed
  std::vector<double> times_us;
  double min_us = 0, median_us = 0;
  double worst_ratio = 0;
  std::int64_t failures = 0, outputs = 0;
  std::string digest;
  std::string first_failure;  // one line, empty if none
};

struct HarnessResult {
  std::vector<KernelRun> kernels;
  double reference_seconds = 0;
  bool reference_cached = false;
  std::optional<double> peak_1_gmacs, peak_gmacs;  // one thread; job.threads threads
  std::string inputs_digest;
};

// How a job ended that gave no result: the whole process, not one kernel.
struct HarnessFailure {
  TrialStatus status = TrialStatus::run_failed;  // or timed_out
  bool usage = false;                            // a wrong .npy, an unknown class
  std::string message;
};
using HarnessOutcome = tl::expected<HarnessResult, HarnessFailure>;

HarnessOutcome run_harness(const Installation& installation, const HarnessJob& job,
                           const ProcessLimits& limits, const std::function<bool()>& stop = {});
HarnessOutcome parse_harness_result(
    const std::string& text);  // defensive: a child's output is not trusted

// Seeded inputs of a workload: x of the class, weights and bias normal; the weights of a symmetric
// filter bank are the published bank; all of them whole numbers for the class `integers`.
std::vector<HarnessInput> seeded_inputs(const Workload& workload, const std::string& class_name,
                                        std::uint64_t seed);
std::string inputs_text(const std::vector<HarnessInput>& inputs);

VerdictRecord verdict_of(const KernelRun& run, const HarnessJob& job);
TrialStatus trial_status(const KernelRun& run);

}  // namespace tilewright
