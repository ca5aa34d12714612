// SPDX-License-Identifier: Apache-2.0
// Knobs: `blocked` has base_m, base_n, base_k and db_l0c, the slots of the result's partial sums;
// `systolic` has base_m, by default all positions (the textbook form), and db_l0c. One limit, SRAM:
// the device says for how many blocks of each operand there must be room.
// Grids: base_* multiples of 16 (full) or 64 (coarse) and, for base_m of `systolic`, all positions;
// db_l0c 1 and 2.
#include "schedules/systolic.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "schedules/npu_rules.h"
#include "schedules/systolic_lowering.h"

namespace tilewright {
namespace {

using K = Knob;
constexpr std::int64_t kMostKnob = std::numeric_limits<std::int32_t>::max();

std::int32_t all_positions(const Workload& workload) {
  return static_cast<std::int32_t>(std::min(product_sizes(workload).m, kMostKnob));
}

constexpr std::array<VariantKnob, 4> kBlockedKnobs{{
    {.knob = K::base_m, .required = true},
    {.knob = K::base_n, .required = true},
    {.knob = K::base_k, .required = true},
    {.knob = K::db_l0c, .fallback = 1},
}};
constexpr std::array<VariantKnob, 2> kSystolicKnobs{{
    {.knob = K::base_m, .fallback_of = all_positions},
    {.knob = K::db_l0c, .fallback = 1},
}};

struct SramSum {
  std::int64_t a = 0, b = 0, c = 0;
  explicit SramSum(const SystolicPlan& plan)
      : a(product(plan.a_bytes(), plan.slots)),
        b(product(plan.b_bytes(), plan.slots)),
        c(product(plan.accumulator_bytes(), plan.accumulators)) {}
  std::int64_t total() const { return saturating_add(saturating_add(a, b), c); }
};

template <class V>
bool base_rule(Knob knob, const Schedule& s, std::int64_t extent, V& visit) {
  const std::int64_t most = round_up(extent, 16), value = s[knob];
  return visit.rule(knob, value >= 1 && value <= most, {knob}, value, most, [&] {
    return count_rule_text(knob, value, 1, most, "the axis rounded up to 16, ");
  });
}

struct Checks {
  template <class V>
  static void run(const Workload& workload, const Schedule& s, const Limits& limits, V& visit) {
    const ProductSizes sizes = product_sizes(workload);
    const bool stationary = s.variant == Variant::systolic;
    if (base_rule(K::base_m, s, sizes.m, visit)) return;
    if (!stationary &&
        (base_rule(K::base_n, s, sizes.n, visit) || base_rule(K::base_k, s, sizes.k, visit))) {
      return;
    }
    if (count_rule(K::db_l0c, s, 1, 2, "", visit)) return;
    const SramSum sum(systolic_plan(workload, s, limits));
    // A list of knobs is one of the variant's own.
    const auto check = [&](KnobList knobs) {
      visit.sum("SRAM", limits.sram, knobs, SumTerm{"e*base_m*base_k*slots", sum.a},
                SumTerm{"e*base_k*base_n*slots", sum.b}, SumTerm{"base_m*base_n*4*db_l0c", sum.c});
    };
    if (stationary) {
      check({K::base_m, K::db_l0c});
    } else {
      check({K::base_m, K::base_n, K::base_k, K::db_l0c});
    }
  }
};

std::optional<KnobRange> range(const Workload& workload, const Schedule& s, const Limits&,
                               Knob knob) {
  const ProductSizes sizes = product_sizes(workload);
  const auto whole = [](std::int64_t extent) { return round_up(extent, 16); };
  // Few positions one by one, many in steps, so that the nearest legal number is found.
  if (knob == K::base_m && s.variant == Variant::systolic && sizes.m <= 4096)
    return KnobRange{1, sizes.m, 1};
  if (knob == K::base_m) return KnobRange{16, whole(sizes.m), 16};
  if (knob == K::base_n) return KnobRange{16, whole(sizes.n), 16};
  if (knob == K::base_k) return KnobRange{16, whole(sizes.k), 16};
  return std::nullopt;  // slots: 1 or 2
}

const char* matmul_refuses(const Workload& workload) {
  if (dtype_of(workload) == DType::int8)
    return "systolic devices take dtype fp16, bf16 or fp32: their rate for int8 is not known";
  return nullptr;
}
const char* conv2d_refuses(const Workload& workload) {
  if (std::get<Conv2dPool>(workload).groups != 1)
    return "systolic has no grouped convolution (groups), and no other variant has it yet";
  return matmul_refuses(workload);
}

// ---- Grids ----

std::int64_t grid_step(Grid grid) { return grid == Grid::full ? 16 : 64; }

// Multiples of `step` up to the axis rounded up to 16, and its end where it is none.
class Values {
 public:
  Values(std::int64_t step, std::int64_t end) : step_(step), end_(end) {}
  std::int64_t count() const { return ceil_div(end_, step_); }
  std::int64_t operator[](std::int64_t i) const { return std::min((i + 1) * step_, end_); }

 private:
  std::int64_t step_, end_;
};
std::int64_t knob_end(std::int64_t extent) { return std::min(extent, kMostKnob / 16 * 16); }

// The largest of all values along the innermost axis that fits: a larger one needs more.
template <class Fits>
std::int64_t fitting(const Values& values, const Fits& fits) {
  std::int64_t low = 0, high = values.count();
  while (low < high) {
    const std::int64_t middle = (low + high + 1) / 2;
    if (fits(values[middle - 1])) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// visit(schedule, knob, values, count): the first `count` values of the innermost knob fit.
template <class Visit>
void walk(const VariantRow& row, const Workload& workload, const Limits& limits, Grid grid,
          const Visit& visit) {
  const ProductSizes sizes = product_sizes(workload);
  const std::int64_t step = grid_step(grid);
  Schedule s = default_schedule(row, workload);
  const auto run = [&](Knob knob, const Values& values) {
    Schedule point = s;
    const std::int64_t count = fitting(values, [&](std::int64_t value) {
      point[knob] = static_cast<std::int32_t>(value);
      return SramSum(systolic_plan(workload, point, limits)).total() <= limits.sram;
    });
    visit(s, knob, values, count);
  };
  for (const std::int32_t accumulators : {1, 2}) {
    s[K::db_l0c] = accumulators;
    if (row.variant == Variant::systolic) {
      run(K::base_m, Values(step, knob_end(sizes.m)));
      continue;
    }
    const Values m(step, knob_end(round_up(sizes.m, 16)));
    const Values n(step, knob_end(round_up(sizes.n, 16)));
    for (std::int64_t i = 0; i < m.count(); ++i) {
      s[K::base_m] = static_cast<std::int32_t>(m[i]);
      for (std::int64_t j = 0; j < n.count(); ++j) {
        s[K::base_n] = static_cast<std::int32_t>(n[j]);
        run(K::base_k, Values(step, knob_end(round_up(sizes.k, 16))));
      }
    }
  }
}

template <const VariantRow& (*row)()>
void for_each_point(const Workload& workload, const Limits& limits, Grid grid,
                    const PointVisitor& visit) {
  walk(row(), workload, limits, grid,
       [&](Schedule point, Knob knob, const Values& values, std::int64_t count) {
         for (std::int64_t i = 0; i < count; ++i) {
           point[knob] = static_cast<std::int32_t>(values[i]);
           visit(point);
         }
       });
}

template <const VariantRow& (*row)()>
SpaceSize space_size(const Workload& workload, const Limits& limits, Grid grid) {
  SpaceSize size;
  walk(row(), workload, limits, grid,
       [&](const Schedule&, Knob, const Values& values, std::int64_t count) {
         size.points = saturating_add(size.points, values.count());
         size.feasible = saturating_add(size.feasible, count);
       });
  if (size.points > size.feasible) size.by_limit["SRAM"] = size.points - size.feasible;
  return size;
}

// ---- Hand schedules: as much as the SRAM holds, results leaving while the next block is computed.

template <const VariantRow& (*row)()>
Schedule hand(const Workload& workload, const Limits& limits) {
  const ProductSizes sizes = product_sizes(workload);
  Schedule s = default_schedule(row(), workload);
  s[K::db_l0c] = 2;
  const auto fits = [&] {
    return SramSum(systolic_plan(workload, s, limits)).total() <= limits.sram;
  };
  if (s.variant == Variant::systolic) {
    while (!fits() && s[K::base_m] > 1)
      s[K::base_m] = s[K::base_m] > 32 ? (s[K::base_m] / 2 + 15) / 16 * 16 : s[K::base_m] / 2;
    return s;
  }
  const auto start = [&](Knob knob, std::int32_t value, std::int64_t extent) {
    s[knob] = value;
    while (s[knob] > round_up(extent, 16)) s[knob] /= 2;
  };
  start(K::base_m, 512, sizes.m);
  start(K::base_n, 512, sizes.n);
  start(K::base_k, 128, sizes.k);
  while (!fits() && std::max(s[K::base_m], s[K::base_n]) > 16) {
    std::int32_t& larger = s[K::base_m] >= s[K::base_n] ? s[K::base_m] : s[K::base_n];
    larger /= 2;
  }
  return s;
}

template <const VariantRow& (*self)()>
VariantRow systolic_row(const char* op, Variant variant, std::span<const VariantKnob> knobs,
                        const char* (*refuses)(const Workload&)) {
  VariantRow row;
  row.op = op;
  row.variant = variant;
  row.kind = DeviceKind::systolic;
  row.knobs = knobs;
  row.refuses = refuses;
  set_limits<Checks>(row);
  row.range = range;
  row.block_bytes = [](const Workload& workload, const Schedule& s, const Limits& limits) {
    const SystolicPlan plan = systolic_plan(workload, s, limits);
    return saturating_add(plan.a_bytes(), plan.b_bytes());
  };
  row.for_each_point = for_each_point<self>;
  row.space_size = space_size<self>;
  row.hand = hand<self>;
  return row;
}

}  // namespace

const VariantRow& matmul_blocked_systolic_row() {
  static const VariantRow row = systolic_row<matmul_blocked_systolic_row>(
      "matmul", Variant::blocked, kBlockedKnobs, matmul_refuses);
  return row;
}
const VariantRow& matmul_systolic_row() {
  static const VariantRow row = systolic_row<matmul_systolic_row>("matmul", Variant::systolic,
                                                                  kSystolicKnobs, matmul_refuses);
  return row;
}
const VariantRow& conv2d_systolic_row() {
  static const VariantRow row = systolic_row<conv2d_systolic_row>("conv2d_pool", Variant::systolic,
                                                                  kSystolicKnobs, conv2d_refuses);
  return row;
}

}  // namespace tilewright
