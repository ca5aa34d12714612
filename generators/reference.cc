// SPDX-License-Identifier: Apache-2.0
#include "generators/reference.h"

#include <fmt/format.h>

#include <chrono>
#include <limits>

#include "generators/digest.h"
#include "generators/npy.h"
#include "generators/reference_engine.h"
#include "schedules/operators.h"

namespace tilewright {
namespace {

Result<void> check_inputs(const Workload& workload, std::span<const ArrayView> inputs) {
  if (const char* why = operator_of(workload).no_kernel)
    return usage_error(fmt::format("{}: {}", to_key(workload), why));
  const DType dtype = dtype_of(workload);
  const bool conv1d = std::holds_alternative<Conv1dBank>(workload);
  if (dtype != DType::fp32 && (conv1d || dtype != DType::fp16)) {
    return usage_error(fmt::format("{}: there is a reference for dtype {} only", to_key(workload),
                                   conv1d ? "fp32" : "fp32 and fp16"));
  }
  const std::vector<ArrayShape> shapes = input_shapes(workload);
  if (inputs.size() != shapes.size()) {
    return usage_error(fmt::format("{}: expected {} inputs, found {}", to_key(workload),
                                   shapes.size(), inputs.size()));
  }
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (inputs[i].dtype != dtype ||
        !std::equal(shapes[i].extents.begin(), shapes[i].extents.end(), inputs[i].extents.begin(),
                    inputs[i].extents.end())) {
      return usage_error(fmt::format("{}: expected {}, found {}", shapes[i].name,
                                     describe_array(dtype, shapes[i].extents),
                                     describe_array(inputs[i].dtype, inputs[i].extents)));
    }
  }
  return {};
}

// The inputs as floats: the arrays themselves, or copies of half arrays.
class FloatInputs {
 public:
  explicit FloatInputs(std::span<const ArrayView> inputs) {
    for (const ArrayView& input : inputs) {
      if (input.dtype == DType::fp32) {
        copies_.emplace_back();
        pointers_.push_back(input.floats());
        continue;
      }
      std::vector<float> copy(static_cast<std::size_t>(input.count()));
      for (std::size_t i = 0; i < copy.size(); ++i) copy[i] = float_from_half(input.halves()[i]);
      pointers_.push_back(copy.data());
      copies_.push_back(std::move(copy));
    }
  }
  const float* x() const { return pointers_[0]; }
  const float* w() const { return pointers_[1]; }
  const float* bias() const { return pointers_.size() > 2 ? pointers_[2] : nullptr; }

 private:
  std::vector<std::vector<float>> copies_;
  std::vector<const float*> pointers_;
};

float rounded_up(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) >= value || value != value) return nearest;
  return std::nextafter(nearest, std::numeric_limits<float>::infinity());
}

}  // namespace

// Seconds on a 2-core Xeon (Sapphire Rapids, AVX-512), g++ 12.2 -O2, two threads: 0.39 for sincnet
// (6.7 GMAC), 1.4 for large (29 GMAC and as many absolute ones).
Result<Reference> compute_reference(const Workload& workload, std::span<const ArrayView> inputs) {
  if (auto checked = check_inputs(workload, inputs); !checked) return pass_error(checked);
  const auto start = std::chrono::steady_clock::now();
  const FloatInputs floats(inputs);
  Reference reference;
  const auto count = static_cast<std::size_t>(output_count(workload));
  if (const auto* bank = std::get_if<Conv1dBank>(&workload)) {
    reference.rounded.resize(count);
    ReferenceEngine<double> engine(as_conv2d(*bank), chain_kernels().back().plain, false);
    engine.run(floats.x(), floats.w(), floats.bias(),
               [&](std::int64_t index, double value, double) {
                 reference.rounded[static_cast<std::size_t>(index)] = static_cast<float>(value);
               });
  } else {
    reference.exact.resize(count);
    reference.absolute_sums.resize(count);
    ReferenceEngine<double> engine(std::get<Conv2dPool>(workload), chain_kernels().back().absolute,
                                   true);
    engine.run(floats.x(), floats.w(), floats.bias(),
               [&](std::int64_t index, double value, double sum) {
                 reference.exact[static_cast<std::size_t>(index)] = value;
                 reference.absolute_sums[static_cast<std::size_t>(index)] = rounded_up(sum);
               });
  }
  reference.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return reference;
}

Result<std::vector<float>> compute_fp32_sequential(const Workload& workload,
                                                   std::span<const ArrayView> inputs) {
  if (auto checked = check_inputs(workload, inputs); !checked) return pass_error(checked);
  const FloatInputs floats(inputs);
  std::vector<float> outputs(static_cast<std::size_t>(output_count(workload)));
  const auto* bank = std::get_if<Conv1dBank>(&workload);
  const Conv2dPool conv = bank != nullptr ? as_conv2d(*bank) : std::get<Conv2dPool>(workload);
  ReferenceEngine<float>(conv, chain_kernels().back().single, false)
      .run(floats.x(), floats.w(), floats.bias(), [&](std::int64_t index, float value, float) {
        outputs[static_cast<std::size_t>(index)] = value;
      });
  return outputs;
}

std::string inputs_digest(const Workload& workload, std::span<const ArrayView> inputs) {
  Digest digest;
  const std::vector<ArrayShape> shapes = input_shapes(workload);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    digest.add(shapes[i].name);
    digest.add(describe_array(inputs[i].dtype, inputs[i].extents));
    digest.add(inputs[i].bytes());
  }
  return digest.hex();
}

}  // namespace tilewright
