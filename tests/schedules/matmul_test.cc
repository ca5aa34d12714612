// SPDX-License-Identifier: Apache-2.0
// matmul as a workload, and the limits and the grid of `blocked` on an NPU.
#include <set>

#include "samples.h"
#include "schedules/matmul_npu.h"
#include "schedules/operators.h"
#include "schedules/space.h"

namespace tilewright {
namespace {

constexpr const char* kPublic = "matmul/m:8192,n:8192,k:8192,dtype:fp16,trans_b:1";
constexpr const char* kTile = "blocked/base_m:128,base_n:256,base_k:64";

Workload matmul(const std::string& key) { return value_of(parse_workload_key(key)); }
Schedule blocked(const std::string& text, const Workload& w) {
  return value_of(parse_schedule(text, w, DeviceKind::npu));
}

TEST(Matmul, KeysAndArrays) {
  const Workload w = matmul("matmul/k:30,m:10,dtype:bf16,n:20");
  EXPECT_EQ(to_key(w), "matmul/m:10,n:20,k:30,dtype:bf16");
  EXPECT_EQ(to_key(matmul(kPublic)), kPublic);
  EXPECT_EQ(input_shapes(w), (std::vector<ArrayShape>{{"a", {10, 30}}, {"b", {30, 20}}}));
  EXPECT_EQ(input_shapes(matmul("matmul/m:10,n:20,k:30,dtype:bf16,trans_b:1"))[1].extents,
            (std::vector<std::int64_t>{20, 30}));
  EXPECT_EQ(output_shape(w).extents, (std::vector<std::int64_t>{10, 20}));
  EXPECT_EQ(direct_macs(w), 6000);
  EXPECT_FALSE(parse_workload_key("matmul/m:0,n:1,k:1,dtype:fp16"));
  EXPECT_FALSE(parse_workload_key("matmul/m:1,n:1,dtype:fp16"));
  EXPECT_FALSE(parse_workload_key("matmul/m:1099511627776,n:1099511627776,k:9,dtype:fp16"));
  EXPECT_NE(operator_of(w).no_kernel, nullptr);
}

TEST(Matmul, CanonicalTextOfBlocked) {
  const Workload w = matmul(kPublic);
  EXPECT_EQ(to_text(blocked(kTile, w), w, DeviceKind::npu),
            "blocked/base_m:128,base_n:256,base_k:64,step_ka:1,step_kb:1,cores_m:1,cores_n:1,"
            "db_l0:2,db_l0c:1,l1:2,order:m,load:norm");
  // The exam's text has its knobs in another order.
  EXPECT_EQ(blocked("blocked/cores_m:4,cores_n:6,base_m:128,base_n:256,base_k:64,load:mdl,"
                    "step_ka:8,step_kb:4",
                    w)[Knob::cores_n],
            6);
}

TEST(Matmul, LimitsSayWhyAndWhatIsNearest) {
  const Limits limits = npu_limits();
  const Workload w = matmul(kPublic);
  const auto reason = [&](const std::string& rest) {
    const auto reasons = infeasible_reasons(w, blocked(kTile + rest, w), limits);
    return reasons.empty() ? Reason{} : reasons.front();
  };
  EXPECT_EQ(reason("").buffer, "");
  // L1 exactly full.
  EXPECT_EQ(reason(",load:mdl,step_ka:8,step_kb:4").buffer, "");
  EXPECT_EQ(reason(",step_ka:8,step_kb:8").buffer, "L1");
  EXPECT_EQ(reason(",step_ka:8,step_kb:8").needed_bytes, 2 * 64 * (128 * 8 + 256 * 8) * 2);
  EXPECT_EQ(reason(",step_ka:8,step_kb:8").nearest.at("step_kb"), "4");
  EXPECT_EQ(reason(",db_l0c:2").buffer, "L0C");
  EXPECT_EQ(reason(",step_ka:3,step_kb:2").buffer, "step");
  EXPECT_EQ(reason(",cores_m:3,cores_n:7").buffer, "cores");
  EXPECT_EQ(reason(",cores_m:3,cores_n:7").nearest.at("cores_n"), "6");
  EXPECT_EQ(reason(",cores_m:21").buffer, "cores_m");
  const Workload small = matmul("matmul/m:100,n:5000,k:64,dtype:fp16");
  EXPECT_EQ(infeasible_reasons(small, blocked(kTile, small), limits)[0].buffer, "base_m");
  EXPECT_EQ(infeasible_reasons(small, blocked(kTile, small), limits)[0].nearest.at("base_m"),
            "112");
  EXPECT_NE(refusal(matmul("matmul/m:16,n:16,k:16,dtype:int8"), Variant::blocked, DeviceKind::npu),
            std::nullopt);
}

TEST(Matmul, HandSchedulesFit) {
  const Limits limits = npu_limits();
  for (const char* key :
       {kPublic, "matmul/m:1,n:1,k:1,dtype:fp16", "matmul/m:100,n:4096,k:333,dtype:fp32",
        "matmul/m:5,n:70000,k:20,dtype:bf16"}) {
    const Workload w = matmul(key);
    const auto hand = hand_schedule(w, Variant::blocked, limits);
    ASSERT_TRUE(hand) << hand.error().message;
  }
  const Schedule s = value_of(hand_schedule(matmul(kPublic), Variant::blocked, limits));
  EXPECT_EQ(s[Knob::cores_m] * s[Knob::cores_n], 20);
  EXPECT_EQ(s[Knob::step_ka], 8);
}

// The enumeration against every tuple of the grid, one by one.
TEST(Matmul, GridCountsEveryTuple) {
  Limits limits = npu_limits();
  limits.cube_cores = 5;
  limits.l0a = limits.l0b = 4096;
  limits.l0c = 8192;
  limits.l1 = 16384;
  const Workload w = matmul("matmul/m:90,n:50,k:60,dtype:fp16");
  const auto& shape = std::get<Matmul>(w);
  const SpaceSize size = space_size(w, Variant::blocked, limits, Grid::full);
  std::set<Schedule> seen;
  for_each_point(w, Variant::blocked, limits, Grid::full, [&](const Schedule& s) {
    EXPECT_EQ(first_violation(w, s, limits), nullptr);
    EXPECT_TRUE(seen.insert(s).second);
  });
  std::int64_t points = 0, feasible = 0;
  std::map<std::string, std::int64_t> by_limit;
  Schedule s = blocked("blocked/base_m:16,base_n:16,base_k:16", w);
  const auto count = [&] {
    const std::int64_t blocks = ceil_div(shape.k, s[Knob::base_k]);
    for (s[Knob::step_ka] = 1; s[Knob::step_ka] <= blocks; ++s[Knob::step_ka])
      for (s[Knob::step_kb] = 1; s[Knob::step_kb] <= blocks; ++s[Knob::step_kb]) {
        const char* limit = first_violation(w, s, limits);
        points += 4;  // order, load
        limit == nullptr ? feasible += 4 : by_limit[limit] += 4;
      }
  };
  const auto slots = [&] {
    for (s[Knob::db_l0] = 1; s[Knob::db_l0] <= 2; ++s[Knob::db_l0])
      for (s[Knob::db_l0c] = 1; s[Knob::db_l0c] <= 2; ++s[Knob::db_l0c])
        for (s[Knob::l1] = 1; s[Knob::l1] <= 2; ++s[Knob::l1]) count();
  };
  for (int m = 1; m <= 5; ++m) {
    for (int n = 1; n <= std::min(4, 5 / m); ++n) {
      s[Knob::cores_m] = m;
      s[Knob::cores_n] = n;
      const CoreGrid grid(shape, s);
      for (s[Knob::base_m] = 16; s[Knob::base_m] < grid.single_m + 16; s[Knob::base_m] += 16)
        for (s[Knob::base_n] = 16; s[Knob::base_n] < grid.single_n + 16; s[Knob::base_n] += 16)
          for (s[Knob::base_k] = 16; s[Knob::base_k] < 76; s[Knob::base_k] += 16) slots();
    }
  }
  EXPECT_EQ(size.points, points);
  EXPECT_EQ(size.feasible, feasible);
  EXPECT_EQ(size.by_limit, by_limit);
  EXPECT_EQ(static_cast<std::int64_t>(seen.size()), feasible);
}

// 8192^3 on 24 cores, as it stands beside the variant.
TEST(Matmul, GridOfThePublicShape) {
  Limits limits = npu_limits();
  limits.cube_cores = 24;
  const SpaceSize coarse = space_size(matmul(kPublic), Variant::blocked, limits, Grid::coarse);
  const SpaceSize full = space_size(matmul(kPublic), Variant::blocked, limits, Grid::full);
  EXPECT_EQ(coarse.feasible, 1'678'776);
  EXPECT_EQ(full.feasible, 2'581'814'488);
}

}  // namespace
}  // namespace tilewright
