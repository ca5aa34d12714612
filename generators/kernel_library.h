// SPDX-License-Identifier: Apache-2.0
// A kernel emitted by Halide, as a shared library: found, checked against its workload, called.
// Needs Halide's C ABI only (HalideRuntime.h), not its library.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "generators/arrays.h"
#include "schedules/result.h"
#include "schedules/workload.h"

namespace tilewright {

// An argument of a kernel: memory that the kernel may write to if it is the output.
struct KernelArgument {
  DType dtype = DType::fp32;
  std::vector<std::int64_t> extents;  // C order; Halide's dimension 0 is the last
  std::byte* data = nullptr;
};

class KernelLibrary {
 public:
  // Loads `path` with its symbols kept to itself. Errors: file or symbols (NAME_argv,
  // NAME_metadata, halide_set_error_handler, halide_set_num_threads) missing; arguments of another
  // number, kind, type or dimensionality than the workload's x, w, [bias], y; an extent beyond 2^31
  // - 1.
  static Result<KernelLibrary> open(const std::string& path, const std::string& function,
                                    const Workload& workload);

  const std::string& function() const { return function_; }
  const std::string& target() const { return target_; }  // as the kernel's metadata states it
  // Before the first call: the library's thread pool does not change any more once it has started.
  void set_threads(int threads) const;
  // Runs the kernel. Error: it returned a code other than 0, with the code and Halide's message.
  Result<void> call(std::span<const KernelArgument> arguments) const;
  // Ends the library's threads, so that none is alive when the process ends.
  void shut_down() const;

 private:
  KernelLibrary() = default;
  Result<void> check_arguments(const Workload& workload) const;

  std::string path_, function_, target_;
  void* handle_ = nullptr;  // never closed: the thread pool's code must outlive its threads
};

}  // namespace tilewright
