// SPDX-License-Identifier: Apache-2.0
// The public 910B1 matmul runs (8192^3, fp16, B transposed), with the tolerances of the exam, and
// the figures of matrix products that can be counted by hand.
#include <gtest/gtest.h>

#include "device_model/model.h"
#include "devices.h"
#include "matmul_totals.h"
#include "random_matmul.h"
#include "schedules/matmul_npu.h"
#include "schedules/space.h"

namespace tilewright {
namespace {

using namespace test;

constexpr std::string_view kPublic = "matmul/m:8192,n:8192,k:8192,dtype:fp16,trans_b:1";
constexpr std::string_view kTile = "base_m:128,base_n:256,base_k:64";

class PublicMatmul : public testing::Test {
 protected:
  Device npu_ = device("ascend_910b1");
  Workload w_ = workload(kPublic);

  Schedule blocked(std::string_view cores, std::string_view rest = "load:norm",
                   std::string_view tile = kTile) const {
    return schedule(
        "blocked/" + std::string(cores) + "," + std::string(tile) + "," + std::string(rest), w_);
  }
  void mte2_within(const Schedule& s, double published, double tolerance) const {
    const Prediction p = value_of(simulate(w_, s, npu_));
    EXPECT_NEAR(p.engines.at("MTE2").mean_busy_us, published, tolerance * published);
    EXPECT_LE(value_of(bound(w_, s, npu_)).cycles, p.cycles);
  }
};

TEST_F(PublicMatmul, CopyTimes) {
  mte2_within(blocked("cores_m:1,cores_n:1"), 195613, 0.10);                                // P1
  mte2_within(blocked("cores_m:2,cores_n:12"), 10178, 0.10);                                // P2
  mte2_within(blocked("cores_m:4,cores_n:6"), 8617, 0.10);                                  // P3
  mte2_within(blocked("cores_m:4,cores_n:6", "load:mdl,step_ka:8,step_kb:4"), 3779, 0.05);  // P5
}

// 128 rows of A and 256 of B^T, 128 B each, are a piece a row at 3.7 cycles; rounded up per copy.
TEST_F(PublicMatmul, CopiesByHand) {
  const Prediction p = value_of(simulate(w_, blocked("cores_m:1,cores_n:1"), npu_));
  EXPECT_EQ(p.cores, 1);
  const double copies = 64.0 * 32 * 128;
  EXPECT_DOUBLE_EQ(p.engines.at("MTE2").busy_us, copies * (474 + 948) / 1850);
  // 512 cycles of work and the fitted start: 575 by the chip's counter.
  EXPECT_NEAR(p.engines.at("CUBE").busy_us, copies * 575 / 1850, 0.002 * copies * 575 / 1850);
  EXPECT_EQ(p.macs, std::int64_t{8192} * 8192 * 8192);
  EXPECT_EQ(p.traffic_bytes.at("l0c_gm"), std::int64_t{8192} * 8192 * 2);
  // ceil(n/base_n)*A + ceil(m/base_m)*B.
  EXPECT_EQ(p.traffic_bytes.at("gm_l1"), (std::int64_t{32} + 64) * 8192 * 8192 * 2);
  // Neither head nor call.
  EXPECT_EQ(p.engines.at("CUBE").stalls_us.at("call"), 0);
}

// 192 MiB of L2 hold B (128 MiB) between two sweeps: every byte comes on chip once. A smaller L2
// does not.
TEST_F(PublicMatmul, OffChipBytesFollowReuse) {
  const std::int64_t matrix = std::int64_t{8192} * 8192 * 2;
  const Schedule s = blocked("cores_m:4,cores_n:6");
  const Prediction p = value_of(simulate(w_, s, npu_));
  EXPECT_NEAR(static_cast<double>(p.traffic_bytes.at("off_chip")), 2.0 * matrix, 0.02 * matrix);
  const Device small = value_of(
      with_overrides(npu_, std::vector<std::string>{"memory.l2.capacity_bytes=100663296"}));
  const Prediction again = value_of(simulate(w_, s, small));
  EXPECT_NEAR(static_cast<double>(again.traffic_bytes.at("off_chip")), (1 + 16.0) * matrix,
              0.2 * matrix);
}

TEST_F(PublicMatmul, EngineTotalsOfTheRunsArePlainLoops) {
  const Limits limits = limits_of(npu_);
  const Costing costing(npu_);
  const auto& w = std::get<Matmul>(w_);
  for (const char* rest : {"load:norm", "load:mdl,step_ka:8,step_kb:4", "load:norm,order:n",
                           "load:mdl,step_ka:2,step_kb:6,order:n"}) {
    for (const char* cores : {"cores_m:2,cores_n:12", "cores_m:4,cores_n:6"}) {
      for (const char* tile : {"base_m:128,base_n:256,base_k:64", "base_m:128,base_n:256,base_k:48",
                               "base_m:112,base_n:208,base_k:32"}) {
        const Schedule s = blocked(cores, rest, tile);
        ASSERT_EQ(first_violation(w_, s, limits), nullptr);
        const CoreGrid grid(w, s);
        const MatmulPart part{grid.last_m, grid.last_n};
        const CoreTotals naive = naive_totals(w, s, limits, costing, part);
        EXPECT_EQ(naive, tree_totals(w, s, limits, costing, part)) << cores << rest << tile;
        EXPECT_EQ(naive, closed_totals(w, s, limits, costing, part)) << cores << rest << tile;
      }
    }
  }
}

// Parts of the result in the last row and column of the core grid are smaller, and may be slower:
// the chip ends with the slowest.
TEST_F(PublicMatmul, UnevenPartsCountAll) {
  const Workload w = workload("matmul/m:900,n:3000,k:700,dtype:fp16");
  const Schedule s =
      schedule("blocked/cores_m:7,cores_n:3,base_m:128,base_n:128,base_k:64,load:norm", w);
  const Prediction p = value_of(simulate(w, s, npu_));
  EXPECT_EQ(p.cores, 21);
  EXPECT_LT(p.core_time_utilisation, 1);
  EXPECT_GT(p.core_time_utilisation, 0.9);
  EXPECT_LT(p.engines.at("MTE2").mean_busy_us, p.engines.at("MTE2").busy_us);
  CostModel model(w, npu_);
  EXPECT_EQ(model.simulated_cycles(s), *p.cycles);
  EXPECT_LE(model.bound_cycles(s), *p.cycles);
  // Six rows of parts with 129 rows, one with 126; 1000 columns; all padded to 16.
  EXPECT_EQ(p.macs, std::int64_t{704} * (3 * 1008) * (6 * 144 + 128));
}

TEST_F(PublicMatmul, DoubleBuffersAndStalls) {
  const auto stalls = [&](const char* rest) {
    return value_of(simulate(w_, blocked("cores_m:4,cores_n:6", rest), npu_))
        .engines.at("MTE1")
        .stalls_us.at("slot_not_free");
  };
  EXPECT_GT(stalls("load:mdl,step_ka:8,step_kb:4,db_l0:1"),
            stalls("load:mdl,step_ka:8,step_kb:4,db_l0:2"));
}

TEST_F(PublicMatmul, EndsAtOnceWhateverTheSize) {
  const Workload huge = workload("matmul/m:1000000,n:1000000,k:1000000,dtype:fp16,trans_b:1");
  const Schedule s =
      schedule("blocked/cores_m:4,cores_n:6,base_m:16,base_n:16,base_k:16,load:norm", huge);
  const Prediction p = value_of(simulate(huge, s, npu_));
  EXPECT_GE(p.macs, std::int64_t{1'000'000} * 1'000'000 * 1'000'000);
  EXPECT_LE(*value_of(bound(huge, s, npu_)).cycles, *p.cycles);
}

}  // namespace
}  // namespace tilewright
