// SPDX-License-Identifier: Apache-2.0
// Enumeration of `blocked`'s grid. Its axes, from the outside: the core grid, base_m, db_l0,
// db_l0c, base_k, base_n, l1, step_ka, step_kb, then order and load, which no limit depends on.
//   full:   every core grid that the chip has room for; base_* multiples of 16
//   coarse: per cores_m the largest cores_n, without grids that leave cores idle; base_* multiples
//           of 64 (and 32 for base_k in fp32, the published tile)
// base_m, base_k and base_n end where a block of that size beside 16 of its partner fills L0A or
// L0B. A limit cuts off whole subtrees before their points exist; the cut points are counted.
// 8192 x 8192 x 8192 in fp16 on 24 cores: 2,581,814,488 feasible points, 1,678,776 of them coarse.
#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "schedules/matmul_npu.h"
#include "schedules/npu_rules.h"

namespace tilewright {
namespace {

using K = Knob;
constexpr std::int64_t kFree = 4;  // order x load

struct Counts {
  std::map<std::string, std::int64_t> cut;
  std::int64_t feasible = 0;

  void refuse(const char* limit, std::int64_t count) {
    std::int64_t& sum = cut[limit];
    sum = saturating_add(sum, count);
  }
};

// Multiples of `step` up to `most`; most itself where there is none.
std::vector<std::int64_t> multiples(std::int64_t step, std::int64_t most) {
  std::vector<std::int64_t> values;
  for (std::int64_t value = step; value <= most; value += step) values.push_back(value);
  if (values.empty()) values.push_back(most);
  return values;
}

class Walk {
 public:
  Walk(const Workload& workload, const Limits& limits, Grid grid)
      : w_(std::get<Matmul>(workload)),
        e_(bytes_of(w_.dtype)),
        limits_(limits),
        full_(grid == Grid::full),
        point_(matmul_blocked_npu_row().hand(workload, limits)) {
    base_k_ = multiples(step(), std::min(round_up(w_.k, 16), widest(limits.l0a)));
    if (w_.dtype == DType::fp32 && !full_ && base_k_.back() >= 64)
      base_k_.insert(base_k_.begin(), 32);
    core_grids();
  }

  // refused(limit, count): that many points violate this limit first. leaf(schedule, count): the
  // feasible points under this block and slots, steps still to be set, see each_step().
  template <class Refused, class Block>
  void run(const Refused& refused, const Block& block) {
    for (const auto& [cores_m, cores_n] : cores_) {
      set(K::cores_m, cores_m);
      set(K::cores_n, cores_n);
      const CoreGrid grid(w_, cores_m, cores_n);
      base_n_ = multiples(step(), std::min(round_up(grid.single_n, 16), widest(limits_.l0b)));
      const std::int64_t most_m = std::min(round_up(grid.single_m, 16), widest(limits_.l0a));
      for (const std::int64_t base_m : multiples(step(), most_m)) {
        set(K::base_m, base_m);
        for (const std::int64_t slots : {1, 2, 3, 4}) {
          set(K::db_l0, slots > 2 ? 2 : 1);
          set(K::db_l0c, slots % 2 == 0 ? 2 : 1);
          for (const std::int64_t base_k : base_k_) along_n(base_k, refused, block);
        }
      }
    }
  }

  template <class Refused, class Leaf>
  void each_step(Schedule point, const Refused& refused, const Leaf& leaf) const {
    const std::int64_t blocks = k_blocks(point[K::base_k]);
    for (std::int32_t a = 1; a <= blocks; ++a) {
      point[K::step_ka] = a;
      for (std::int32_t b = 1; b <= blocks; ++b) {
        point[K::step_kb] = b;
        if (BlockBytes(e_, point).l1() > limits_.l1) {
          // So does every larger step_kb and, where step_kb is 1, every larger step_ka.
          const std::int64_t later = b == 1 ? product(blocks - a, blocks) : 0;
          refused("L1", product(saturating_add(blocks - b + 1, later), kFree));
          if (b == 1) return;
          break;
        }
        if (steps_divide(a, b)) {
          leaf(point);
        } else {
          refused("step", kFree);
        }
      }
    }
  }

 private:
  std::int64_t step() const { return full_ ? 16 : 64; }
  std::int64_t k_blocks(std::int64_t base_k) const { return ceil_div(w_.k, base_k); }
  // Longest side of a block in a buffer of so many bytes.
  std::int64_t widest(std::int64_t bytes) const {
    return std::max<std::int64_t>(16, bytes / (16 * e_) / 16 * 16);
  }
  void set(Knob knob, std::int64_t value) { point_[knob] = static_cast<std::int32_t>(value); }

  void core_grids() {
    const std::int64_t most_m = std::min(limits_.cube_cores, ceil_div(w_.m, 16));
    for (std::int64_t m = 1; m <= most_m; ++m) {
      const std::int64_t most_n = std::min(limits_.cube_cores / m, ceil_div(w_.n, 16));
      for (std::int64_t n = full_ ? 1 : most_n; n <= most_n; ++n) {
        const CoreGrid grid(w_, m, n);
        if (full_ || (grid.active_m == m && grid.active_n == n)) cores_.push_back({m, n});
      }
    }
  }

  template <class Refused, class Block>
  void along_n(std::int64_t base_k, const Refused& refused, const Block& block) {
    set(K::base_k, base_k);
    const std::int64_t points = product(k_blocks(base_k), k_blocks(base_k), 2, kFree);
    for (std::size_t n = 0; n < base_n_.size(); ++n) {
      set(K::base_n, base_n_[n]);
      const BlockBytes bytes(e_, point_);
      const std::int64_t rest = std::ssize(base_n_) - static_cast<std::int64_t>(n);
      // So does every larger base_n.
      if (bytes.l0a > limits_.l0a) return refused("L0A", product(points, rest));
      if (bytes.l0b > limits_.l0b) return refused("L0B", product(points, rest));
      if (bytes.l0c > limits_.l0c) {
        refused("L0C", points);
        continue;
      }
      for (const std::int64_t l1 : {1, 2}) {
        set(K::l1, l1);
        block(point_);
      }
    }
  }

  Matmul w_;
  std::int64_t e_;
  Limits limits_;
  bool full_;
  Schedule point_;
  struct Cores {
    std::int64_t m, n;
  };
  std::vector<Cores> cores_;
  std::vector<std::int64_t> base_n_, base_k_;
};

}  // namespace

void matmul_for_each_point(const Workload& workload, const Limits& limits, Grid grid,
                           const PointVisitor& visit) {
  const auto ignore = [](const char*, std::int64_t) {};
  const auto all_free = [&](Schedule point) {
    for (const auto order : {word::order_m, word::order_n}) {
      for (const auto load : {word::norm, word::mdl}) {
        point[K::order] = order;
        point[K::load] = load;
        visit(point);
      }
    }
  };
  Walk walk(workload, limits, grid);
  walk.run(ignore, [&](const Schedule& point) { walk.each_step(point, ignore, all_free); });
}

SpaceSize matmul_space_size(const Workload& workload, const Limits& limits, Grid grid) {
  struct StepCounts {
    std::int64_t l1 = 0, step = 0, feasible = 0;
  };
  // How many steps fit depends on nothing else: count once for all core grids and slots of L0.
  std::map<std::array<std::int32_t, 4>, StepCounts> known;
  Counts sum;
  Walk walk(workload, limits, grid);
  const auto refused = [&](const char* limit, std::int64_t count) { sum.refuse(limit, count); };
  walk.run(refused, [&](const Schedule& point) {
    const auto [entry, is_new] =
        known.try_emplace({point[K::base_m], point[K::base_n], point[K::base_k], point[K::l1]});
    StepCounts& counts = entry->second;
    if (is_new) {
      walk.each_step(
          point,
          [&](const char* limit, std::int64_t count) {
            std::int64_t& cut = std::string_view(limit) == "L1" ? counts.l1 : counts.step;
            cut = saturating_add(cut, count);
          },
          [&](const Schedule&) { counts.feasible += kFree; });
    }
    refused("L1", counts.l1);
    refused("step", counts.step);
    sum.feasible = saturating_add(sum.feasible, counts.feasible);
  });
  SpaceSize size;
  size.points = size.feasible = sum.feasible;
  for (const auto& [limit, count] : sum.cut) {
    size.points = saturating_add(size.points, count);
    if (count > 0) size.by_limit[limit] = count;
  }
  return size;
}

}  // namespace tilewright
