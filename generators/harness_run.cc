// SPDX-License-Identifier: Apache-2.0
#include "generators/harness_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "generators/digest.h"
#include "generators/harness_inputs.h"
#include "generators/npy.h"
#include "generators/reference.h"

namespace tilewright {
namespace {

using Clock = std::chrono::steady_clock;

// OpenMP's threads go on spinning for a while after a parallel region (libgomp: some 20 ms, libomp:
// 200 ms) and would share the cores with the kernel that is timed.
#ifdef __clang__
constexpr std::chrono::milliseconds kOpenMpRest{250};
#else
constexpr std::chrono::milliseconds kOpenMpRest{50};
#endif

// A kernel and what is known about it. After a failed run it is not called again.
struct Candidate {
  std::optional<KernelLibrary> library;
  KernelOutcome outcome;

  bool alive() const { return outcome.status != HarnessStatus::run_failed; }
  // The first failure stays, but a failed run is worse than a mismatch.
  void fail(HarnessStatus status, std::string message) {
    if (outcome.status != HarnessStatus::ok && status != HarnessStatus::run_failed) return;
    outcome.status = status;
    outcome.message = std::move(message);
  }
};

class JobRun {
 public:
  JobRun(const HarnessJob& job, GuardedBuffer output)
      : job_(job), shape_(output_shape(job.workload)), output_(std::move(output)) {}

  Result<HarnessOutcome> run() {
    auto inputs = make_guarded_inputs(job_.workload, job_.inputs);
    if (!inputs) return pass_error(inputs);
    outcome_.inputs_digest = inputs_digest(job_.workload, inputs->views());
    open_kernels();
    if (auto done = first_runs(*inputs); !done) return pass_error(done);
    if (job_.integer_check) {
      if (auto done = integer_runs(); !done) return pass_error(done);
    }
    std::this_thread::sleep_for(kOpenMpRest);
    if (job_.peak) {
      outcome_.peak_one = measure_fma_peak(1);
      outcome_.peak_all = job_.threads == 1 ? outcome_.peak_one : measure_fma_peak(job_.threads);
    }
    timed_runs(*inputs);
    watch_guards({});
    return finish();
  }

 private:
  void open_kernels();
  void watch(const Candidate& candidate, const GuardedInputs& inputs) const;
  double call(Candidate& candidate, const GuardedInputs& inputs) const;
  Result<void> first_runs(const GuardedInputs& inputs);
  Result<void> integer_runs();
  void timed_runs(const GuardedInputs& inputs);
  Result<Reference> reference_of(const GuardedInputs& inputs, const std::string& digest,
                                 ReferenceOutcome& outcome) const;
  Result<void> count_fp32_failures(const GuardedInputs& inputs, const Reference& reference,
                                   Gate gate);
  void judge(Candidate& candidate, const GateReport& report, Gate gate) const;
  Result<HarnessOutcome> finish();
  ArrayView view() const { return {dtype_of(job_.workload), shape_.extents, output_.data()}; }

  const HarnessJob& job_;
  ArrayShape shape_;
  GuardedBuffer output_;  // one for all kernels, poisoned before a run that is checked
  std::vector<Candidate> candidates_;
  HarnessOutcome outcome_;
};

void JobRun::open_kernels() {
  for (const KernelFile& file : job_.kernels) {
    Candidate& candidate = candidates_.emplace_back();
    candidate.outcome.function = file.function;
    auto library = KernelLibrary::open(file.so, file.function, job_.workload);
    if (!library) {
      candidate.fail(HarnessStatus::run_failed, library.error().message);
      continue;
    }
    library->set_threads(job_.threads);
    candidate.outcome.target = library->target();
    candidate.library = *std::move(library);
  }
}

void JobRun::watch(const Candidate& candidate, const GuardedInputs& inputs) const {
  const std::string& function = candidate.outcome.function;
  std::vector<GuardWatch> watches;
  for (const GuardedBuffer& buffer : inputs.buffers) {
    watches.push_back(
        {&buffer,
         render_guard_fault(function, fmt::format("{} wrote to its input {}, or read outside it",
                                                  function, buffer.name()))});
  }
  watches.push_back(
      {&output_, render_guard_fault(function, fmt::format("{} wrote outside its output {}",
                                                          function, output_.name()))});
  watch_guards(std::move(watches));
}

// Microseconds of one call.
double JobRun::call(Candidate& candidate, const GuardedInputs& inputs) const {
  std::vector<KernelArgument> arguments = inputs.arguments();
  arguments.push_back({inputs.dtype, shape_.extents, output_.data()});
  const auto start = Clock::now();
  const auto called = candidate.library->call(arguments);
  const double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  if (!called) candidate.fail(HarnessStatus::run_failed, called.error().message);
  if (!output_.borders_intact()) {
    candidate.outcome.guards_ok = false;
    candidate.fail(
        HarnessStatus::run_failed,
        fmt::format("{} wrote outside its output {}", candidate.outcome.function, output_.name()));
  }
  return us;
}

Result<Reference> JobRun::reference_of(const GuardedInputs& inputs, const std::string& digest,
                                       ReferenceOutcome& outcome) const {
  CachedReference result;
  if (job_.reference_cache) {
    auto cached = cached_reference(job_.workload, inputs.views(), digest, *job_.reference_cache);
    if (!cached) return pass_error(cached);
    result = *std::move(cached);
  } else {
    auto computed = compute_reference(job_.workload, inputs.views());
    if (!computed) return pass_error(computed);
    result.reference = *std::move(computed);
  }
  outcome = {result.reference.seconds, result.reference.cached, result.cache_error, std::nullopt};
  return std::move(result.reference);
}

Result<void> JobRun::count_fp32_failures(const GuardedInputs& inputs, const Reference& reference,
                                         Gate gate) {
  const auto outputs = compute_fp32_sequential(job_.workload, inputs.views());
  if (!outputs) return pass_error(outputs);
  const auto bytes = std::as_bytes(std::span(*outputs));
  const GateReport report =
      check_gate(job_.workload, {DType::fp32, shape_.extents, bytes.data()}, reference, gate);
  outcome_.reference->fp32_sequential_failures = report.failures;
  return {};
}

void JobRun::judge(Candidate& candidate, const GateReport& report, Gate gate) const {
  if (report.passed()) return;
  std::string message =
      fmt::format("{}: {} of {} outputs fail the gate {}", candidate.outcome.function,
                  std::max(report.failures, report.published_failures), report.outputs,
                  describe_gate(job_.workload, gate));
  if (report.first_failure) {
    const GateFailure& first = *report.first_failure;
    message +=
        fmt::format("; first at ({}): got {:.9g}, expected {:.9g}, tolerance {:.3g}",
                    fmt::join(first.index, ", "), first.got, first.expected, first.tolerance);
  }
  candidate.fail(HarnessStatus::mismatch, std::move(message));
}

// Every kernel once, into a poisoned output: digest, gate, output file.
Result<void> JobRun::first_runs(const GuardedInputs& inputs) {
  const Gate gate = all_integers(job_.inputs) ? Gate::exact : Gate::tolerance;
  Reference reference;
  if (job_.check) {
    outcome_.reference.emplace();
    outcome_.gate = describe_gate(job_.workload, gate);
    auto made = reference_of(inputs, outcome_.inputs_digest, *outcome_.reference);
    if (!made) return pass_error(made);
    reference = *std::move(made);
    if (job_.fp32_reference && inputs.dtype == DType::fp32) {
      if (auto counted = count_fp32_failures(inputs, reference, gate); !counted) return counted;
    }
  }
  for (Candidate& candidate : candidates_) {
    if (!candidate.alive()) continue;
    output_.poison();
    watch(candidate, inputs);
    call(candidate, inputs);
    if (!candidate.alive()) continue;
    candidate.outcome.digest = digest_of(output_.bytes());
    if (job_.check) {
      candidate.outcome.gate = check_gate(job_.workload, view(), reference, gate);
      judge(candidate, *candidate.outcome.gate, gate);
    }
    if (job_.output_npy && &candidate == &candidates_.front()) {
      if (auto written = write_npy(*job_.output_npy, view()); !written) return written;
    }
  }
  return {};
}

Result<void> JobRun::integer_runs() {
  const auto inputs = make_guarded_inputs(job_.workload, as_integers(job_.inputs));
  if (!inputs) return pass_error(inputs);
  ReferenceOutcome ignored;
  const auto reference =
      reference_of(*inputs, inputs_digest(job_.workload, inputs->views()), ignored);
  if (!reference) return pass_error(reference);
  for (Candidate& candidate : candidates_) {
    if (!candidate.alive()) continue;
    output_.poison();
    watch(candidate, *inputs);
    call(candidate, *inputs);
    if (!candidate.alive()) continue;
    candidate.outcome.integers = check_gate(job_.workload, view(), *reference, Gate::exact);
    judge(candidate, *candidate.outcome.integers, Gate::exact);
  }
  watch_guards({});
  return {};
}

// A B C A B C ...: a slow spell of the machine hits all kernels, not one.
void JobRun::timed_runs(const GuardedInputs& inputs) {
  for (int round = -job_.warmup; round < job_.repeat; ++round) {
    for (Candidate& candidate : candidates_) {
      if (!candidate.alive()) continue;
      watch(candidate, inputs);
      const double us = call(candidate, inputs);
      if (round < 0 || !candidate.alive()) continue;
      candidate.outcome.times_us.push_back(us);
      if (round + 1 != job_.repeat) continue;
      candidate.outcome.repeatable = candidate.outcome.digest == digest_of(output_.bytes());
      if (!candidate.outcome.repeatable) {
        candidate.fail(HarnessStatus::mismatch,
                       fmt::format("{}: the same inputs gave other bits in the last run",
                                   candidate.outcome.function));
      }
    }
  }
}

Result<HarnessOutcome> JobRun::finish() {
  for (Candidate& candidate : candidates_) {
    if (candidate.library) candidate.library->shut_down();
    if (candidate.outcome.status > outcome_.status) {
      outcome_.status = candidate.outcome.status;
      outcome_.message = candidate.outcome.message;
    }
    outcome_.kernels.push_back(std::move(candidate.outcome));
  }
  outcome_.threads = job_.threads;
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0)
    outcome_.peak_memory_bytes = std::int64_t{usage.ru_maxrss} * 1024;
  return std::move(outcome_);
}

}  // namespace

Result<HarnessOutcome> run_job(const HarnessJob& job) {
  const ArrayShape shape = output_shape(job.workload);
  const std::int64_t bytes = element_count(shape.extents) * bytes_of(dtype_of(job.workload));
  auto output = GuardedBuffer::make(shape.name, static_cast<std::size_t>(bytes));
  if (!output) return pass_error(output);
  return JobRun(job, *std::move(output)).run();
}

}  // namespace tilewright
