// SPDX-License-Identifier: Apache-2.0
#include "device_model/costing.h"

#include <gtest/gtest.h>

#include "device_model/bound.h"
#include "device_model/model.h"
#include "device_model/piece_table.h"
#include "devices.h"

namespace tilewright {
namespace {

using namespace test;

// The means that the specification lists, at the offsets of a loop over blocks of that length.
TEST(PieceTable, SpecifiedMeans) {
  const PieceTable table(32, 512, 2.1);
  EXPECT_EQ(table.mean(512, 0, 512, 2688), 2.25);
  EXPECT_EQ(table.mean(256, 0, 256, 2688), 1.5);
  EXPECT_EQ(table.mean(384, 0, 384, 2688), 2);
  EXPECT_EQ(table.mean(128, 0, 128, 4608), 1);
  EXPECT_EQ(table.mean(448, 0, 0, 448), 3);
  EXPECT_EQ(table.mean(896, 0, 0, 896), 3);
  EXPECT_EQ(table.mean(1024, 0, 1024, 4608), 2);
  EXPECT_EQ(table.mean(96, 0, 96, 4608), 2);
  EXPECT_EQ(table.mean(512, 0, 512, 3072), 1);
  EXPECT_EQ(table.mean(128, 2560, 0, 2688), 1);  // the tail of a strip
}

TEST(PieceTable, IsTheMeanOverOffsets) {
  const PieceTable table(32, 512, 2.1);
  for (const std::int64_t length : {32, 96, 480, 512, 544, 992, 1024, 1568, 4608, 10016}) {
    for (const std::int64_t stride : {32, 64, 192, 448, 512, 2688, 4608}) {
      for (const std::int64_t origin : {0, 32, 96, 256, 1312}) {
        double sum = 0;
        for (int r = 0; r < 16; ++r) {
          sum += static_cast<double>(table.pieces((origin + r * stride) % 512, length));
        }
        EXPECT_DOUBLE_EQ(table.mean(length, origin, 0, stride), sum / 16)
            << length << " " << stride << " " << origin;
      }
    }
  }
}

TEST(PieceTable, RowsOffTheGridCostMore) {
  const PieceTable table(32, 512, 2.1);
  // 64 B at offset 8 touch three cells of 32: 32 + 64.
  EXPECT_DOUBLE_EQ(table.mean(64, 8, 0, 512), 2.1 * 1 * static_cast<double>(table.pieces(0, 96)));
  // 32 B at multiples of 16: every second row is on the grid, the others touch two cells of 32,
  // which are one piece of 64 where they are aligned.
  EXPECT_DOUBLE_EQ(table.mean(32, 0, 16, 512), (1 + 2.1 * 1.5) / 2);
}

class Ascend : public testing::Test {
 protected:
  Device npu_ = device("ascend_910b4");
  Costing costing_{npu_};

  static Work load(std::int64_t rows, std::int64_t row_bytes, std::int64_t stride) {
    Work work;
    work.kind = WorkKind::copy;
    work.path = Path::gm_l1;
    work.dtype = DType::fp16;
    work.rows = rows;
    work.row_bytes = work.step_bytes = row_bytes;
    work.stride_bytes = stride;
    return work;
  }
  static std::uint32_t mask(NpuEngine engine) { return bit(engine); }
};

TEST_F(Ascend, WeightsCostPiecesOfTheSharers) {
  Work a = load(128, 128, 4608);
  a.sharing = Sharing::spread;
  a.sharers = 20;
  EXPECT_EQ(costing_.cost(a).hold, 864);  // 128 pieces at 0.375 * 0.9 * 20 = 6.75
  a.sharers = 5;
  EXPECT_EQ(costing_.cost(a).hold, 474);  // 3.7 is more than 0.375 * 4.5
  a.sharing = Sharing::grid;
  a.sharers = 20;
  EXPECT_EQ(costing_.cost(a).hold, 960);  // 7.5: in step
}

TEST_F(Ascend, LongRowsCostBytes) {
  const Work a = load(64, 8192, 8192);
  EXPECT_EQ(costing_.cost(a).hold, (64 * 8192 + 79) / 80);
  EXPECT_EQ(costing_.cost(a).latency, 200);
}

// A re-read is off-chip only if what was read in between does not fit L2; a shared first read is a
// share of its own.
TEST_F(Ascend, OffChip) {
  Work b = load(64, 512, 2688);
  b.first_read = true;
  EXPECT_EQ(costing_.off_chip_bytes(b), 64 * 512);
  // 0.8 TB/s * 0.94 / 20 cores / 1.5 GHz = 25.07 B a cycle
  EXPECT_EQ(costing_.cost(b).off_chip_hold, 1308);
  EXPECT_EQ(costing_.cost(b).engines, mask(NpuEngine::mte2) | mask(NpuEngine::off_chip));
  b.first_read = false;
  b.reuse_bytes = std::int64_t{96} << 20;
  EXPECT_EQ(costing_.off_chip_bytes(b), 0);
  EXPECT_EQ(costing_.cost(b).engines, mask(NpuEngine::mte2));
  b.reuse_bytes += 1;
  EXPECT_EQ(costing_.off_chip_bytes(b), 64 * 512);
  b.sharing = Sharing::spread;
  b.sharers = 20;
  EXPECT_EQ(costing_.cost(b).engines, mask(NpuEngine::mte2));
  b.kind = WorkKind::fetch;
  b.path = Path::none;
  EXPECT_EQ(costing_.off_chip_bytes(b), 1639);
  EXPECT_EQ(costing_.cost(b).engines, mask(NpuEngine::off_chip));
  EXPECT_EQ(costing_.cost(b).hold, 66);
}

TEST_F(Ascend, OnChipPathsProductsAndCalls) {
  Work work;
  work.kind = WorkKind::copy;
  work.path = Path::l1_l0a;
  work.rows = 1;
  work.row_bytes = 128 * 64 * 2;
  EXPECT_EQ(costing_.cost(work).hold, 64);
  EXPECT_EQ(costing_.cost(work).latency, 26);
  work.path = Path::l1_l0b;
  EXPECT_EQ(costing_.cost(work).hold, 128);
  work.path = Path::l0c_gm;
  EXPECT_EQ(costing_.cost(work).hold, 128);
  EXPECT_EQ(costing_.cost(work).latency, 80);
  work = {};
  work.kind = WorkKind::product;
  work.m = 128;
  work.n = 256;
  work.k = 64;
  work.dtype = DType::fp16;
  EXPECT_EQ(costing_.cost(work).hold, 512 + 2);
  work.dtype = DType::fp32;
  EXPECT_EQ(costing_.cost(work).hold, 2048 + 2);
  work = {};
  work.kind = WorkKind::pool;
  work.elements = 256 * 1344;
  EXPECT_EQ(costing_.cost(work).hold, 97500);
  work.client = 1;
  EXPECT_EQ(costing_.cost(work).main, NpuEngine::vec1);
  work.kind = WorkKind::call;
  EXPECT_EQ(costing_.cost(work).hold, 3975);
  work.kind = WorkKind::launch;
  EXPECT_EQ(costing_.cost(work).hold, 25500);
}

// Every number of the file that a cost or a limit reads changes some result.
TEST_F(Ascend, EveryNumberMatters) {
  struct Probe {
    Workload workload;
    Schedule schedule;
  };
  std::vector<Probe> probes;
  const auto add = [&](std::string_view key, std::string_view text) {
    const Workload w = workload(key);
    probes.push_back({w, schedule(text, w)});
  };
  add(kLarge, kPublishedTile);
  add(kLarge, "im2col/base_m:256,base_n:128,base_k:64,rows:4,load:mdl,step_ka:4,step_kb:8");
  add("conv2d_pool/n:1,cin:256,h:224,w:224,cout:256,kh:3,kw:3,pool:2,dtype:fp32",
      "im2col/base_m:64,base_n:256,base_k:32,rows:2,load:mdl,step_ka:8");
  // Bound by what its single buffers hold: latencies count.
  add(kLarge, "im2col/base_m:64,base_n:64,base_k:64,rows:2,load:mdl,db_l0:1,l1:1");
  add("conv2d_pool/n:1,cin:8,h:20,w:20,cout:24,kh:3,kw:3,pool:1,dtype:fp16",
      "im2col/base_m:16,base_n:32,base_k:16,rows:2");
  const auto results = [&](const Device& changed) {
    std::string all;
    for (const Probe& probe : probes) {
      CostModel model(probe.workload, changed);
      all += std::to_string(model.bound_cycles(probe.schedule)) + " " +
             std::to_string(model.simulated_cycles(probe.schedule)) + " " +
             std::to_string(model.microseconds(1'000'000)) + ";";
    }
    Work off_grid = load(64, 32, 48);
    off_grid.dtype = DType::int8;
    const Costing costing(changed);
    all += std::to_string(costing.cost(off_grid).hold);
    off_grid.kind = WorkKind::product;
    off_grid.m = off_grid.n = off_grid.k = 128;
    all += " " + std::to_string(costing.cost(off_grid).hold);
    const Limits l = limits_of(changed);
    for (const std::int64_t limit : {l.l0a, l.l0b, l.l0c, l.l1, l.ub})
      all += " " + std::to_string(limit);
    return all;
  };
  const std::string before = results(npu_);
  for (const auto& [key, number] : npu_.numbers) {
    Device changed = npu_;
    double& value = changed.numbers.find(key)->second.value;
    value = key == "cube.fractal_elements" ? 32 : key == "cores.vector" ? 20 : value * 2;
    EXPECT_NE(results(changed), before) << key;
  }
}

}  // namespace
}  // namespace tilewright
