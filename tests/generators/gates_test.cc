// SPDX-License-Identifier: Apache-2.0
#include "generators/gates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tilewright {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

const Workload kBank =
    Conv1dBank{.n = 1, .l = 12, .cout = 2, .k = 3, .stride = 2, .bias = false};  // y (1, 2, 5)

Reference rounded(std::vector<float> values) {
  Reference reference;
  reference.rounded = std::move(values);
  return reference;
}
Reference exact(std::vector<double> values, std::vector<float> sums) {
  Reference reference;
  reference.exact = std::move(values);
  reference.absolute_sums = std::move(sums);
  return reference;
}

// conv2d_pool with `count` outputs in a row and K = 9 * cin products.
Conv2dPool row_of(std::int64_t count, DType dtype, std::int64_t cin = 1) {
  return {.n = 1,
          .cin = cin,
          .h = 3,
          .w = count + 2,
          .cout = 1,
          .kh = 3,
          .kw = 3,
          .pool = 1,
          .dtype = dtype};
}

GateReport check(const Workload& workload, const std::vector<double>& outputs,
                 const Reference& reference, Gate gate = Gate::tolerance) {
  Array array(dtype_of(workload), output_shape(workload).extents);
  EXPECT_EQ(array.count(), static_cast<std::int64_t>(outputs.size()));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    array.set(static_cast<std::int64_t>(i), outputs[i]);
  return check_gate(workload, array.view(), reference, gate);
}
bool passes(DType dtype, double output, double reference, float sum = 0, std::int64_t cin = 1) {
  return check(row_of(1, dtype, cin), {output}, exact({reference}, {sum})).failures == 0;
}

TEST(Gates, Conv1dToleranceIsAbsolutePlusRelative) {
  const std::vector<float> reference{0, 1, 100, -100, 5, 6, 7, 8, 9, 10};
  std::vector<double> output(reference.begin(), reference.end());
  EXPECT_TRUE(check(kBank, output, rounded(reference)).passed());
  output[0] += 0.9e-5;
  output[1] -= 1.9e-5;
  output[2] += 100 * 1e-5;
  GateReport report = check(kBank, output, rounded(reference));
  EXPECT_TRUE(report.passed());
  EXPECT_NEAR(report.worst_ratio, 0.99, 0.01);
  output[3] -= 1.1e-3;
  output[7] += 1;
  report = check(kBank, output, rounded(reference));
  EXPECT_EQ(report.failures, 2);
  EXPECT_EQ(report.published_failures, 2);
  EXPECT_EQ(report.outputs, 10);
  ASSERT_TRUE(report.first_failure.has_value());
  EXPECT_EQ(report.first_failure->index, (std::vector<std::int64_t>{0, 0, 3}));
  EXPECT_EQ(report.first_failure->expected, -100);
  EXPECT_NEAR(report.first_failure->tolerance, 1.01e-3, 1e-9);
  EXPECT_NEAR(report.worst_ratio, 1 / 9e-5, 20);
}

// K = 9: tolerance u |ref| + 1.01 * 9 * 2^-24 * sum.
TEST(Gates, Conv2dToleranceFollowsTheSumOfProducts) {
  const double per_sum = 1.01 * 9 * 0x1p-24;
  EXPECT_TRUE(passes(DType::fp32, 0.99 * per_sum * 50, 0, 50));
  EXPECT_FALSE(passes(DType::fp32, 1.01 * per_sum * 50, 0, 50));
  EXPECT_TRUE(passes(DType::fp32, 4 * 1.01 * per_sum * 50, 0, 50, 5));  // K = 45
  EXPECT_TRUE(passes(DType::fp16, 1, 1 + 0x1p-12));
  EXPECT_TRUE(passes(DType::fp16, 1, 1 + 0x1p-11));
  EXPECT_FALSE(passes(DType::fp16, 1, 1 + 0x1.01p-11));
  // Half of the smallest subnormal half is a rounding that no kernel can avoid.
  EXPECT_TRUE(passes(DType::fp16, 0x1p-24, 0x1.8p-24));
  EXPECT_FALSE(passes(DType::fp16, 0x1p-24, 0x1.9p-24));
}

// The published gate alone would let a lost product pass.
TEST(Gates, LostProductFailsOnlyTheSharpGate) {
  const Workload workload = row_of(3, DType::fp16, 128);
  const Reference reference = exact({1, 300, 2}, {40, 400, 40});
  const GateReport report = check(workload, {1.5, 300, 2}, reference);
  EXPECT_EQ(report.failures, 1);
  EXPECT_EQ(report.published_failures, 0);
  EXPECT_FALSE(report.passed());
}

TEST(Gates, PublishedGateUsesTheLargestReference) {
  const Workload workload = row_of(3, DType::fp32, 1000);
  const Reference reference = exact({1, -200, kInf}, {1e9f, 1e9f, 1});
  EXPECT_EQ(check(workload, {1 + 0.019, -200, kInf}, reference).published_failures, 0);
  EXPECT_EQ(check(workload, {1 + 0.021, -200, kInf}, reference).published_failures, 1);
}

TEST(Gates, NaNAndInfMustMatch) {
  EXPECT_FALSE(passes(DType::fp32, kNaN, 1, 1e30f));
  EXPECT_TRUE(passes(DType::fp32, kNaN, kNaN));
  EXPECT_FALSE(passes(DType::fp32, 1, kNaN));
  EXPECT_FALSE(passes(DType::fp32, kInf, kNaN));
  EXPECT_TRUE(passes(DType::fp32, kInf, kInf));
  EXPECT_FALSE(passes(DType::fp32, -kInf, kInf));
  EXPECT_FALSE(passes(DType::fp32, kNaN, kInf));
  EXPECT_FALSE(passes(DType::fp32, 3e38, kInf));
  EXPECT_FALSE(passes(DType::fp32, kInf, 1, 1));
  // conv1d_bank: folding may turn an Inf into NaN, never into a number.
  const std::vector<float> reference{
      std::numeric_limits<float>::infinity(), 0, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_TRUE(check(kBank, {kNaN, 0, 0, 0, 0, 0, 0, 0, 0, 0}, rounded(reference)).passed());
  EXPECT_FALSE(check(kBank, {-kInf, 0, 0, 0, 0, 0, 0, 0, 0, 0}, rounded(reference)).passed());
  EXPECT_FALSE(check(kBank, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, rounded(reference)).passed());
}

TEST(Gates, NaNIsCountedWithoutARatio) {
  const GateReport report =
      check(row_of(3, DType::fp32), {kNaN, 2, 3}, exact({1, 2, 3}, {1, 2, 3}));
  EXPECT_EQ(report.failures, 1);
  EXPECT_EQ(report.unrated_failures, 1);
  EXPECT_EQ(report.worst_ratio, 0);
  EXPECT_TRUE(std::isnan(report.first_failure->got));
  EXPECT_EQ(report.published_failures, 1);
}

TEST(Gates, OverflowOfTheOutputType) {
  EXPECT_TRUE(passes(DType::fp16, kInf, 1e6));  // rounds to Inf
  EXPECT_FALSE(passes(DType::fp16, 65504, 1e6));
  EXPECT_FALSE(passes(DType::fp16, kInf, 60000));
  EXPECT_TRUE(passes(DType::fp16, 65504, 65525));  // 65520 is the border: both sides are within u
  EXPECT_TRUE(passes(DType::fp16, kInf, 65515));
  EXPECT_TRUE(passes(DType::fp16, -kInf, -1e6));
  EXPECT_FALSE(passes(DType::fp16, kInf, -1e6));
}

TEST(Gates, ExactGateTakesOnlyTheRoundedReference) {
  const Workload workload = row_of(2, DType::fp16);
  const Reference reference = exact({2049, 7}, {1e6f, 1e6f});  // 2049 is no half: ties to 2048
  EXPECT_TRUE(check(workload, {2048, 7}, reference, Gate::exact).passed());
  const GateReport report = check(workload, {2050, 7}, reference, Gate::exact);
  EXPECT_EQ(report.failures, 1);
  EXPECT_EQ(report.unrated_failures, 1);
  EXPECT_EQ(report.first_failure->tolerance, 0);
}

TEST(Gates, ManyElementsGiveTheLowestIndex) {
  const Workload workload = row_of(100'000, DType::fp32);
  std::vector<double> values(100'000, 1.0);
  const Reference reference = exact(values, std::vector<float>(values.size(), 1.0f));
  for (std::size_t i = 70'123; i < values.size(); i += 1000) values[i] = 2;
  const GateReport report = check(workload, values, reference);
  EXPECT_EQ(report.failures, 30);
  EXPECT_EQ(report.first_failure->offset, 70'123);
  EXPECT_EQ(report.first_failure->index, (std::vector<std::int64_t>{0, 0, 0, 70'123}));
}

}  // namespace
}  // namespace tilewright
