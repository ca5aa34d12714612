// SPDX-License-Identifier: Apache-2.0
#include "schedules/workload.h"

#include <gtest/gtest.h>

#include "tests/schedules/samples.h"

namespace tilewright {
namespace {

// A convolution with one field changed or added.
std::string conv(const std::string& fields) {
  return "conv2d_pool/n:1,cin:4,cout:4,kh:3,kw:3," + fields;
}
std::string bank(const std::string& fields) { return "conv1d_bank/n:1," + fields + ",dtype:fp32"; }
std::string error_of(const std::string& key) { return usage_message(parse_workload_key(key)); }

TEST(Workload, CanonicalKeysStayAsTheyAre) {
  for (const char* key :
       {kLargeFp16, kSincnet,
        "conv2d_pool/"
        "n:1,cin:8,h:9,w:9,cout:8,kh:3,kw:3,pool:1,dtype:fp32,stride:2,pad:1,dil:2,groups:8,bias:0,"
        "act:relu,"
        "layout:nhwc",
        "conv2d_pool/"
        "n:1,cin:8,h:9,w:9,cout:8,kh:3,kw:3,pool:1,dtype:int8,stride_h:2,pad_t:1,pad_r:3,dil_w:2",
        "conv1d_bank/n:1,l:10,cout:3,k:2,stride:1,dtype:bf16,cin:2,pad_r:1,dil:2,bias:0"}) {
    EXPECT_EQ(to_key(workload(key)), key);
  }
}

TEST(Workload, AnyOrderAndWrittenDefaultsGiveTheCanonicalKey) {
  EXPECT_EQ(to_key(workload(
                "conv2d_pool/dtype:fp16,pool:2,kw:3,kh:3,cout:256,w:224,h:224,cin:256,n:1,stride:1,"
                "pad:0,bias:1,act:none,groups:1")),
            kLargeFp16);
  EXPECT_EQ(
      to_key(workload(
          conv("h:9,w:9,pool:1,dtype:fp32,stride_h:2,stride_w:2,pad_t:1,pad_b:1,pad_l:1,pad_r:1"))),
      "conv2d_pool/n:1,cin:4,h:9,w:9,cout:4,kh:3,kw:3,pool:1,dtype:fp32,stride:2,pad:1");
}

TEST(Workload, SizesOfTheReferenceLayers) {
  const Workload large = workload(kLargeFp16);
  EXPECT_EQ(std::get<Conv2dPool>(large).hout(), 222);
  EXPECT_EQ(output_count(large), 3154176);
  EXPECT_EQ(direct_macs(large), std::int64_t{256} * 222 * 222 * 2304);
  EXPECT_EQ(output_count(workload(kSmallFp16)), 53760);

  const Workload sincnet = workload(kSincnet);
  EXPECT_EQ(std::get<Conv1dBank>(sincnet).lout(), 15975);
  EXPECT_EQ(output_count(sincnet), 26838000);
  EXPECT_EQ(direct_macs(sincnet), std::int64_t{26838000} * 251);
  const std::vector<ArrayShape> inputs{{"x", {21, 1, 160000}}, {"w", {80, 1, 251}}, {"bias", {80}}};
  EXPECT_EQ(input_shapes(sincnet), inputs);
  EXPECT_EQ(output_shape(sincnet), (ArrayShape{"y", {21, 80, 15975}}));
}

TEST(Workload, StridePaddingAndDilationShapeTheOutput) {
  const auto w = std::get<Conv2dPool>(workload(
      "conv2d_pool/"
      "n:2,cin:4,h:11,w:7,cout:6,kh:3,kw:2,pool:2,dtype:fp32,stride_h:2,pad_t:1,pad_l:2,dil:2,"
      "groups:2,bias:0,layout:nhwc"));
  EXPECT_EQ(w.hout(), (11 + 1 - 2 * 2 - 1) / 2 + 1);
  EXPECT_EQ(w.wout(), 7 + 2 - 2 * 1 - 1 + 1);
  EXPECT_EQ(output_shape(w), (ArrayShape{"y", {2, 2, 3, 6}}));
  const std::vector<ArrayShape> inputs{{"x", {2, 11, 7, 4}}, {"w", {6, 2, 3, 2}}};
  EXPECT_EQ(input_shapes(w), inputs);
}

TEST(WorkloadErrors, UnknownNamesOfferTheNearest) {
  EXPECT_MENTIONS(error_of("conv2d/n:1"), "nearest is 'conv2d_pool'");
  EXPECT_MENTIONS(error_of("conv2d_pool/n:1,cn:4"),
                  "unknown field 'cn' of conv2d_pool; nearest is 'cin' (character 17)");
  EXPECT_MENTIONS(error_of("conv2d_pool/n:1,strde_h:4"), "nearest is 'stride_h'");
  EXPECT_MENTIONS(error_of(conv("h:9,w:9,pool:1,dtype:fp61")),
                  "dtype can not be 'fp61'; nearest is 'fp");
  EXPECT_MENTIONS(error_of(conv("h:9,w:9,pool:1,dtype:fp32,act:rel")), "nearest is 'relu'");
  EXPECT_MENTIONS(error_of(conv("h:9,w:9,pool:1,dtype:fp32,bias:2")), "of 0, 1");
}

TEST(WorkloadErrors, NegativeZeroAndOverflowingSizes) {
  EXPECT_MENTIONS(error_of("conv2d_pool/n:-1"),
                  "n must be between 1 and 1,099,511,627,776, not -1; nearest is 1 (character 13)");
  EXPECT_MENTIONS(error_of("conv2d_pool/n:0"), "n must be between 1");
  EXPECT_MENTIONS(error_of("conv2d_pool/n:99999999999999999999"), "nearest is 1099511627776");
  EXPECT_MENTIONS(error_of("conv2d_pool/n:1.5"), "n must be a whole number, not '1.5'");
  EXPECT_MENTIONS(error_of(conv("h:9,w:9,pool:1,dtype:fp32,stride:0")), "stride must be between 1");
  EXPECT_MENTIONS(error_of(conv("h:9,w:9,pool:1,dtype:fp32,pad_l:-1")), "pad_l must be between 0");
}

TEST(WorkloadErrors, ProductsThatLeave62Bits) {
  EXPECT_MENTIONS(error_of(conv("h:1099511627776,w:1099511627776,pool:1,dtype:fp32")),
                  "array x has 2^62 bytes or more");
  // Every array is small enough, the multiply-adds are not.
  EXPECT_MENTIONS(
      error_of(
          "conv2d_pool/n:1,cin:1000000,h:1000000,w:100000,cout:100000,kh:1,kw:1,pool:1,dtype:int8"),
      "2^62 multiply-adds");
  EXPECT_MENTIONS(error_of(bank("l:1099511627776,cout:1099511627776,k:1,stride:1")),
                  "array y has 2^62 bytes or more");
  // A dilated kernel beyond 64 bits is a kernel that does not fit.
  EXPECT_MENTIONS(
      error_of(
          "conv2d_pool/"
          "n:1,cin:1,h:9,w:9,cout:1,kh:1099511627776,kw:1,pool:1,dtype:fp32,dil:1099511627776"),
      "output has size zero");
}

TEST(WorkloadErrors, OutputsOfSizeZero) {
  EXPECT_MENTIONS(error_of(conv("h:2,w:9,pool:1,dtype:fp32")),
                  "output has size zero: the convolution gives 0 x 7");
  EXPECT_MENTIONS(error_of(conv("h:9,w:4,pool:3,dtype:fp32")),
                  "gives 7 x 2 positions, pool needs 3 x 3");
  EXPECT_MENTIONS(error_of(bank("l:250,cout:80,k:251,stride:10")),
                  "251 taps with dilation 1 do not fit into 250 samples");
  EXPECT_EQ(std::get<Conv1dBank>(workload(bank("l:251,cout:80,k:251,stride:10"))).lout(), 1);
}

TEST(WorkloadErrors, FieldsThatContradictEachOther) {
  EXPECT_MENTIONS(error_of(conv("h:9,w:9,pool:4,dtype:fp32")), "pool must be 1, 2 or 3");
  EXPECT_MENTIONS(error_of(conv("h:9,w:9,pool:1,dtype:fp32,groups:3")),
                  "groups 3 does not divide cin 4");
  EXPECT_MENTIONS(error_of(bank("l:500,cout:81,k:251,stride:10,symmetry:even_odd")),
                  "cout 81 is odd");
}

TEST(WorkloadErrors, MissingAndRepeatedFields) {
  EXPECT_MENTIONS(error_of("conv2d_pool"), "the fields are missing");
  EXPECT_MENTIONS(error_of("conv2d_pool/"), "expected name:value at character 13");
  EXPECT_MENTIONS(error_of(conv("h:9,w:9,pool:1")), "dtype is missing");
  EXPECT_MENTIONS(error_of("conv2d_pool/n:1,n:1"), "n is given twice; keep one (character 17)");
  EXPECT_MENTIONS(error_of(conv("h:9,w:9,pool:1,dtype:fp32,stride:2,stride_h:2")),
                  "stride_h is given twice");
  EXPECT_MENTIONS(error_of(conv("h:9,w:9,pool:1,dtype:fp32,pad_b:2,pad:2")), "pad is given twice");
}

}  // namespace
}  // namespace tilewright
