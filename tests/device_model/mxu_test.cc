// SPDX-License-Identifier: Apache-2.0
// The filter bank on mxu128: the published figures, what must come out of them, and the switches.
#include <gtest/gtest.h>

#include <algorithm>

#include "device_model/model.h"
#include "device_model/mxu_costing.h"
#include "device_model/sensitivity.h"
#include "tests/schedules/samples.h"

namespace tilewright {
namespace {

constexpr std::int64_t kC1 = 338021562, kC2 = 28062366;  // published, cycles
constexpr const char* kC3 = "folded_channel_major/m_tile:512,stages:4,prep_groups:4";
constexpr const char* kManySmallStages = "folded_channel_major/m_tile:128,stages:8,prep_groups:4";

Device mxu128() {
  return value_of(
      load_device("mxu128", std::string(TILEWRIGHT_SOURCE_DIR) + "/device_model/devices"));
}
Device with(Device device, std::initializer_list<std::pair<const char*, double>> numbers) {
  for (const auto& [key, value] : numbers) {
    const auto found = device.numbers.find(key);
    if (found == device.numbers.end()) throw std::runtime_error(key);
    found->second.value = value;
  }
  set_hash(device);
  return device;
}
// Preparation, copies and hold-issue cost nothing.
Device free_of_all_but_products() {
  return with(mxu128(), {{"permute.use_cycles", 0},
                         {"permute.tile_cycles", 0},
                         {"permute.latency_cycles", 0},
                         {"transpose.tile_cycles", 0},
                         {"vector.elements_per_cycle", 1e18},
                         {"dma.in_bytes_per_cycle", 1e18},
                         {"dma.out_bytes_per_cycle", 1e18},
                         {"dma.start_cycles", 0},
                         {"mutually_exclusive.transpose_mxu", 0}});
}

Prediction predict(const std::string& text, const Device& device = mxu128(),
                   const std::string& key = kSincnet) {
  const Workload w = workload(key);
  return value_of(simulate(w, schedule(text, w, DeviceKind::mxu), device));
}
double cycles(const std::string& text, const Device& device = mxu128(),
              const std::string& key = kSincnet) {
  return static_cast<double>(*predict(text, device, key).cycles);
}

// The rates were fitted to these two figures: this says that the fit holds, no more.
TEST(FittedFigures, BothWithinHalfAPercent) {
  EXPECT_NEAR(cycles("lane_masked/terms:hp9") / kC1, 1, 0.005);
  EXPECT_NEAR(cycles("compact_k/terms:hp9") / kC2, 1, 0.005);
  EXPECT_NEAR(cycles("lane_masked/terms:hp9") / cycles("compact_k/terms:hp9"), 12.045, 0.06);
}
TEST(FittedFigures, AreLimitedByTheFittedRates) {
  EXPECT_GT(predict("lane_masked/terms:hp9").engines.at("MXU").utilisation, 0.99);
  EXPECT_GT(predict("compact_k/terms:hp9").engines.at("PERMUTE").utilisation, 0.99);
}

// 251 taps * 1.5 (terms) * 1.6 (filters in issues of 8 rows instead of 128 columns).
TEST(StructuralGain, Is602Point4OnADivisibleLength) {
  const std::string divisible =
      "conv1d_bank/n:21,l:164081,cout:80,k:251,stride:10,dtype:fp32,"
      "symmetry:even_odd";  // 16,384 positions
  const Device device = free_of_all_but_products();
  const double gain =
      cycles("lane_masked/terms:hp9", device, divisible) / cycles(kC3, device, divisible);
  EXPECT_NEAR(gain, 602.4, 0.01);
}
TEST(StructuralGain, Is601Point5OnTheReferenceLength) {
  const Device device = free_of_all_but_products();
  EXPECT_NEAR(cycles("lane_masked/terms:hp9", device) / cycles(kC3, device), 94735683.0 / 157500,
              0.01);
  EXPECT_NEAR(94735683.0 / 157500, 601.5, 0.05);
}
TEST(StructuralGain, TimesAreExactMultiplesOfTheIssue) {
  const Device device = free_of_all_but_products();
  EXPECT_NEAR(cycles("lane_masked/terms:hp9", device), 94735683 * 3.568, 2);
  EXPECT_NEAR(cycles(kC3, device), 157500 * 3.568, 2);
}

// The best published form is known as a rounded ratio only; nothing is fitted to it.
TEST(ChannelMajor, IsARangeAroundThePublishedRatio) {
  const Workload w = workload(kSincnet);
  const Device device = mxu128();
  const Sensitivity result = value_of(sensitivity(w, schedule(kC3, w, DeviceKind::mxu), device,
                                                  numbers_of_origin(device, Origin::assumed)));
  EXPECT_GE(result.effects.size(), 7U);
  EXPECT_LE(result.least, result.cycles);
  EXPECT_GE(result.largest, result.cycles);
  const double slowest = static_cast<double>(kC1) / static_cast<double>(result.largest);
  const double fastest = static_cast<double>(kC1) / static_cast<double>(result.least);
  EXPECT_LT(slowest, 300);
  EXPECT_GT(fastest, 300);
  EXPECT_EQ(result.most().key, "dma.out_bytes_per_cycle");
  EXPECT_EQ(result.most().number.origin, Origin::assumed);
  for (std::size_t i = 1; i < result.effects.size(); ++i) {
    EXPECT_GE(Sensitivity::spread(result.effects[i - 1], result.cycles),
              Sensitivity::spread(result.effects[i], result.cycles));
  }
}
TEST(ChannelMajor, NeedsAtMost71CyclesATileAnd95BytesACycleFor300) {
  const auto gain = [](const char* key, double value) {
    return kC1 / cycles(kManySmallStages, with(mxu128(), {{key, value}}));
  };
  EXPECT_GT(gain("permute.tile_cycles", 71), 300);
  EXPECT_LT(gain("permute.tile_cycles", 73), 300);
  EXPECT_GT(gain("dma.out_bytes_per_cycle", 97), 300);
  EXPECT_LT(gain("dma.out_bytes_per_cycle", 94), 300);
}

TEST(Switches, HoldIssueCostsAndShowsInTheStalls) {
  const Device on = mxu128();
  const Device off = with(on, {{"mutually_exclusive.transpose_mxu", 0}});
  EXPECT_GT(cycles(kC3, on), cycles(kC3, off));
  EXPECT_GT(cycles("folded_channel_major/", on) / cycles("folded_channel_major/", off), 1.04);
  EXPECT_GT(predict(kC3, on).engines.at("PERMUTE.TRANSPOSE").stalls_cycles.at("excluded"), 0);
  EXPECT_EQ(predict(kC3, off).engines.at("PERMUTE.TRANSPOSE").stalls_cycles.at("excluded"), 0);
  EXPECT_EQ(predict(kC3, off).engines.at("MXU").stalls_cycles.at("excluded"), 0);
}
TEST(Switches, HoldIssueIsDearerWhereTheCopiesOutAreNotInTheWay) {
  const Device on = with(mxu128(), {{"dma.out_bytes_per_cycle", 256}});
  const Device off = with(on, {{"mutually_exclusive.transpose_mxu", 0}});
  EXPECT_GT(cycles(kC3, on) / cycles(kC3, off), 1.05);
}
TEST(Switches, AGlobalBarrierCostsWhereFourGroupsWouldOverlap) {
  const Device barrier = with(mxu128(), {{"address_state.global_barrier", 1}});
  EXPECT_GT(cycles(kManySmallStages, barrier) / cycles(kManySmallStages), 1.1);
  // What was asked for anyway is not changed by it.
  const char* two = "folded_channel_major/m_tile:128,stages:8,prep_groups:2";
  EXPECT_EQ(cycles(two, barrier), cycles(two));
  EXPECT_EQ(cycles(kManySmallStages, barrier), cycles(two));
}
TEST(Switches, MoreGroupsInFlightAreNeverSlower) {
  const auto time = [](int groups) {
    return cycles("folded_channel_major/m_tile:128,stages:8,prep_groups:" + std::to_string(groups));
  };
  EXPECT_GT(time(1), time(2));
  EXPECT_GT(time(2), time(4));
}

TEST(PositionMajor, KeepingThePartsBeatsRebuildingThem) {
  EXPECT_LT(cycles("folded_position_major/m_tile:256"),
            cycles("folded_position_major/m_tile:256,lifetime:instant"));
}
TEST(PositionMajor, TooSmallATilePaysTheCopiesStartUp) {
  EXPECT_GT(cycles("folded_position_major/m_tile:8"),
            5 * cycles("folded_position_major/m_tile:64"));
}

TEST(MxuPrediction, CyclesOnlyAndBusyPlusStallsIsTheEnd) {
  for (const char* text : {"lane_masked/", "compact_k/", "folded_position_major/m_tile:64",
                           "folded_position_major/m_tile:64,lifetime:instant", kC3}) {
    const Prediction p = predict(text);
    EXPECT_EQ(p.us, 0) << text;
    EXPECT_EQ(p.engines.size(), 6U) << text;
    for (const auto& [name, use] : p.engines) {
      std::int64_t sum = use.busy_cycles;
      for (const auto& [reason, stalled] : use.stalls_cycles) sum += stalled;
      EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(*p.cycles), 8) << text << name;
      EXPECT_EQ(use.busy_us, 0);
    }
  }
}
TEST(MxuPrediction, BoundAndSimulationMoveTheSameBytesAndMacs) {
  const Workload w = workload(kSincnet);
  for (const char* text : {"lane_masked/", "compact_k/", "folded_position_major/m_tile:64",
                           "folded_position_major/m_tile:64,lifetime:instant", kC3}) {
    const Schedule s = schedule(text, w, DeviceKind::mxu);
    const Prediction b = value_of(bound(w, s, mxu128())), p = value_of(simulate(w, s, mxu128()));
    EXPECT_EQ(b.traffic_bytes, p.traffic_bytes) << text;
    EXPECT_EQ(b.macs, p.macs) << text;
    for (const auto& [name, use] : p.engines)
      EXPECT_EQ(use.busy_cycles, b.engines.at(name).busy_cycles) << text << name;
  }
  EXPECT_EQ(predict(kC3).macs, 157500LL * 8 * 128 * 128);
}
TEST(MxuPrediction, OtherOperatorsAndSizesAreRefusedByName) {
  const Device device = mxu128();
  const Workload w = workload(kSincnet);
  EXPECT_TRUE(has_simulator(device));
  EXPECT_MENTIONS(usage_message(parse_schedule("im2col/", workload(kLargeFp16), device.kind)),
                  "no variant of conv2d_pool on mxu");
  const auto tight = simulate(w, schedule(kC3, w, DeviceKind::mxu),
                              with(device, {{"memory.on_chip.capacity_bytes", 1048576}}));
  ASSERT_FALSE(tight);
  EXPECT_MENTIONS(tight.error().message, "on_chip");
}

// What no schedule of a layer of a thousand billion positions may do is take as long as the layer.
TEST(MxuPrediction, HugeLayersEndAtOnce) {
  const std::string huge =
      "conv1d_bank/n:1,l:1000000000000,cout:80,k:251,stride:1,dtype:fp32,symmetry:even_odd";
  EXPECT_GT(cycles(kC3, mxu128(), huge), 2e12);
  EXPECT_GT(cycles("compact_k/", mxu128(), huge), 4e13);
}

TEST(Sensitivity, UnknownNumbersOfferTheNearest) {
  const Workload w = workload(kSincnet);
  const auto result =
      sensitivity(w, schedule(kC3, w, DeviceKind::mxu), mxu128(), {"dma.start_cycle"});
  EXPECT_MENTIONS(usage_message(result), "dma.start_cycles");
}
TEST(Sensitivity, ANumberThatDoesNotFitHasNoResult) {
  const Workload w = workload(kSincnet);
  const Sensitivity result = value_of(sensitivity(w, schedule(kC3, w, DeviceKind::mxu), mxu128(),
                                                  {"memory.on_chip.capacity_bytes"}));
  EXPECT_EQ(result.most().at_half, std::nullopt);
  EXPECT_EQ(result.most().at_double, result.cycles);
  EXPECT_EQ(result.least, result.largest);
}

// Every number of the file matters to some cost or limit.
TEST(MxuDevice, EveryNumberChangesSomething) {
  const Device device = mxu128();
  const Workload w = workload(kSincnet);
  const auto outcome = [&](const Device& changed) {
    std::string all;
    for (const char* text : {"lane_masked/terms:hp9", "compact_k/terms:hp9", kManySmallStages,
                             "folded_position_major/m_tile:64", kC3}) {
      const auto p = simulate(w, schedule(text, w, DeviceKind::mxu), changed);
      all += p ? std::to_string(*p->cycles) : p.error().message;
      all += ' ';
    }
    return all;
  };
  const Device barrier = with(device, {{"address_state.global_barrier", 1}});
  for (const auto& [key, number] : device.numbers) {
    const Device& base = key == "address_state.barrier_groups" ? barrier : device;
    const double value = number.value == 0 ? 1 : number.value == 1 ? 0 : number.value / 2;
    EXPECT_NE(outcome(with(base, {{key.c_str(), value}})), outcome(base)) << key;
  }
}
TEST(MxuDevice, OnlyC1AndC2AreFittedTo) {
  for (const auto& [key, number] : mxu128().numbers) {
    const bool fitted = key == "mxu.issue_cycles" || key == "permute.use_cycles";
    EXPECT_EQ(number.origin == Origin::fitted, fitted) << key;
  }
}

}  // namespace
}  // namespace tilewright
