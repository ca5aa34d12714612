// SPDX-License-Identifier: Apache-2.0
// im2col as a tile program: the published tile on one screen, its bytes, and random schedules.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "samples.h"
#include "schedules/conv2d_im2col_lowering.h"
#include "schedules/conv2d_pool.h"
#include "schedules/space.h"

namespace tilewright {
namespace {

Limits limits_with_l2() {
  Limits limits = npu_limits();
  limits.l2 = std::int64_t{96} << 20;
  return limits;
}

TileProgram lowered(const Workload& w, std::string_view text, std::int64_t items = -1) {
  TileProgram program;
  lower_im2col(std::get<Conv2dPool>(w), schedule(std::string(text), w, DeviceKind::npu),
               limits_with_l2(), program, items);
  return program;
}
std::int64_t bytes_on(const TileProgram& program, Path path) {
  std::int64_t sum = 0;
  program.for_each_operation([&](const Operation& op, std::int64_t times) {
    if (op.work.path == path && op.work.kind != WorkKind::bind) sum += times * op.work.bytes();
  });
  return sum;
}

TEST(Im2colProgram, PublishedTileOnOneScreen) {
  const TileProgram program =
      lowered(workload(kLargeFp16), "im2col/base_m:128,base_n:256,base_k:64,rows:6,load:norm", 1);
  EXPECT_EQ(
      to_text(program),
      "ring A.L1  2 x 16,384 B in L1\n"
      "ring B.L1  2 x 32,768 B in L1\n"
      "ring L0A   2 x 16,384 B in L0A\n"
      "ring L0B   2 x 32,768 B in L0B\n"
      "ring L0C   1 x 131,072 B in L0C\n"
      "ring C0    1 x 688,128 B in GM\n"
      "ring C1    1 x 688,128 B in GM\n"
      "launch    \n"
      "call       | take C0\n"
      "2 times\n"
      "  bind       | take L0C\n"
      "  36 times\n"
      "    bind       | take A.L1\n"
      "    fetch_a   off chip 16,384 B / 20 sharers | read write A.L1\n"
      "    load_a    gm_l1  16,384 B = 128 rows of 128 B, stride 4608, 20 sharers, first read "
      "| write A.L1\n"
      "    load_b    gm_l1  32,768 B = 64 rows of 512 B, stride 2688, first read | take write "
      "B.L1\n"
      "    feed_a    l1_l0a 16,384 B | read A.L1 take write L0A\n"
      "    feed_b    l1_l0b 32,768 B | read B.L1 take write L0B\n"
      "    product   128 x 256 x 64 | read L0A read L0B write L0C\n"
      "  store     l0c_gm 65,536 B | read L0C write C0\n"
      "  4 times\n"
      "    bind       | take L0C\n"
      "    36 times\n"
      "      load_a    gm_l1  16,384 B = 128 rows of 128 B, stride 4608, 20 sharers, reuse "
      "24,182,784 B | take write A.L1\n"
      "      load_b    gm_l1  32,768 B = 64 rows of 512 B, stride 2688, first read | take "
      "write B.L1\n"
      "      feed_a    l1_l0a 16,384 B | read A.L1 take write L0A\n"
      "      feed_b    l1_l0b 32,768 B | read B.L1 take write L0B\n"
      "      product   128 x 256 x 64 | read L0A read L0B write L0C\n"
      "    store     l0c_gm 65,536 B | read L0C write C0\n"
      "  bind       | take L0C\n"
      "  36 times\n"
      "    load_a    gm_l1  16,384 B = 128 rows of 128 B, stride 4608, 20 sharers, reuse "
      "24,182,784 B | take write A.L1\n"
      "    load_b    gm_l1  8,192 B = 64 rows of 128 B, stride 2688, first read | take write "
      "B.L1\n"
      "    feed_a    l1_l0a 16,384 B | read A.L1 take write L0A\n"
      "    feed_b    l1_l0b 8,192 B | read B.L1 take write L0B\n"
      "    product   128 x 64 x 64 | read L0A read L0B write L0C\n"
      "  store     l0c_gm 16,384 B | read L0C write C0\n"
      "pool      344,064 elements, client 0 | read C0\n");
}

// 6 * 1.125 + 2 * 5.90625 MiB an item, to the byte.
TEST(Im2colProgram, BytesOfAnItem) {
  const TileProgram program =
      lowered(workload(kLargeFp16), "im2col/base_m:128,base_n:256,base_k:64,rows:6,load:norm", 1);
  EXPECT_EQ(bytes_on(program, Path::gm_l1), 19464192);
  EXPECT_EQ(bytes_on(program, Path::l0c_gm), 688128);
  const TileProgram kept =
      lowered(workload(kLargeFp16),
              "im2col/base_m:32,base_n:256,base_k:64,rows:6,load:mdl,step_ka:36,l1:1", 1);
  EXPECT_EQ(bytes_on(kept, Path::gm_l1), 2304 * 2 * (256 + 8 * 1344)) << "A is loaded once";
}

TEST(Im2colProgram, ResidentWeightsAreLoadedOnce) {
  const Workload w =
      workload("conv2d_pool/n:4,cin:128,h:32,w:16,cout:128,kh:3,kw:3,pool:2,dtype:fp16");
  const TileProgram program =
      lowered(w, "im2col/base_m:128,base_n:96,base_k:64,rows:6,weights:resident", 3);
  EXPECT_EQ(bytes_on(program, Path::gm_l1), 1152 * 2 * (128 + 3 * 96));
}

// Random feasible schedules: no defect, no memory over capacity, every output of an item stored
// once, every product done.
RC_GTEST_PROP(Im2colProgram, RandomSchedulesAreSound, ()) {
  const Workload w = *rc::gen::element(
      workload(kLargeFp16),
      workload("conv2d_pool/n:4,cin:128,h:32,w:16,cout:128,kh:3,kw:3,pool:2,dtype:fp32"),
      workload(
          "conv2d_pool/n:2,cin:3,h:57,w:61,cout:72,kh:7,kw:7,pool:1,dtype:fp16,stride:2,pad:3"));
  const auto& conv = std::get<Conv2dPool>(w);
  const Limits limits = limits_with_l2();
  Schedule s = *hand_schedule(w, Variant::im2col, limits);
  const auto pick = [](std::int64_t low, std::int64_t high) {
    return static_cast<std::int32_t>(*rc::gen::inRange<std::int64_t>(low, high + 1));
  };
  s[Knob::rows] = static_cast<std::int32_t>(conv.pool) * pick(1, 6);
  s[Knob::base_m] = 16 * pick(1, round_up(conv.cout, 16) / 16);
  s[Knob::base_n] = 16 * pick(1, 40);
  s[Knob::base_k] = 16 * pick(1, 10);
  s[Knob::step_ka] = pick(1, 8);
  s[Knob::step_kb] = pick(1, 8);
  s[Knob::load] = pick(0, 1);
  s[Knob::order] = pick(0, 1);
  s[Knob::deal] = pick(0, 1);
  s[Knob::db_l0] = pick(1, 2);
  s[Knob::db_l0c] = pick(1, 2);
  s[Knob::l1] = pick(1, 2);
  s[Knob::async] = pick(1, 2);
  s[Knob::split_m] = pick(1, 2);
  s[Knob::weights] = pick(0, 1);
  const bool feasible = first_violation(w, s, limits) == nullptr;
  RC_PRE(feasible);
  TileProgram program;
  const Im2colItem item = im2col_item(conv, s, limits);
  const std::int64_t items = std::min<std::int64_t>(item.dealing.busiest(), 3);
  lower_im2col(conv, s, limits, program, items);
  const MemoryUse capacities[] = {{Memory::l0a, 0, limits.l0a},
                                  {Memory::l0b, 0, limits.l0b},
                                  {Memory::l0c, 0, limits.l0c},
                                  {Memory::l1, 0, limits.l1}};
  const auto defect = defect_of(program, capacities);
  RC_LOG() << to_text(s, w, DeviceKind::npu) << "\n" << defect.value_or("");
  RC_ASSERT(!defect);
  std::int64_t macs = 0;
  program.for_each_operation(
      [&](const Operation& op, std::int64_t times) { macs += times * op.work.macs(); });
  RC_ASSERT(macs == items * item.m * item.n * item.k);
  RC_ASSERT(bytes_on(program, Path::l0c_gm) == items * item.result_bytes);
  RC_ASSERT(bytes_on(program, Path::gm_ub) == items * item.result_bytes);
}

}  // namespace
}  // namespace tilewright
