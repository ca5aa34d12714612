// SPDX-License-Identifier: Apache-2.0
// The loop nest around reference_kernels.h, for T = double (references) and T = float (the fp32
// sequential loop).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "generators/arrays.h"
#include "generators/reference_kernels.h"
#include "schedules/workload.h"

namespace tilewright {

// conv1d_bank as a conv2d_pool of one row without pooling: one engine serves both operators.
inline Conv2dPool as_conv2d(const Conv1dBank& b) {
  Conv2dPool c;
  c.n = b.n, c.cin = b.cin, c.h = 1, c.w = b.l, c.cout = b.cout, c.kh = 1, c.kw = b.k, c.pool = 1;
  c.dtype = b.dtype, c.stride_w = b.stride, c.pad_l = b.pad_l, c.pad_r = b.pad_r, c.dil_w = b.dil,
  c.bias = b.bias;
  return c;
}
inline Conv2dPool as_conv2d(const Conv2dPool& c) { return c; }

template <class T>
class ReferenceEngine {
 public:
  // x, w, bias as flat floats; bias empty if the workload has none.
  ReferenceEngine(const Conv2dPool& conv, Chains<T> chains, bool absolute)
      : conv_(conv),
        chains_(chains),
        per_tap_(absolute ? 2 * kFilters : kFilters),
        absolute_(absolute) {
    padded_w_ = conv.w + conv.pad_l + conv.pad_r;
    phase_length_ = (padded_w_ + conv.stride_w - 1) / conv.stride_w;
    row_length_ = phase_length_ * conv.stride_w;
    plane_ = (conv.h + conv.pad_t + conv.pad_b) * row_length_;
    for (std::int64_t c = 0; c < conv.cin / conv.groups; ++c) {
      for (std::int64_t kh = 0; kh < conv.kh; ++kh) {
        for (std::int64_t kw = 0; kw < conv.kw; ++kw) {
          const std::int64_t shift = kw * conv.dil_w;
          offsets_.push_back(c * plane_ + kh * conv.dil_h * row_length_ +
                             shift % conv.stride_w * phase_length_ + shift / conv.stride_w);
        }
      }
    }
    // Phases of an image, and room for the vectors that reach past the last row's end.
    image_.resize(static_cast<std::size_t>(conv.cin * plane_ + kPositions));
  }

  // Calls emit(index of the output, value, sum of absolute products or 0) once per output, from
  // several threads.
  template <class Emit>
  void run(const float* x, const float* w, const float* bias, const Emit& emit) {
    pack_weights(w);
    for (std::int64_t n = 0; n < conv_.n; ++n) {
      load_image(x + n * conv_.cin * conv_.h * conv_.w);
      run_image(n, bias, emit);
    }
  }

 private:
  static constexpr std::int64_t kSegment = 16 * kPositions;  // convolution columns of a work item

  std::int64_t group_filters() const { return conv_.cout / conv_.groups; }
  std::int64_t blocks_per_group() const { return (group_filters() + kFilters - 1) / kFilters; }

  // Filters in blocks of kFilters, within their group; missing ones are 0 and their outputs are
  // dropped.
  void pack_weights(const float* w) {
    const auto taps = static_cast<std::int64_t>(offsets_.size());
    weights_.assign(static_cast<std::size_t>(conv_.groups * blocks_per_group() * taps * per_tap_),
                    T(0));
    for (std::int64_t filter = 0; filter < conv_.cout; ++filter) {
      const std::int64_t in_group = filter % group_filters();
      const std::int64_t block =
          filter / group_filters() * blocks_per_group() + in_group / kFilters;
      T* to = weights_.data() + block * taps * per_tap_ + in_group % kFilters;
      for (std::int64_t tap = 0; tap < taps; ++tap, to += per_tap_) {
        to[0] = static_cast<T>(w[filter * taps + tap]);
        if (absolute_) to[kFilters] = std::abs(to[0]);
      }
    }
  }

  // Column s*m + p of a padded row becomes element m of phase p, so that neighbouring outputs are
  // neighbours in memory for every tap and stride. Padding is 0.
  void load_image(const float* x) {
    const bool nhwc = conv_.layout == Layout::nhwc;
    const std::int64_t step = nhwc ? conv_.cin : 1;
#pragma omp parallel for
    for (std::int64_t c = 0; c < conv_.cin; ++c) {
      for (std::int64_t row = 0; row < conv_.h; ++row) {
        const float* const from =
            nhwc ? x + row * conv_.w * conv_.cin + c : x + (c * conv_.h + row) * conv_.w;
        T* const to = image_.data() + c * plane_ + (row + conv_.pad_t) * row_length_;
        for (std::int64_t column = 0; column < conv_.w; ++column) {
          const std::int64_t padded = column + conv_.pad_l;
          to[padded % conv_.stride_w * phase_length_ + padded / conv_.stride_w] =
              static_cast<T>(from[column * step]);
        }
      }
    }
  }

  template <class Emit>
  void run_image(std::int64_t n, const float* bias, const Emit& emit) {
    const std::int64_t used_columns = conv_.pooled_w() * conv_.pool;
    const std::int64_t segments = (used_columns + kSegment - 1) / kSegment;
    const std::int64_t blocks = conv_.groups * blocks_per_group();
    const std::int64_t items = conv_.pooled_h() * segments * blocks;
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t item = 0; item < items; ++item) {
      const std::int64_t block = item % blocks;
      const std::int64_t first = item / blocks % segments * kSegment;
      const std::int64_t last = std::min(first + kSegment, used_columns);
      for (std::int64_t column = first; column < last; column += kPositions) {
        run_tile(n, item / blocks / segments, column,
                 std::min<std::int64_t>(kPositions, last - column), block, bias, emit);
      }
    }
  }

  // Convolution columns `column` .. + `columns` of one pooled row and one block of filters.
  template <class Emit>
  void run_tile(std::int64_t n, std::int64_t pooled_row, std::int64_t column, std::int64_t columns,
                std::int64_t block, const float* bias, const Emit& emit) {
    alignas(64) T sums[2 * kFilters * kPositions] = {};
    T best[kFilters * kPositions] = {};  // pooled columns
    T largest[kFilters * kPositions] = {};
    const std::int64_t group = block / blocks_per_group();
    const T* const weights =
        weights_.data() + block * static_cast<std::int64_t>(offsets_.size()) * per_tap_;
    const T* const plane = image_.data() + group * (conv_.cin / conv_.groups) * plane_ + column;
    const std::int64_t pooled = columns / conv_.pool;
    for (std::int64_t r = 0; r < conv_.pool; ++r) {
      chains_(offsets_, plane + (pooled_row * conv_.pool + r) * conv_.stride_h * row_length_,
              weights, sums);
      for (int f = 0; f < kFilters; ++f) {
        for (std::int64_t j = 0; j < pooled * conv_.pool; ++j) {
          const std::int64_t at = f * kPositions + j / conv_.pool;
          const bool start = r == 0 && j % conv_.pool == 0;
          const T value = sums[f * kPositions + j];
          if (start || value > best[at] || std::isnan(value)) best[at] = value;  // a NaN stays
          if (absolute_) {
            const T sum = sums[(kFilters + f) * kPositions + j];
            largest[at] = start ? sum : std::max(largest[at], sum);
          }
        }
      }
    }
    const std::int64_t in_group = block % blocks_per_group() * kFilters;
    for (std::int64_t f = 0; f < std::min<std::int64_t>(kFilters, group_filters() - in_group);
         ++f) {
      const std::int64_t filter = group * group_filters() + in_group + f;
      for (std::int64_t j = 0; j < pooled; ++j) {
        T value = best[f * kPositions + j];
        if (bias != nullptr) value += static_cast<T>(bias[filter]);
        if (conv_.act == Activation::relu && value < 0) value = 0;
        emit(output_index(n, filter, pooled_row, column / conv_.pool + j), value,
             largest[f * kPositions + j]);
      }
    }
  }

  std::int64_t output_index(std::int64_t n, std::int64_t c, std::int64_t row,
                            std::int64_t column) const {
    if (conv_.layout == Layout::nhwc)
      return ((n * conv_.pooled_h() + row) * conv_.pooled_w() + column) * conv_.cout + c;
    return ((n * conv_.cout + c) * conv_.pooled_h() + row) * conv_.pooled_w() + column;
  }

  Conv2dPool conv_;
  Chains<T> chains_;
  int per_tap_;
  bool absolute_;
  std::int64_t padded_w_ = 0, phase_length_ = 0, row_length_ = 0, plane_ = 0;
  std::vector<std::int64_t> offsets_;
  std::vector<T> image_, weights_;
};

}  // namespace tilewright
