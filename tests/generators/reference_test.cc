// SPDX-License-Identifier: Apache-2.0
// The fast references against seven plain loops, bit for bit.
#include "generators/reference.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "generators/inputs.h"
#include "generators/reference_engine.h"

namespace tilewright {
namespace {

struct Case {
  Workload workload;
  std::vector<Array> arrays;
  std::vector<ArrayView> views() const {
    std::vector<ArrayView> result;
    for (const Array& array : arrays) result.push_back(array.view());
    return result;
  }
};

Case make_case(const Workload& workload, SignalClass signal = SignalClass::normal) {
  Case c{workload, {}};
  for (const ArrayShape& shape : input_shapes(workload))
    c.arrays.push_back(*make_input(workload, shape, signal, 3));
  return c;
}

struct Plain {
  std::vector<double> values, sums;
};

// The definition, written without a thought for speed.
Plain plain_conv2d(const Conv2dPool& c, const Array& x, const Array& w, const Array* bias) {
  const bool nhwc = c.layout == Layout::nhwc;
  const std::int64_t group_in = c.cin / c.groups;
  const auto x_at = [&](std::int64_t n, std::int64_t ci, std::int64_t row, std::int64_t column) {
    if (row < 0 || row >= c.h || column < 0 || column >= c.w) return 0.0;
    const std::int64_t at = nhwc ? ((n * c.h + row) * c.w + column) * c.cin + ci
                                 : ((n * c.cin + ci) * c.h + row) * c.w + column;
    return static_cast<double>(x.at(at));
  };
  Plain plain;
  plain.values.resize(static_cast<std::size_t>(c.n * c.cout * c.pooled_h() * c.pooled_w()));
  plain.sums.resize(plain.values.size());
  for (std::int64_t n = 0; n < c.n; ++n) {
    for (std::int64_t co = 0; co < c.cout; ++co) {
      for (std::int64_t py = 0; py < c.pooled_h(); ++py) {
        for (std::int64_t px = 0; px < c.pooled_w(); ++px) {
          double best = -std::numeric_limits<double>::infinity();
          double largest = 0;
          for (std::int64_t p = 0; p < c.pool * c.pool; ++p) {
            const std::int64_t oy = py * c.pool + p / c.pool;
            const std::int64_t ox = px * c.pool + p % c.pool;
            double sum = 0;
            double absolute = 0;
            for (std::int64_t ci = 0; ci < group_in; ++ci) {
              for (std::int64_t kh = 0; kh < c.kh; ++kh) {
                for (std::int64_t kw = 0; kw < c.kw; ++kw) {
                  const double a = x_at(n, co / (c.cout / c.groups) * group_in + ci,
                                        oy * c.stride_h + kh * c.dil_h - c.pad_t,
                                        ox * c.stride_w + kw * c.dil_w - c.pad_l);
                  const double b =
                      static_cast<double>(w.at(((co * group_in + ci) * c.kh + kh) * c.kw + kw));
                  sum += a * b;
                  absolute += std::abs(a * b);
                }
              }
            }
            best = std::isnan(best) || std::isnan(sum) ? std::nan("") : std::max(best, sum);
            largest = std::max(largest, absolute);
          }
          if (bias != nullptr) best += static_cast<double>(bias->at(co));
          if (c.act == Activation::relu && best < 0) best = 0;
          const std::int64_t at = nhwc
                                      ? ((n * c.pooled_h() + py) * c.pooled_w() + px) * c.cout + co
                                      : ((n * c.cout + co) * c.pooled_h() + py) * c.pooled_w() + px;
          plain.values[static_cast<std::size_t>(at)] = best;
          plain.sums[static_cast<std::size_t>(at)] = largest;
        }
      }
    }
  }
  return plain;
}

Plain plain_of(const Case& c) {
  const Conv2dPool conv = std::holds_alternative<Conv1dBank>(c.workload)
                              ? as_conv2d(std::get<Conv1dBank>(c.workload))
                              : std::get<Conv2dPool>(c.workload);
  return plain_conv2d(conv, c.arrays[0], c.arrays[1], c.arrays.size() > 2 ? &c.arrays[2] : nullptr);
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

Conv2dPool random_conv2d() {
  using rc::gen::inRange;
  Conv2dPool c;
  c.groups = *inRange(1, 4);
  c.n = *inRange(1, 3), c.cin = c.groups * *inRange(1, 4), c.cout = c.groups * *inRange(1, 7);
  c.h = *inRange(1, 14), c.w = *inRange(1, 120);
  c.kh = *inRange(1, 4), c.kw = *inRange(1, 4), c.pool = *inRange(1, 4);
  c.stride_h = *inRange(1, 4), c.stride_w = *inRange(1, 4), c.dil_h = *inRange(1, 3),
  c.dil_w = *inRange(1, 3);
  c.pad_t = *inRange(0, 3), c.pad_b = *inRange(0, 3), c.pad_l = *inRange(0, 3),
  c.pad_r = *inRange(0, 3);
  c.bias = *rc::gen::arbitrary<bool>();
  c.dtype = *rc::gen::element(DType::fp32, DType::fp16);
  c.act = *rc::gen::element(Activation::none, Activation::relu);
  c.layout = *rc::gen::element(Layout::nchw, Layout::nhwc);
  return c;
}

RC_GTEST_PROP(Reference, Conv2dIsThePlainLoopBitForBit, ()) {
  const Conv2dPool conv = random_conv2d();
  RC_PRE(conv.h + conv.pad_t + conv.pad_b > conv.dil_h * (conv.kh - 1));
  RC_PRE(conv.w + conv.pad_l + conv.pad_r > conv.dil_w * (conv.kw - 1));
  RC_PRE(conv.hout() >= conv.pool && conv.wout() >= conv.pool);
  const Case c = make_case(conv);
  const auto reference = compute_reference(c.workload, c.views());
  RC_ASSERT(reference.has_value());
  const Plain plain = plain_of(c);
  RC_ASSERT(reference->exact.size() == plain.values.size());
  for (std::size_t i = 0; i < plain.values.size(); ++i) {
    RC_ASSERT(same_bits(reference->exact[i], plain.values[i]));
    // Rounded up to float, by less than one step.
    const auto sum = static_cast<double>(reference->absolute_sums[i]);
    RC_ASSERT(sum >= plain.sums[i] && sum <= plain.sums[i] * (1 + 0x1p-23));
  }
}

RC_GTEST_PROP(Reference, Conv1dIsThePlainLoopRoundedOnce, ()) {
  using rc::gen::inRange;
  Conv1dBank b;
  b.n = *inRange(1, 3), b.l = *inRange(30, 2500), b.cout = *inRange(1, 11), b.k = *inRange(1, 20);
  b.stride = *inRange(1, 13), b.cin = *inRange(1, 4), b.pad_l = *inRange(0, 5),
  b.pad_r = *inRange(0, 5);
  b.dil = *inRange(1, 3), b.bias = *rc::gen::arbitrary<bool>();
  RC_PRE(b.l + b.pad_l + b.pad_r > b.dil * (b.k - 1));
  const Case c = make_case(b);
  const auto reference = compute_reference(c.workload, c.views());
  RC_ASSERT(reference.has_value());
  const Plain plain = plain_of(c);
  RC_ASSERT(reference->rounded.size() == plain.values.size());
  for (std::size_t i = 0; i < plain.values.size(); ++i) {
    RC_ASSERT(std::bit_cast<std::uint32_t>(reference->rounded[i]) ==
              std::bit_cast<std::uint32_t>(static_cast<float>(plain.values[i])));
  }
}

TEST(Reference, EveryInstructionSetGivesTheSameBits) {
  constexpr std::size_t taps = 37;
  constexpr auto filters = static_cast<std::size_t>(kFilters);
  constexpr auto positions = static_cast<std::size_t>(kPositions);
  std::vector<std::int64_t> offsets;
  for (std::int64_t tap = 0; tap < std::int64_t{taps}; ++tap) offsets.push_back(tap * 61 % 97);
  const Case c = make_case(Conv1dBank{.n = 1, .l = 400, .cout = 8, .k = taps, .stride = 1});
  std::vector<double> x(200);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = c.arrays[0].at(static_cast<std::int64_t>(i));
  std::vector<double> weights(taps * filters);
  std::vector<double> with_absolutes(taps * 2 * filters);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = c.arrays[1].at(static_cast<std::int64_t>(i));
    const std::size_t at = i / filters * 2 * filters + i % filters;
    with_absolutes[at] = weights[i];
    with_absolutes[at + filters] = std::abs(weights[i]);
  }
  std::vector<double> expected(2 * filters * positions);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const bool absolute = i >= filters * positions;
    const std::size_t f = i / positions % filters;
    for (std::size_t tap = 0; tap < taps; ++tap) {
      const double product =
          x[static_cast<std::size_t>(offsets[tap]) + i % positions] * weights[tap * filters + f];
      expected[i] += absolute ? std::abs(product) : product;
    }
  }
  for (const ChainKernels& kernels : chain_kernels()) {
    std::vector<double> sums(expected.size(), -1);
    kernels.absolute(offsets, x.data(), with_absolutes.data(), sums.data());
    EXPECT_EQ(sums, expected) << kernels.instruction_set;
    std::fill(sums.begin(), sums.end(), -1);
    kernels.plain(offsets, x.data(), weights.data(), sums.data());
    for (std::size_t i = 0; i < filters * positions; ++i) {
      EXPECT_EQ(sums[i], expected[i]) << kernels.instruction_set;
    }
  }
}

TEST(Reference, NaNInAPoolingWindowIsNaN) {
  const Workload workload =
      Conv2dPool{.n = 1, .cin = 1, .h = 6, .w = 6, .cout = 1, .kh = 1, .kw = 1, .pool = 2};
  for (int position = 0; position < 36; ++position) {
    Case c = make_case(workload);
    c.arrays[0].set(position, std::nan(""));
    const auto reference = compute_reference(workload, c.views());
    const int window = position / 12 * 3 + position % 6 / 2;
    for (int i = 0; i < 9; ++i) {
      EXPECT_EQ(std::isnan(reference->exact[static_cast<std::size_t>(i)]), i == window) << position;
    }
  }
}

TEST(Reference, ReluKeepsNaN) {
  const Workload workload = Conv2dPool{.n = 1,
                                       .cin = 1,
                                       .h = 1,
                                       .w = 2,
                                       .cout = 1,
                                       .kh = 1,
                                       .kw = 1,
                                       .pool = 1,
                                       .bias = false,
                                       .act = Activation::relu};
  Case c = make_case(workload);
  c.arrays[0].set(0, std::nan(""));
  c.arrays[0].set(1, c.arrays[1].at(0) > 0 ? -1 : 1);
  const auto reference = compute_reference(workload, c.views());
  EXPECT_TRUE(std::isnan(reference->exact[0]));
  EXPECT_EQ(reference->exact[1], 0);
}

TEST(Reference, WrongInputsAreUsageErrors) {
  const Conv2dPool conv{.n = 1, .cin = 1, .h = 6, .w = 6, .cout = 1, .kh = 1, .kw = 1, .pool = 2};
  Case c = make_case(conv);
  std::vector<ArrayView> views = c.views();
  views.pop_back();
  EXPECT_EQ(compute_reference(conv, views).error().kind, ErrorKind::usage);
  const Array other(DType::fp32, {1, 1, 6, 7});
  views = c.views();
  views[0] = other.view();
  EXPECT_EQ(compute_reference(conv, views).error().message,
            "x: expected float32 (1, 1, 6, 6), found float32 (1, 1, 6, 7)");
  Conv1dBank bank{.n = 1, .l = 30, .cout = 2, .k = 3, .stride = 1, .dtype = DType::fp16};
  EXPECT_FALSE(compute_reference(bank, make_case(bank).views()).has_value());
}

TEST(Reference, Fp32SequentialIsNearTheReference) {
  const Workload workload = Conv1dBank{.n = 1, .l = 3000, .cout = 6, .k = 31, .stride = 4};
  const Case c = make_case(workload);
  const auto reference = compute_reference(workload, c.views());
  const auto single = compute_fp32_sequential(workload, c.views());
  ASSERT_TRUE(single.has_value());
  double worst = 0;
  for (std::size_t i = 0; i < single->size(); ++i) {
    worst = std::max(worst, static_cast<double>(std::abs((*single)[i] - reference->rounded[i])));
  }
  EXPECT_GT(worst, 0);
  EXPECT_LT(worst, 1e-4);
}

}  // namespace
}  // namespace tilewright
