// SPDX-License-Identifier: Apache-2.0
// Shapes that divide nothing, in every variant, against the direct reference in double; non-finite
// values.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "emission.h"
#include "generators/npy.h"

namespace tilewright {
namespace {

struct ConvCase {
  const char* key;
  int rows;  // of a strip, a multiple of pool
};
// 1x1 images, a kernel as large as the image, one channel, 257 channels, odd sizes, strides beyond
// the kernel, different values on every side.
constexpr ConvCase kConvCases[] = {
    {"conv2d_pool/n:1,cin:1,h:1,w:1,cout:1,kh:1,kw:1,pool:1,dtype:fp32", 1},
    {"conv2d_pool/n:2,cin:7,h:13,w:11,cout:20,kh:3,kw:3,pool:2,dtype:fp16,act:relu", 4},
    {"conv2d_pool/n:1,cin:3,h:30,w:29,cout:24,kh:7,kw:5,pool:3,dtype:fp16,stride:2,pad:3", 6},
    {"conv2d_pool/n:2,cin:5,h:9,w:9,cout:17,kh:3,kw:2,pool:1,dtype:fp32,bias:0", 2},
    {"conv2d_pool/n:1,cin:257,h:5,w:6,cout:3,kh:5,kw:6,pool:1,dtype:fp32", 1},
    {"conv2d_pool/"
     "n:1,cin:4,h:20,w:40,cout:16,kh:2,kw:3,pool:2,dtype:fp32,stride_h:3,stride_w:1,pad_t:1,pad_b:"
     "0,"
     "pad_l:2,pad_r:3,dil_h:1,dil_w:2",
     4},
    {"conv2d_pool/n:1,cin:8,h:21,w:50,cout:33,kh:1,kw:1,pool:3,dtype:fp16,stride:4", 3},
};

TEST(Shapes, ConvolutionsInEveryVariant) {
  KernelSet kernels("conv");
  for (const auto& [key, rows] : kConvCases) {
    const std::string strip = ",rows:" + std::to_string(rows);
    kernels.emit({key, "direct/base_m:32,base_n:6,base_k:4" + strip});
    kernels.emit({key, "direct/base_m:16,base_n:9,base_k:3,unroll:3,par:channels" + strip});
    kernels.emit({key, "im2col/base_m:16,base_n:32,base_k:32" + strip, "npu"});
  }
  kernels.link();
  ASSERT_FALSE(HasFatalFailure());
  for (const auto& [key, rows] : kConvCases) EXPECT_EQ(kernels.digests(key).size(), 3u);
}

TEST(Shapes, BanksInBothVariants) {
  const struct {
    std::string key, folded, direct;
  } banks[] = {
      {"conv1d_bank/n:1,l:500,cout:14,k:32,stride:3,dtype:fp32,symmetry:even_odd",
       "base_m:4,base_n:32,m_tile:64,chains:3", "base_m:5,base_n:32,m_tile:64"},
      {"conv1d_bank/n:1,l:300,cout:10,k:31,stride:1,dtype:fp32,cin:3,pad:7,symmetry:even_odd",
       "base_m:5,base_n:16,m_tile:32,fold:group,chains:6", "base_m:3,base_n:16,m_tile:32"},
      {"conv1d_bank/n:3,l:40,cout:6,k:9,stride:4,dtype:fp32,bias:0,symmetry:even_odd",
       "base_m:2,base_n:16,m_tile:64", "base_m:6,base_n:16,m_tile:32,chains:2"},
      {"conv1d_bank/"
       "n:1,l:260,cout:8,k:12,stride:2,dtype:fp32,cin:2,pad_l:5,dil:3,symmetry:even_odd",
       "base_m:4,base_n:16,m_tile:48,chains:4,par:channels",
       "base_m:4,base_n:16,m_tile:16,par:none"},
      {"conv1d_bank/n:1,l:3,cout:2,k:1,stride:1,dtype:fp32,symmetry:even_odd",
       "base_m:1,base_n:16,m_tile:16", "base_m:2,base_n:16,m_tile:16"}};
  KernelSet kernels("bank");
  for (const auto& bank : banks) {
    kernels.emit({bank.key, "folded_channel_major/" + bank.folded});
    kernels.emit({bank.key, "direct/" + bank.direct});
  }
  kernels.link();
  ASSERT_FALSE(HasFatalFailure());
  for (const auto& bank : banks) EXPECT_EQ(kernels.digests(bank.key).size(), 2u);
}

TEST(Shapes, TheAlgorithmsWithoutTheirSchedules) {
  const std::string conv = kConvCases[1].key,
                    bank =
                        "conv1d_bank/n:1,l:500,cout:14,k:31,stride:3,dtype:fp32,symmetry:even_odd";
  KernelSet kernels("unscheduled");
  kernels.emit({conv, "direct/base_m:16,base_n:6,base_k:4,rows:2", "host", "host", false});
  kernels.emit({conv, "im2col/base_m:16,base_n:32,base_k:32,rows:2", "npu", "host", false});
  kernels.emit(
      {bank, "folded_channel_major/base_m:7,base_n:16,m_tile:64,chains:3", "host", "host", false});
  kernels.emit({bank, "direct/base_m:7,base_n:16,m_tile:64", "host", "host", false});
  kernels.link();
  ASSERT_FALSE(HasFatalFailure());
  EXPECT_EQ(kernels.digests(conv).size(), 2u);
  EXPECT_EQ(kernels.digests(bank).size(), 2u);
}

// A NaN or an infinity in a window makes exactly that output NaN or infinite, through pooling and
// ReLU, as PyTorch does. One channel of ones with weights of one: a window's sum shows what it saw.
class NonFinite : public testing::TestWithParam<std::string> {};

TEST_P(NonFinite, InputsReachTheirOutputsThroughPoolingAndRelu) {
  const std::string dtype = GetParam();
  const std::string key =
      "conv2d_pool/n:1,cin:1,h:8,w:22,cout:2,kh:1,kw:1,pool:2,dtype:" + dtype + ",bias:0,act:relu";
  KernelSet kernels("non_finite_" + dtype);
  kernels.emit({key, "direct/base_m:16,base_n:6,base_k:1,rows:2"});
  kernels.emit({key, "im2col/base_m:16,base_n:32,base_k:16,rows:2", "npu"});
  kernels.link();
  ASSERT_FALSE(HasFatalFailure());

  const DType type = dtype == "fp16" ? DType::fp16 : DType::fp32;
  Array x(type, {1, 1, 8, 22}), w(type, {2, 1, 1, 1});
  for (std::int64_t i = 0; i < x.count(); ++i) x.set(i, 1);
  w.set(0, 1);
  w.set(1, -1);
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  const std::int64_t nans[] = {0, 22 * 3 + 5,
                               22 * 7 + 20};  // first, second row of a window, last used column
  for (const std::int64_t i : nans) x.set(i, nan);
  x.set(22 * 4 + 8, infinity);
  x.set(22 * 5 + 15, -infinity);
  ASSERT_TRUE(write_npy((kernels.folder() / "x.npy").string(), x.view()));
  ASSERT_TRUE(write_npy((kernels.folder() / "w.npy").string(), w.view()));
  for (const char* kernel : {"kernel_0", "kernel_1"}) {
    const std::string output = (kernels.folder() / (std::string(kernel) + ".npy")).string();
    const Json job{
        {"workload", key},
        {"check", false},
        {"repeat", 1},
        {"warmup", 0},
        {"output_npy", output},
        {"inputs",
         {{"x", {{"npy", (kernels.folder() / "x.npy").string()}}},
          {"w", {{"npy", (kernels.folder() / "w.npy").string()}}}}},
        {"kernels", {{{"so", (kernels.folder() / "kernels.so").string()}, {"function", kernel}}}}};
    const CommandResult run = run_command({"tilewright-harness"}, job.dump());
    ASSERT_EQ(run.exit_code, 0) << run.err << run.out;
    const auto y = read_npy(output, type, {1, 2, 4, 11});
    ASSERT_TRUE(y) << y.error().message << run.out;
    for (std::int64_t c = 0; c < 2; ++c) {
      for (std::int64_t i = 0; i < 44; ++i) {
        const float value = y->at(c * 44 + i);
        const std::int64_t row = i / 11, column = i % 11;
        const bool is_nan =
            (row == 0 && column == 0) || (row == 1 && column == 2) || (row == 3 && column == 10);
        const bool infinite =
            (c == 0 && row == 2 && column == 4) || (c == 1 && row == 2 && column == 7);
        SCOPED_TRACE(std::string(kernel) + ", channel " + std::to_string(c) + ", position " +
                     std::to_string(i));
        if (is_nan) {
          EXPECT_TRUE(std::isnan(value)) << value;
        } else if (infinite) {
          EXPECT_EQ(value, std::numeric_limits<float>::infinity());
        } else {
          EXPECT_EQ(value, c == 0 ? 1.0F : 0.0F);
        }
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Types, NonFinite, testing::Values("fp32", "fp16"));

}  // namespace
}  // namespace tilewright
