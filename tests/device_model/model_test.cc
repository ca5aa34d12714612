// SPDX-License-Identifier: Apache-2.0
#include "device_model/model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "device_model/host_roofline.h"
#include "devices.h"

namespace tilewright {
namespace {

using namespace test;

TEST(Model, BoundAndSimulationSayTheSameOfTraffic) {
  const Device npu = device("ascend_910b4");
  const Workload w = workload(kLarge);
  for (const char* text :
       {"im2col/base_m:128,base_n:256,base_k:64,rows:6",
        "im2col/base_m:48,base_n:176,base_k:80,rows:2,load:mdl,step_ka:3,order:n,split_m:2",
        "im2col/base_m:128,base_n:256,base_k:64,rows:6,deal_stride:20,async:2"}) {
    const Schedule s = schedule(text, w);
    const Prediction lower = value_of(bound(w, s, npu));
    const Prediction p = value_of(simulate(w, s, npu));
    EXPECT_LE(*lower.cycles, *p.cycles);
    EXPECT_LE(lower.us, p.us);
    EXPECT_EQ(lower.traffic_bytes, p.traffic_bytes) << text;
    EXPECT_EQ(lower.macs, p.macs);
    CostModel model(w, npu);
    EXPECT_EQ(model.bound_cycles(s), *lower.cycles);
    EXPECT_EQ(model.simulated_cycles(s), *p.cycles);
    for (const auto& [name, use] : p.engines) {
      double sum = use.busy_us;
      for (const auto& [reason, us] : use.stalls_us) sum += us;
      EXPECT_NEAR(sum, p.us, 1e-6) << name;
      EXPECT_NEAR(use.busy_us, lower.engines.at(name).busy_us, name == "OFF_CHIP" ? 5.0 : 1e-6)
          << name;
    }
  }
}

TEST(Model, SingleBufferedLoadsStallOnSlots) {
  const Device npu = device("ascend_910b4");
  const Workload w = workload(kLarge);
  const Schedule s = schedule("im2col/base_m:128,base_n:256,base_k:64,rows:6,db_l0:1", w);
  const Prediction p = value_of(simulate(w, s, npu));
  EXPECT_GT(p.engines.at("MTE1").stalls_us.at("slot_not_free"), 50);
  EXPECT_NE(p.bottleneck.find("MTE2"), std::string::npos);
}

TEST(Model, InfeasibleAndUnmodelledAreErrors) {
  const Device npu = device("ascend_910b4");
  const Device host = device("host");
  const Workload w = workload(kLarge);
  const Schedule big = schedule("im2col/base_m:256,base_n:256,base_k:64,rows:6", w);
  EXPECT_NE(bound(w, big, npu).error().message.find("infeasible: "), std::string::npos);
  const Schedule direct =
      schedule("direct/base_m:4,base_n:16,base_k:16,rows:2", w, DeviceKind::host);
  const auto simulated = simulate(w, direct, host);
  ASSERT_FALSE(simulated);
  EXPECT_NE(simulated.error().message.find("measure"), std::string::npos);
  EXPECT_FALSE(has_simulator(host));
  EXPECT_TRUE(has_simulator(npu));
}

TEST(Host, RooflineOfTheFilterBank) {
  const Device host = device("host");
  const Workload bank =
      workload("conv1d_bank/n:21,l:160000,cout:80,k:251,stride:10,dtype:fp32,symmetry:even_odd");
  Schedule folded;
  folded.variant = Variant::folded_channel_major;
  const HostRoofline r = host_roofline(bank, folded, host);
  EXPECT_EQ(r.macs, std::int64_t{21} * 15975 * (40 * 126 + 40 * 125));  // 3.368 G
  EXPECT_EQ(r.bytes, 4 * (21 * 160000 + 80 * 251 + 80 + std::int64_t{21} * 80 * 15975));
  const double macs_per_ns = 16 * 2 * 256 * 4.0;
  EXPECT_NEAR(r.compute_ns, static_cast<double>(r.macs) / macs_per_ns, 1);
  EXPECT_EQ(r.nanoseconds(), static_cast<std::int64_t>(std::max(r.compute_ns, r.memory_ns)));
  folded[Knob::par] = word::none;
  EXPECT_NEAR(host_roofline(bank, folded, host).compute_ns, 256 * r.compute_ns, 1e3);
  folded[Knob::vec] = 8;
  EXPECT_NEAR(host_roofline(bank, folded, host).compute_ns, 512 * r.compute_ns, 1e3);
  Schedule direct;
  direct.variant = Variant::direct;
  EXPECT_EQ(host_roofline(bank, direct, host).macs, std::int64_t{21} * 15975 * 80 * 251);
}

TEST(Host, DetectionLowersAndChangesTheHash) {
  const Device file = device("host");
  const Device here = detect_host(file);
  EXPECT_LT(here.number("cores.threads"), 256);
  EXPECT_LE(here.number("vector.width_bytes"), 64);
  EXPECT_NE(here.hash, file.hash);
  EXPECT_EQ(detect_host(here), here);
  const Device npu = device("ascend_910b4");
  EXPECT_EQ(detect_host(npu), npu);
  EXPECT_EQ(limits_of(here).threads, static_cast<std::int64_t>(here.number("cores.threads")));
}

}  // namespace
}  // namespace tilewright
