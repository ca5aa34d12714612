// SPDX-License-Identifier: Apache-2.0
// What the harness is asked and what it answers, and both as JSON (the JSON library stays in
// harness_job.cc).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generators/gates.h"
#include "generators/inputs.h"
#include "generators/peak.h"
#include "schedules/result.h"
#include "schedules/workload.h"

namespace tilewright {

struct InputSource {
  std::string npy;  // a file; empty: made from class and seed
  SignalClass signal = SignalClass::normal;
  std::uint64_t seed = 1;
};

struct KernelFile {
  std::string so, function;
};

struct HarnessJob {
  Workload workload;
  std::vector<KernelFile> kernels;
  // By array name (x, w, bias). Default: normal, seed 1; w of a symmetric single-channel
  // conv1d_bank: sincnet_bank.
  std::map<std::string, InputSource> inputs;
  bool check = true;                           // against the reference
  std::optional<std::string> reference_cache;  // a folder
  int repeat = 3;  // timed runs of each kernel, after `warmup` untimed ones
  int warmup = 1;
  int threads = 1;
  std::optional<std::string> output_npy;  // output of the first kernel
  bool peak = false;                      // measure the FMA peak too
  bool integer_check = false;             // one more checked run on small integers, tolerance 0
  bool fp32_reference = false;            // count what a plain fp32 loop would fail; fp32 workloads
};

enum class HarnessStatus : std::uint8_t { ok, mismatch, run_failed, usage };

struct KernelOutcome {
  std::string function, target;
  HarnessStatus status = HarnessStatus::ok;
  std::string message;  // why not ok: one line
  std::vector<double> times_us;
  std::optional<GateReport> gate;      // of the job's inputs, if checked
  std::optional<GateReport> integers;  // of the integer check
  std::string digest;                  // of the output's bytes, first run
  bool guards_ok = true;               // nothing was written outside the output
  bool repeatable = true;              // the last timed run gave the bits of the first run
};

struct ReferenceOutcome {
  double seconds = 0;
  bool cached = false;
  std::string cache_error;
  std::optional<std::int64_t> fp32_sequential_failures;
};

struct HarnessOutcome {
  HarnessStatus status = HarnessStatus::ok;  // the worst of the kernels
  std::string message;                       // of the first kernel that is not ok
  std::vector<KernelOutcome> kernels;
  std::optional<ReferenceOutcome> reference;
  std::string gate;  // the gate as text, if checked
  std::string inputs_digest;
  std::optional<FmaPeak> peak_one, peak_all;  // one thread, the job's threads
  int threads = 1;
  std::int64_t peak_memory_bytes = 0;
};

// Errors: text that is no JSON object, unknown or missing field (nearest name offered), value of
// another type or out of range, workload that can not be, unknown signal class.
Result<HarnessJob> parse_job(const std::string& text);
// All on one line, with newline.
std::string render(const HarnessOutcome& outcome);
std::string render_error(HarnessStatus status, const std::string& message);
// The answer of a process that a kernel's access outside its buffers ends.
std::string render_guard_fault(const std::string& function, const std::string& message);

std::string_view status_name(HarnessStatus status);

}  // namespace tilewright
