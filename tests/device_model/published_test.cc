// SPDX-License-Identifier: Apache-2.0
// The published figures of the 910B4, with the tolerances of the exam.
#include <gtest/gtest.h>

#include "device_model/model.h"
#include "devices.h"
#include "schedules/conv2d_im2col_lowering.h"

namespace tilewright {
namespace {

using namespace test;

class Published : public testing::Test {
 protected:
  Device npu_ = device("ascend_910b4");
  Workload large_ = workload(kLarge);
  Schedule tile_ = schedule(kPublishedTile, large_);

  static void within(double predicted, double published, double tolerance) {
    EXPECT_NEAR(predicted, published, tolerance * published);
  }
};

TEST_F(Published, TileAndItsCopies) {
  const Prediction p = value_of(simulate(large_, tile_, npu_));
  within(p.us, 898.6, 0.05);
  // The busiest core has two items.
  within(p.engines.at("MTE2").busy_us / 2, 413.8, 0.10);
  // One item: A 55,296 pieces at 6.75 cycles, B 56,448 at 3.7.
  EXPECT_NEAR(p.engines.at("MTE2").busy_us / 2, 388, 1);
  // 37 * 18.5625 MiB; the counter of the chip says 687.1 MiB.
  EXPECT_EQ(p.traffic_bytes.at("gm_l1"), 37 * 19464192);
  EXPECT_NEAR(static_cast<double>(p.traffic_bytes.at("gm_l1")) / 1048576, 686.8, 0.05);
  EXPECT_EQ(p.traffic_bytes.at("l0c_gm"), 37 * 688128);
  EXPECT_EQ(p.traffic_bytes.at("gm_ub"), 37 * 688128 + 37 * 512);
  EXPECT_EQ(p.macs, std::int64_t{37} * 256 * 1344 * 2304);
  // Cube time of an item: 129.0 us without the starts of its products.
  EXPECT_NEAR(p.engines.at("CUBE").busy_us / 2, 130.0, 1.0);
}

TEST_F(Published, BestKnownSchedule) {
  const Schedule best = schedule(
      "im2col/base_m:256,base_n:128,base_k:64,rows:4,load:mdl,step_ka:4,step_kb:8,deal:cube_first",
      large_);
  const double us = value_of(simulate(large_, best, npu_)).us;
  EXPECT_GE(us, 425);
  EXPECT_LE(us, 430);
}

// The larger copies of mdl, or aligned rows: hand arithmetic of the copy engine.
TEST_F(Published, BetterCopies) {
  const Schedule mdl =
      schedule("im2col/base_m:128,base_n:256,base_k:64,rows:6,load:mdl,step_ka:8", large_);
  const Prediction p = value_of(simulate(large_, mdl, npu_));
  EXPECT_NEAR(p.engines.at("MTE2").busy_us / 2, 201, 1);
}

// 22.5 MiB of L2 distance hits, 124 MB misses: with order m and six rows B comes off chip twice.
TEST_F(Published, OffChipBytesFollowReuse) {
  const auto bytes = [&](const char* text) {
    return value_of(simulate(large_, schedule(text, large_), npu_)).traffic_bytes.at("off_chip");
  };
  const std::int64_t strip = std::int64_t{2304} * 1344 * 2;
  const std::int64_t weights = std::int64_t{256} * 2304 * 2;
  const std::int64_t order_m = bytes("im2col/base_m:128,base_n:256,base_k:64,rows:6");
  const std::int64_t order_n = bytes("im2col/base_m:128,base_n:256,base_k:64,rows:6,order:n");
  EXPECT_NEAR(static_cast<double>(order_m), static_cast<double>(2 * 37 * strip), 2.0 * weights);
  EXPECT_NEAR(static_cast<double>(order_n), static_cast<double>(37 * strip), 2.0 * weights);
}

TEST_F(Published, BusiestCoreDecides) {
  const auto dealing = [&](const char* knobs) {
    const Schedule s = schedule(std::string(kPublishedTile) + knobs, large_);
    return im2col_item(std::get<Conv2dPool>(large_), s, limits_of(npu_)).dealing;
  };
  const auto cores_with = [](const Dealing& d, std::int64_t items) {
    int cores = 0;
    for (std::int64_t j = 0; j < d.cube_cores; ++j) cores += d.items_of_cube_core(j) == items;
    return cores;
  };
  const Dealing paired = dealing("");
  EXPECT_EQ(cores_with(paired, 2), 18);
  EXPECT_EQ(cores_with(paired, 1), 1);
  EXPECT_EQ(cores_with(paired, 0), 1);
  EXPECT_EQ(paired.executions(), 37);
  const Dealing first = dealing(",deal:cube_first");
  EXPECT_EQ(cores_with(first, 2), 17);
  EXPECT_EQ(cores_with(first, 1), 3);
  EXPECT_EQ(first.executions(), 37);
  const Dealing stride = dealing(",deal_stride:20");  // items are executed twice
  EXPECT_EQ(stride.executions(), 54);
}

// The simulation of a huge workload ends at once.
TEST_F(Published, HugeWorkload) {
  const Workload huge =
      workload("conv2d_pool/n:1,cin:1024,h:100002,w:100002,cout:1024,kh:3,kw:3,pool:1,dtype:fp16");
  Schedule s =
      schedule("im2col/base_m:128,base_n:256,base_k:64,rows:6,load:norm,ub_m:16,ub_tiles:1", huge);
  CostModel model(huge, npu_);
  const std::int64_t lower = model.bound_cycles(s);
  const std::int64_t cycles = model.simulated_cycles(s);
  EXPECT_LE(lower, cycles);
  EXPECT_GT(cycles, 1'000'000'000);
}

}  // namespace
}  // namespace tilewright
