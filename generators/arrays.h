// SPDX-License-Identifier: Apache-2.0
// Dense arrays in C order (outermost extent first), as in .npy files. Halide's dimension 0 is the
// last extent here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "generators/half.h"
#include "schedules/workload.h"

namespace tilewright {

inline std::int64_t element_count(std::span<const std::int64_t> extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count *= extent;
  return count;
}

// A view; `data` holds IEEE single (fp32) or half (fp16) numbers. Other types are not used by the
// kernels' files.
struct ArrayView {
  DType dtype = DType::fp32;
  std::span<const std::int64_t> extents;
  const std::byte* data = nullptr;

  std::int64_t count() const { return element_count(extents); }
  std::span<const std::byte> bytes() const {
    return {data, static_cast<std::size_t>(count() * bytes_of(dtype))};
  }
  const float* floats() const { return reinterpret_cast<const float*>(data); }
  const std::uint16_t* halves() const { return reinterpret_cast<const std::uint16_t*>(data); }
  float at(std::int64_t index) const {
    return dtype == DType::fp16 ? float_from_half(halves()[index]) : floats()[index];
  }
};

struct Array {
  DType dtype = DType::fp32;
  std::vector<std::int64_t> extents;
  std::vector<std::byte> storage;

  Array() = default;
  Array(DType type, std::vector<std::int64_t> shape)
      : dtype(type),
        extents(std::move(shape)),
        storage(static_cast<std::size_t>(element_count(extents) * bytes_of(type))) {}

  std::int64_t count() const { return element_count(extents); }
  ArrayView view() const { return {dtype, extents, storage.data()}; }
  float* floats() { return reinterpret_cast<float*>(storage.data()); }
  std::uint16_t* halves() { return reinterpret_cast<std::uint16_t*>(storage.data()); }
  float at(std::int64_t index) const { return view().at(index); }
  // Rounds once to the array's type.
  void set(std::int64_t index, double value) {
    if (dtype == DType::fp16) {
      halves()[index] = half_from_double(value);
    } else {
      floats()[index] = static_cast<float>(value);
    }
  }
  friend bool operator==(const Array&, const Array&) = default;
};

}  // namespace tilewright
