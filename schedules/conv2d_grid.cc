// SPDX-License-Identifier: Apache-2.0
// Enumeration of im2col's grid. Its axes, from the outside: rows, base_m, db_l0, db_l0c, base_k,
// base_n, l1, step_ka, step_kb, then order, load, deal, which no limit depends on. Every other knob
// is as in the hand schedule. base_m, base_k and base_n end where a block of that size beside 16 of
// its partner fills L0A or L0B. A limit cuts off whole subtrees before their points exist; the cut
// points are counted, so that the numbers are those of a walk over every tuple.
#include "schedules/conv2d_grid.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "schedules/conv2d_npu.h"

namespace tilewright {
namespace {

using K = Knob;
constexpr std::int64_t kFree = 8;  // order x load x deal

// The limits that refuse points, in the order of the checks.
enum class Cut : std::uint8_t { l0a, l0b, l0c, l1, step, ub };
constexpr std::array<const char*, 6> kCutNames{"L0A", "L0B", "L0C", "L1", "step", "UB"};

// Multiples of `step` up to `most`; most itself where there is none.
std::vector<std::int64_t> multiples(std::int64_t step, std::int64_t most) {
  std::vector<std::int64_t> values;
  for (std::int64_t value = step; value <= most; value += step) values.push_back(value);
  if (values.empty()) values.push_back(most);
  return values;
}

struct Counts {
  std::array<std::int64_t, kCutNames.size()> cut{};
  std::int64_t feasible = 0;

  void add(Cut limit, std::int64_t count) {
    std::int64_t& sum = cut[static_cast<std::size_t>(limit)];
    sum = saturating_add(sum, count);
  }
  void add(const Counts& other) {
    for (std::size_t i = 0; i < cut.size(); ++i) cut[i] = saturating_add(cut[i], other.cut[i]);
    feasible = saturating_add(feasible, other.feasible);
  }
  SpaceSize size() const {
    SpaceSize size;
    size.points = size.feasible = feasible;
    for (std::size_t i = 0; i < cut.size(); ++i) {
      size.points = saturating_add(size.points, cut[i]);
      if (cut[i] > 0) size.by_limit[kCutNames[i]] = cut[i];
    }
    return size;
  }
};

class Walk {
 public:
  Walk(const Workload& workload, const Limits& limits, Grid grid)
      : w_(std::get<Conv2dPool>(workload)),
        limits_(limits),
        step_(grid == Grid::full ? 16 : 64),
        point_(conv2d_im2col_row().hand(workload, limits)),
        ub_fits_(conv2d_im2col_row().ub_bytes(workload, point_) <= limits.ub) {
    const std::int64_t k = std::min(round_up(reduction_length(w_), 16), widest(limits.l0a));
    base_m_ = multiples(step_, std::min(round_up(w_.cout, 16), widest(limits.l0a)));
    base_k_ = multiples(step_, k);
    const bool published_k = w_.dtype == DType::fp32 && step_ > 32 && k >= 64;
    if (published_k) base_k_.insert(base_k_.begin(), 32);  // the published fp32 tile is 64x256x32
    rows_ = multiples(w_.pool, std::min<std::int64_t>(12, kept_rows(w_)));
    // Strips of 2 to 12 rows; of one only where the image has no more.
    if (rows_.front() == 1 && rows_.size() > 1) rows_.erase(rows_.begin());
    for (const std::int64_t base : base_k_) steps_.push_back(ceil_div(reduction_length(w_), base));
  }

  // refused(cut, count): that many points violate this limit first. block(point, k_blocks): base
  // block and slots fit L0; the steps, each from 1 to k_blocks, are still to be set: see
  // each_step().
  template <class Refused, class Block>
  void run(const Refused& refused, const Block& block) {
    for (const std::int64_t rows : rows_) {
      set(K::rows, rows);
      base_n_ = multiples(step_, std::min(product(rows, padded_row(w_)), widest(limits_.l0b)));
      for (const std::int64_t base_m : base_m_) {
        set(K::base_m, base_m);
        for (const std::int64_t slots : {1, 2, 3, 4}) {
          set(K::db_l0, slots > 2 ? 2 : 1);
          set(K::db_l0c, slots % 2 == 0 ? 2 : 1);
          along_k(refused, block);
        }
      }
    }
  }

  // leaf(schedule): a feasible block of kFree points.
  template <class Refused, class Leaf>
  void each_step(Schedule point, std::int64_t k_blocks, const Refused& refused,
                 const Leaf& leaf) const {
    for (std::int32_t a = 1; a <= k_blocks; ++a) {
      point[K::step_ka] = a;
      for (std::int32_t b = 1; b <= k_blocks; ++b) {
        point[K::step_kb] = b;
        if (MatrixBytes(w_, point).l1() > limits_.l1) {
          // So does every larger step_kb and, where step_kb is 1, every larger step_ka.
          const std::int64_t later = b == 1 ? product(k_blocks - a, k_blocks) : 0;
          refused(Cut::l1, product(saturating_add(k_blocks - b + 1, later), kFree));
          if (b == 1) return;
          break;
        }
        if (!steps_divide(a, b)) {
          refused(Cut::step, kFree);
        } else if (!ub_fits_) {
          refused(Cut::ub, kFree);
        } else {
          leaf(point);
        }
      }
    }
  }

 private:
  // Longest side of a block in a buffer of so many bytes.
  std::int64_t widest(std::int64_t bytes) const {
    return std::max<std::int64_t>(16, bytes / (16 * bytes_of(w_.dtype)) / 16 * 16);
  }
  void set(Knob knob, std::int64_t value) { point_[knob] = static_cast<std::int32_t>(value); }

  template <class Refused, class Block>
  void along_k(const Refused& refused, const Block& block) {
    for (std::size_t k = 0; k < base_k_.size(); ++k) {
      set(K::base_k, base_k_[k]);
      const std::int64_t points_per_n = product(steps_[k], steps_[k], 2, kFree);
      set(K::base_n, base_n_.front());
      if (MatrixBytes(w_, point_).l0a > limits_.l0a) {
        refused(Cut::l0a, product(points_per_n, std::ssize(base_n_)));
        continue;
      }
      along_n(points_per_n, steps_[k], refused, block);
    }
  }

  template <class Refused, class Block>
  void along_n(std::int64_t points_per_n, std::int64_t k_blocks, const Refused& refused,
               const Block& block) {
    for (std::size_t n = 0; n < base_n_.size(); ++n) {
      set(K::base_n, base_n_[n]);
      const MatrixBytes bytes(w_, point_);
      if (bytes.l0b > limits_.l0b) {  // so does every larger base_n
        refused(Cut::l0b,
                product(points_per_n, std::ssize(base_n_) - static_cast<std::int64_t>(n)));
        return;
      }
      if (bytes.l0c > limits_.l0c) {
        refused(Cut::l0c, points_per_n);
        continue;
      }
      for (const std::int64_t l1 : {1, 2}) {
        set(K::l1, l1);
        block(point_, k_blocks);
      }
    }
  }

  Conv2dPool w_;
  Limits limits_;
  std::int64_t step_;
  Schedule point_;
  bool ub_fits_;
  std::vector<std::int64_t> rows_, base_m_, base_k_, base_n_;
  std::vector<std::int64_t> steps_;  // k blocks of each base_k: steps go from 1 to that
};

}  // namespace

void im2col_for_each_point(const Workload& workload, const Limits& limits, Grid grid,
                           const PointVisitor& visit) {
  const auto ignore = [](Cut, std::int64_t) {};
  const auto all_free = [&](Schedule point) {
    for (const auto order : {word::order_m, word::order_n}) {
      for (const auto load : {word::norm, word::mdl}) {
        for (const auto deal : {word::paired, word::cube_first}) {
          point[K::order] = order;
          point[K::load] = load;
          point[K::deal] = deal;
          visit(point);
        }
      }
    }
  };
  Walk walk(workload, limits, grid);
  walk.run(ignore, [&](const Schedule& point, std::int64_t k_blocks) {
    walk.each_step(point, k_blocks, ignore, all_free);
  });
}

SpaceSize im2col_space_size(const Workload& workload, const Limits& limits, Grid grid) {
  Counts sum;
  // How many steps fit depends on nothing else: count once for all rows and slots of L0.
  std::map<std::array<std::int32_t, 4>, Counts> known;
  Walk walk(workload, limits, grid);
  walk.run([&](Cut cut, std::int64_t count) { sum.add(cut, count); },
           [&](const Schedule& point, std::int64_t k_blocks) {
             const std::array<std::int32_t, 4> key{point[K::base_m], point[K::base_n],
                                                   point[K::base_k], point[K::l1]};
             const auto [entry, is_new] = known.try_emplace(key);
             Counts& counts = entry->second;
             if (is_new) {
               walk.each_step(
                   point, k_blocks, [&](Cut cut, std::int64_t count) { counts.add(cut, count); },
                   [&](const Schedule&) { counts.feasible += kFree; });
             }
             sum.add(counts);
           });
  return sum.size();
}

}  // namespace tilewright
