// SPDX-License-Identifier: Apache-2.0
// The filter bank at full size: what a plain fp32 loop does to the gate, against figures measured
// elsewhere with other generators of the same signal classes.
#include <gtest/gtest.h>

#include <cmath>

#include "generators/gates.h"
#include "generators/inputs.h"
#include "generators/reference.h"

namespace tilewright {
namespace {

const Workload kSincnet = Conv1dBank{
    .n = 21, .l = 160000, .cout = 80, .k = 251, .stride = 10, .symmetry = Symmetry::even_odd};

GateReport fp32_loop(SignalClass signal) {
  std::vector<Array> arrays;
  for (const ArrayShape& shape : input_shapes(kSincnet)) {
    const SignalClass wanted = shape.name == "x"   ? signal
                               : shape.name == "w" ? SignalClass::sincnet_bank
                                                   : SignalClass::uniform;
    arrays.push_back(*make_input(kSincnet, shape, wanted, 1));
  }
  const std::vector<ArrayView> views{arrays[0].view(), arrays[1].view(), arrays[2].view()};
  const auto reference = compute_reference(kSincnet, views);
  const auto single = compute_fp32_sequential(kSincnet, views);
  const auto bytes = std::as_bytes(std::span(*single));
  const ArrayShape shape = output_shape(kSincnet);
  GateReport report =
      check_gate(kSincnet, {DType::fp32, shape.extents, bytes.data()}, *reference, Gate::tolerance);
  std::printf("%-12s reference %.2f s, fp32 loop: worst ratio %.3f, %lld of %lld outputs fail\n",
              std::string(signal_class_name(signal)).c_str(), reference->seconds,
              report.worst_ratio, static_cast<long long>(report.failures),
              static_cast<long long>(report.outputs));
  return report;
}

void expect_within(double value, double published, double factor) {
  EXPECT_GT(value, published / factor);
  EXPECT_LT(value, published * factor);
}

TEST(FilterBank, UniformAndNormalAreNearThePublishedRatios) {
  const GateReport uniform = fp32_loop(SignalClass::uniform);
  EXPECT_EQ(uniform.outputs, 26'838'000);
  EXPECT_EQ(uniform.failures, 0);
  expect_within(uniform.worst_ratio, 0.32, 1.5);
  const GateReport normal = fp32_loop(SignalClass::normal);
  EXPECT_EQ(normal.failures, 0);
  expect_within(normal.worst_ratio, 0.53, 1.5);
}

// Order of magnitude only.
TEST(FilterBank, SpeechAndPinkNoiseBreakTheGateForAPlainLoop) {
  const GateReport speech = fp32_loop(SignalClass::speech_like);
  expect_within(speech.worst_ratio, 2.1, 3);
  expect_within(static_cast<double>(speech.failures), 71, 10);
  const GateReport pink = fp32_loop(SignalClass::pink);
  expect_within(pink.worst_ratio, 2.6, 3);
  expect_within(static_cast<double>(pink.failures), 90, 10);
}

}  // namespace
}  // namespace tilewright
