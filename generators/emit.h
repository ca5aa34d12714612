// SPDX-License-Identifier: Apache-2.0
// One kernel per process: workload and schedule to a static library and a C header. Plain values
// only, no Halide.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schedules/result.h"
#include "schedules/schedule.h"
#include "schedules/workload.h"

namespace tilewright {

// Changes whenever the emitted code of any kernel changes.
inline constexpr std::string_view kGeneratorVersion = "2";
std::string halide_version();

struct EmitRequest {
  Workload workload;
  Schedule schedule;
  std::string target;  // resolved, see resolve_target()
  std::string name;    // of the C function
  std::string folder;  // exists
  std::int64_t cube_cores = 20, vector_cores = 40;
  bool scheduled = true;
  bool digest = false;
  bool statement = false;  // also write NAME.stmt, the lowered statement
};

struct EmitReport {
  std::vector<std::string> files;  // names in the folder
  std::string lowered_digest;      // XXH3-128 of the lowered statement's text, if asked for
  double seconds_lowering = 0;
  double seconds_total = 0;
};

// "host" becomes the full target of this machine; anything else is checked. Features that the
// emitter decides itself (no_runtime) are left out. Errors: usage.
Result<std::string> resolve_target(const std::string& text);
// Elements of a natural fp32 vector.
int natural_vector(const std::string& target);

struct KernelContext;
struct Kernel;
using KernelBuilder = Kernel (*)(const Workload&, const Schedule&, const KernelContext&);

// Writes NAME.a and NAME.h. Everything that Halide reports, warnings included, is an error of one
// line.
Result<EmitReport> emit_kernel(const EmitRequest& request, KernelBuilder build);
// Writes the runtime that all kernels of the target share; the file's name carries the target.
Result<EmitReport> emit_runtime(const std::string& target, const std::string& folder);

}  // namespace tilewright
