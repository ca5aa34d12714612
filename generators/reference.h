// SPDX-License-Identifier: Apache-2.0
// Direct references: the plain loop over all products in double, whatever trick the kernel plays.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "generators/arrays.h"
#include "schedules/result.h"
#include "schedules/workload.h"

namespace tilewright {

// Change when a reference's values change: caches of older versions are then not used.
inline constexpr std::int64_t kReferenceVersion = 1;

// One value per output, C order of output_shape(). Every value is one chain of double additions in
// the order (input channel, kh, kw), padding included; bias is added last, then the activation.
// (Products of two floats are exact in double, so FMA or not makes no difference.) A NaN in a
// pooling window makes that output NaN.
struct Reference {
  // Exactly one of the two is filled. conv1d_bank's gate compares with the value rounded once to
  // fp32, conv2d_pool's with the double itself (rounding it to half first would already use up the
  // gate's u_out*|ref|).
  std::vector<float> rounded;
  std::vector<double> exact;
  // conv2d_pool: sum of |x*w| of each output, the largest over its pooling window, rounded up to
  // float. Empty in conv1d_bank, whose gate does not need it.
  std::vector<float> absolute_sums;

  double seconds = 0;   // spent on computing or loading it
  bool cached = false;  // came from the cache

  std::int64_t count() const { return static_cast<std::int64_t>(rounded.size() + exact.size()); }
  double value(std::int64_t i) const {
    const auto index = static_cast<std::size_t>(i);
    return rounded.empty() ? exact[index] : static_cast<double>(rounded[index]);
  }
};

// `inputs` in the order of input_shapes(). Errors: dtype other than fp32 and fp16 (conv1d_bank:
// other than fp32), arrays of another number, type or shape.
Result<Reference> compute_reference(const Workload& workload, std::span<const ArrayView> inputs);

// The same in one fp32 chain per output, fused multiply-adds where the CPU has them: what a plain
// fp32 loop gets. Rounded to fp32 throughout. Same order of the outputs, same errors.
Result<std::vector<float>> compute_fp32_sequential(const Workload& workload,
                                                   std::span<const ArrayView> inputs);

// Identity of the inputs: names, types, shapes and bytes.
std::string inputs_digest(const Workload& workload, std::span<const ArrayView> inputs);

// compute_reference() with a folder of files in front. A file that is missing, damaged or of
// another version is a miss; a file that can not be written is no error of the reference
// (`cache_error` says why).
struct CachedReference {
  Reference reference;
  std::string cache_error;
};
Result<CachedReference> cached_reference(const Workload& workload,
                                         std::span<const ArrayView> inputs,
                                         const std::string& inputs_digest,
                                         const std::string& folder);

}  // namespace tilewright
