// SPDX-License-Identifier: Apache-2.0
#include "matmul_totals.h"

#include <algorithm>

#include "schedules/matmul_npu.h"

namespace tilewright::test {
namespace {

std::size_t index(NpuEngine engine) { return static_cast<std::size_t>(engine); }

class NaiveCore {
 public:
  NaiveCore(const Matmul& w, const Schedule& s, const Limits& limits, const Costing& costing,
            const MatmulPart& part)
      : w_(w),
        s_(s),
        costing_(costing),
        grid_(w, s),
        l2_(limits.l2),
        e_(bytes_of(w.dtype)),
        m_(round_up(part.m, 16)),
        n_(round_up(part.n, 16)),
        k_(round_up(w.k, 16)),
        mdl_(s[Knob::load] == word::mdl),
        order_n_(s[Knob::order] == word::order_n) {}

  CoreTotals run() {
    const std::int64_t base_m = s_[Knob::base_m], base_n = s_[Knob::base_n];
    if (order_n_) {
      for (std::int64_t column = 0; column < n_; column += base_n)
        for (std::int64_t row = 0; row < m_; row += base_m) tile(row, column);
    } else {
      for (std::int64_t row = 0; row < m_; row += base_m)
        for (std::int64_t column = 0; column < n_; column += base_n) tile(row, column);
    }
    return totals_;
  }

 private:
  struct Side {
    std::int64_t lines, line;  // of the result: rows for A, columns for B
    std::int64_t step;         // blocks a copy
    bool first;                // sweep over these lines
    bool kept;                 // the lines are in L1 already
  };

  void tile(std::int64_t row, std::int64_t column) {
    const std::int64_t rows = std::min<std::int64_t>(s_[Knob::base_m], m_ - row);
    const std::int64_t columns = std::min<std::int64_t>(s_[Knob::base_n], n_ - column);
    const std::int64_t base_k = s_[Knob::base_k], blocks = ceil_div(k_, base_k);
    const Side a = side(true, rows, row, column == 0, blocks);
    const Side b = side(false, columns, column, row == 0, blocks);
    for (std::int64_t block = 0; block < blocks; ++block) {
      if (!a.kept && block % a.step == 0) load(true, a, block * base_k);
      if (!b.kept && block % b.step == 0) load(false, b, block * base_k);
      const std::int64_t depth = std::min(base_k, k_ - block * base_k);
      add(on_chip(Path::l1_l0a, rows * depth));
      add(on_chip(Path::l1_l0b, columns * depth));
      Work product;
      product.kind = WorkKind::product;
      product.dtype = w_.dtype;
      product.m = rows;
      product.n = columns;
      product.k = depth;
      add(product);
    }
    add(on_chip(Path::l0c_gm, rows * columns));
  }

  // mdl keeps lines whose whole K is one copy, while they are the outer block's.
  Side side(bool a, std::int64_t lines, std::int64_t line, bool first, std::int64_t blocks) const {
    const std::int64_t step = mdl_ ? s_[a ? Knob::step_ka : Knob::step_kb] : 1;
    const bool outer = a != order_n_;
    return {lines, line, step, first, mdl_ && outer && step >= blocks && !first};
  }

  void load(bool a, const Side& side, std::int64_t k) {
    const std::int64_t longest = side.step * s_[Knob::base_k];
    const std::int64_t depth = std::min(longest, k_ - k);
    Work work;
    work.kind = WorkKind::copy;
    work.path = Path::gm_l1;
    work.dtype = w_.dtype;
    if (a || w_.trans_b) {  // runs of k; copies of the full length start at multiples of it
      work.rows = side.lines;
      work.row_bytes = depth * e_;
      work.stride_bytes = w_.k * e_;
      if (depth < longest) work.origin_bytes = k * e_;
      if (depth == longest && k_ / longest > 1) work.step_bytes = longest * e_;
    } else {  // runs of n, on every core from another column on
      const std::int64_t base = s_[Knob::base_n];
      work.rows = depth;
      work.row_bytes = side.lines * e_;
      work.stride_bytes = w_.n * e_;
      if (side.lines < base) work.origin_bytes = side.line * e_;
      if (side.lines == base && n_ / base > 1) work.step_bytes = base * e_;
      if (grid_.active_n > 1) work.step_bytes |= grid_.single_n * e_;
    }
    const std::int64_t sharers = a ? grid_.active_n : grid_.active_m;
    work.sharing = sharers > 1 ? Sharing::grid : Sharing::none;
    work.sharers = sharers;
    work.first_read = side.first;
    work.reuse_bytes = side.first ? 0 : reuse(a);
    add(work);
    if (sharers > 1 && (side.first || work.reuse_bytes > l2_)) {
      work.kind = WorkKind::fetch;
      work.path = Path::none;
      add(work);
    }
  }

  // Distinct bytes that the whole grid reads from one read of a block to the next.
  std::int64_t reuse(bool a) const {
    const std::int64_t all_rows = w_.m, all_columns = w_.n;
    const std::int64_t rows = std::min(grid_.active_m * s_[Knob::base_m], all_rows);
    const std::int64_t columns = std::min(grid_.active_n * s_[Knob::base_n], all_columns);
    const bool inner = a != order_n_;  // re-read at once, in the inner loop
    const std::int64_t lines = inner ? rows + columns : a ? all_rows + columns : all_columns + rows;
    return lines * k_ * e_;
  }

  Work on_chip(Path path, std::int64_t elements) const {
    Work work;
    work.kind = WorkKind::copy;
    work.path = path;
    work.rows = 1;
    work.row_bytes = elements * e_;
    return work;
  }
  void add(const Work& work) { totals_.add(costing_, work, 1); }

  const Matmul& w_;
  const Schedule& s_;
  const Costing& costing_;
  CoreGrid grid_;
  std::int64_t l2_, e_, m_, n_, k_;
  bool mdl_, order_n_;
  CoreTotals totals_;
};

}  // namespace

void CoreTotals::add(const Costing& costing, const Work& work, std::int64_t times) {
  const Cost cost = costing.cost(work);
  busy[index(cost.main)] += times * cost.hold;
  busy[index(NpuEngine::off_chip)] += times * cost.off_chip_hold;
  if (work.kind == WorkKind::product) macs += times * work.macs();
  if (work.path == Path::gm_l1) loaded += times * work.bytes();
  if (work.path == Path::l0c_gm) stored += times * work.bytes();
  off_chip += times * costing.off_chip_bytes(work);
}

std::string CoreTotals::text() const {
  std::string text = "busy";
  for (const std::int64_t cycles : busy) text += " " + std::to_string(cycles);
  for (const std::int64_t value : {loaded, stored, off_chip, macs})
    text += ", " + std::to_string(value);
  return text + "\n";
}

CoreTotals naive_totals(const Matmul& w, const Schedule& s, const Limits& limits,
                        const Costing& costing, const MatmulPart& part) {
  return NaiveCore(w, s, limits, costing, part).run();
}

CoreTotals tree_totals(const Matmul& w, const Schedule& s, const Limits& limits,
                       const Costing& costing, const MatmulPart& part) {
  TileProgram program;
  lower_matmul(w, s, limits, part, program);
  CoreTotals totals;
  program.for_each_operation([&](const Operation& operation, std::int64_t times) {
    totals.add(costing, operation.work, times);
  });
  return totals;
}

CoreTotals closed_totals(const Matmul& w, const Schedule& s, const Limits& limits,
                         const Costing& costing, const MatmulPart& part) {
  WorkSummary summary;
  summarize_matmul(w, s, limits, part, summary);
  CoreTotals totals;
  for (const WorkTerm& term : summary.terms) totals.add(costing, term.work, term.count);
  return totals;
}

std::int64_t block_count(const Matmul& w, const Schedule& s) {
  const CoreGrid grid(w, s);
  return ceil_div(grid.single_m, s[Knob::base_m]) * ceil_div(grid.single_n, s[Knob::base_n]) *
         ceil_div(w.k, s[Knob::base_k]);
}

}  // namespace tilewright::test
