// SPDX-License-Identifier: Apache-2.0
// The harness's job parser, in-process: any text ends in a job or in one line.
#include "generators/harness_job.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tilewright {
namespace {

const std::string kJob =
    R"({"workload": "conv1d_bank/n:2,l:300,cout:4,k:11,stride:3,dtype:fp32,symmetry:even_odd",)"
    R"( "kernels": [{"so": "a b.so", "function": "f"}], "inputs": {"x": {"class": "pink", "seed": 7}},)"
    R"( "check": false, "reference_cache": "c", "repeat": 9, "warmup": 0, "threads": 2, "output_npy": null})";

TEST(HarnessJob, FieldsAndDefaults) {
  const auto job = parse_job(kJob);
  ASSERT_TRUE(job.has_value()) << job.error().message;
  EXPECT_EQ(job->kernels.size(), 1u);
  EXPECT_EQ(job->kernels[0].so, "a b.so");
  EXPECT_EQ(job->inputs.at("x").signal, SignalClass::pink);
  EXPECT_EQ(job->inputs.at("x").seed, 7u);
  EXPECT_EQ(job->inputs.at("w").signal, SignalClass::sincnet_bank);
  EXPECT_EQ(job->inputs.at("bias").signal, SignalClass::normal);
  EXPECT_FALSE(job->check);
  EXPECT_EQ(job->reference_cache, "c");
  EXPECT_EQ(job->repeat, 9);
  EXPECT_EQ(job->warmup, 0);
  EXPECT_EQ(job->threads, 2);
  EXPECT_FALSE(job->output_npy.has_value());
  EXPECT_FALSE(job->peak);
}

RC_GTEST_PROP(HarnessJob, AnyChangedTextEndsInAJobOrOneLine, ()) {
  std::string text = kJob;
  const int changes = *rc::gen::inRange(1, 5);
  for (int i = 0; i < changes; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        text[at] = *rc::gen::arbitrary<char>();
        break;
      case 1:
        text.erase(at, *rc::gen::inRange<std::size_t>(1, 20));
        break;
      default:
        text.insert(at, *rc::gen::element<std::string>("{", "}", "[", "]", "\"", ":", "-1", "1e99",
                                                       "null", "99999999999999999999"));
        break;
    }
    if (text.empty()) break;
  }
  const auto job = parse_job(text);
  if (job) return;
  RC_ASSERT(job.error().kind == ErrorKind::usage);
  RC_ASSERT(!job.error().message.empty());
  RC_ASSERT(render_error(HarnessStatus::usage, job.error().message).find('\n') ==
            render_error(HarnessStatus::usage, job.error().message).size() - 1);
}

TEST(HarnessJob, WhatIsNoJsonIsToldWithoutTheNamesOfALibrary) {
  const std::string message = parse_job("{x").error().message;
  EXPECT_EQ(message.find("the job is no JSON: parse error at line 1"), 0u) << message;
}

TEST(HarnessJob, NestingDoesNotOverflow) {
  EXPECT_FALSE(parse_job(std::string(200'000, '[')).has_value());
  EXPECT_FALSE(parse_job(R"({"a":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}")
                   .has_value());
}

}  // namespace
}  // namespace tilewright
