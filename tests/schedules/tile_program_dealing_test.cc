// SPDX-License-Identifier: Apache-2.0
// Dealing of items over cores, against the plain loops of its definition.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "schedules/dealing.h"

namespace tilewright {
namespace {

// Items of every vector core, dealt one by one.
std::vector<std::int64_t> dealt(std::int64_t items, bool cube_first, std::int64_t stride) {
  std::vector<std::int64_t> of(40, 0);
  if (cube_first) {
    for (std::int64_t i = 0; i < items; ++i)
      ++of[static_cast<std::size_t>(2 * (i % 20) + (i / 20) % 2)];
  } else {
    for (std::size_t v = 0; v < of.size(); ++v) {
      for (auto i = static_cast<std::int64_t>(v); i < items; i += stride) ++of[v];
    }
  }
  return of;
}
Dealing dealing(std::int64_t items, bool cube_first, std::int64_t stride) {
  Schedule s;
  s[Knob::deal] = cube_first ? word::cube_first : word::paired;
  s[Knob::deal_stride] = static_cast<std::int32_t>(stride);
  Limits limits;
  limits.cube_cores = 20;
  limits.vector_cores = 40;
  return deal(items, s, limits);
}

RC_GTEST_PROP(Dealing, IsWhatTheLoopsDeal, ()) {
  const auto items = *rc::gen::inRange<std::int64_t>(1, 400);
  const bool cube_first = *rc::gen::arbitrary<bool>();
  const auto stride = *rc::gen::inRange<std::int64_t>(0, 41);
  const Dealing d = dealing(items, cube_first, stride);
  const auto of = dealt(items, cube_first, stride == 0 ? 40 : stride);
  std::int64_t sum = 0, most = 0;
  for (std::int64_t j = 0; j < 20; ++j) {
    const std::int64_t first = of[static_cast<std::size_t>(2 * j)];
    const std::int64_t second = of[static_cast<std::size_t>(2 * j + 1)];
    RC_ASSERT(d.items_of_vector_core(2 * j) == first);
    RC_ASSERT(d.items_of_vector_core(2 * j + 1) == second);
    RC_ASSERT(d.items_of_cube_core(j) == first + second);
    RC_ASSERT(first - second == 0 || first - second == 1);  // so that they are served in turn
    sum += first + second;
    most = std::max(most, first + second);
  }
  RC_ASSERT(d.busiest() == most);
  RC_ASSERT(d.executions() == sum);
}

// The published k_folded run: 222 items with a stride of 20 are 424 executions, 24 on the busiest.
TEST(Dealing, PublishedMistake) {
  const Dealing d = dealing(222, false, 20);
  EXPECT_EQ(d.executions(), 424);
  EXPECT_EQ(d.busiest(), 24);
  EXPECT_EQ(dealing(37, false, 20).executions(), 54);
  EXPECT_EQ(dealing(222, false, 0).executions(), 222);
}

// Rows of convolution that the busiest core computes (ideal 11.1).
TEST(Dealing, MakespanInRows) {
  const auto rows = [](std::int64_t r, bool cube_first) {
    return r * dealing((222 + r - 1) / r, cube_first, 0).busiest();
  };
  EXPECT_EQ(rows(2, false), 12);
  EXPECT_EQ(rows(4, false), 16);
  EXPECT_EQ(rows(4, true), 12);
  EXPECT_EQ(rows(6, false), 12);
  EXPECT_EQ(rows(8, false), 16);
  EXPECT_EQ(rows(12, false), 24);
  EXPECT_EQ(rows(12, true), 12);
}

}  // namespace
}  // namespace tilewright
