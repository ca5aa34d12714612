// SPDX-License-Identifier: Apache-2.0
// From a schedule to a kernel on disk: the emitter (a child process per kernel, Halide inside)
// writes the static library and header, the C++ compiler found at run time links the shared one, a
// manifest says what it is.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device_model/device.h"
#include "schedules/records.h"
#include "schedules/schedule.h"
#include "tuner/installation.h"
#include "tuner/manifest.h"
#include "tuner/process.h"

namespace tilewright {

struct KernelSpec {
  Workload workload;
  Schedule schedule;
  DeviceKind kind = DeviceKind::host;
  std::string device_name, device_hash;
  std::int64_t cube_cores = 0, vector_cores = 0;  // npu: cores that the twin deals its items to
  std::string name;                               // a C identifier
  std::string target = "host";
  bool unscheduled = false;
};

// The kernel of a schedule on a device, for this machine's CPU.
KernelSpec kernel_spec(const Workload& workload, const Schedule& schedule, const Device& device,
                       std::string name);

struct BuildOutcome {
  TrialStatus status = TrialStatus::ok;  // ok, build_failed, timed_out
  std::string message;                   // why not ok, one line
  std::optional<Manifest> kernel;        // there if ok
  double seconds = 0;
};

class KernelBuilder {
 public:
  // Kernels go to `folder`, which is made if it is not there.
  KernelBuilder(Installation installation, std::string folder, std::function<bool()> stop);

  BuildOutcome build(const KernelSpec& spec);
  // Several at once; outcomes in the order of the specs. `done` is told how many are finished.
  std::vector<BuildOutcome> build_all(std::span<const KernelSpec> specs, int jobs,
                                      const std::function<void(std::int64_t)>& done = {});
  std::int64_t built() const { return built_; }
  const std::string& folder() const { return folder_; }
  ProcessLimits emit_limits{.seconds = 60, .memory_bytes = 8LL << 30};
  ProcessLimits link_limits{.seconds = 60, .memory_bytes = 8LL << 30};

 private:
  BuildOutcome emit(const KernelSpec& spec, const std::string& emitter, Json& emitted);
  Result<std::string> runtime_for(const std::string& emitter, const std::string& target);
  BuildOutcome link(const KernelSpec& spec, Manifest& manifest);

  Installation installation_;
  std::string folder_;
  std::function<bool()> stop_;
  std::int64_t built_ = 0;
  std::mutex mutex_;                             // of the two below
  std::map<std::string, std::string> runtimes_;  // resolved target -> file name
};

// Versions of the emitter of this operator: halide and generator.
Result<Versions> emitter_versions(const Installation& installation, const Workload& workload);
// `large-fp32-p2` -> large_fp32_p2: what C and a file system accept.
std::string c_identifier(std::string_view text);

}  // namespace tilewright
