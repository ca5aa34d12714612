// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "schedules/conv1d_bank.h"
#include "schedules/conv1d_mxu.h"

namespace tilewright {
namespace {

constexpr std::int64_t kFp32 = 4, kBf16 = 2;

// Elements by which the first one of a row can lie beyond the grid of offsets, at most.
std::int64_t slack(std::int64_t step, std::int64_t divisor_of_offsets) {
  return step - std::gcd(step, divisor_of_offsets);
}

}  // namespace

BankPlan::BankPlan(const Conv1dBank& w, const Schedule& s, const Limits& l)
    : folded(s.variant == Variant::folded_position_major ||
             s.variant == Variant::folded_channel_major),
      channel_major(s.variant == Variant::folded_channel_major),
      rebuilds(s.variant == Variant::compact_k ||
               (s.variant == Variant::folded_position_major && s[Knob::lifetime] == word::instant)),
      m_tile(s[Knob::m_tile]),
      full_tiles(w.lout() / m_tile),
      tail(w.lout() % m_tile),
      batches(w.n),
      filters(folded ? std::max<std::int64_t>(1, w.cout / 2) : w.cout),
      filter_blocks(ceil_div(filters, l.columns)),
      stages(s[Knob::stages]),
      terms(&term_set(s[Knob::terms])),
      workload(&w),
      limits(&l),
      variant(s.variant) {
  products = terms->products();
  parts = terms->parts_x();
  parts_w = terms->parts_w();
  prep_groups = std::max<std::int64_t>(1, s[Knob::prep_groups]);
  if (l.group_limit > 0) prep_groups = std::min(prep_groups, l.group_limit);
  if (folded) {  // the centre tap of an odd filter is 0 and takes no product
    groups = ceil_div(product(w.cin, folded_taps(w)), l.lanes) +
             ceil_div(product(w.cin, w.k / 2), l.lanes);
  } else if (variant == Variant::compact_k) {
    groups = ceil_div(product(w.cin, w.k), l.lanes);
  } else {
    groups = product(ceil_div(w.cin, l.lanes), w.k);
  }
}

// Tiles start at t*m_tile*stride - pad of rows of l samples.
std::int64_t BankPlan::window_elements(std::int64_t positions) const {
  const Conv1dBank& w = *workload;
  const std::int64_t tiles = full_tiles + (tail > 0);
  std::int64_t divisor = w.pad_l;
  if (product(w.n, w.cin) > 1) divisor = std::gcd(divisor, w.l);
  if (tiles > 1) divisor = std::gcd(divisor, product(m_tile, w.stride));
  const std::int64_t span =
      saturating_add(saturating_add(product(positions - 1, w.stride), product(w.k - 1, w.dil)), 1);
  return round_up(saturating_add(slack(limits->dma_step, divisor), span), limits->dma_step);
}

std::int64_t BankPlan::operand_rows(std::int64_t positions) const {
  return round_up(positions, channel_major ? limits->columns : limits->issue_rows);
}

// Rows of the output are padded to the grid of offsets, tiles start at multiples of m_tile.
std::int64_t BankPlan::result_row_elements(std::int64_t positions) const {
  const std::int64_t beyond = full_tiles + (tail > 0) > 1 ? slack(limits->dma_step, m_tile) : 0;
  return round_up(saturating_add(beyond, positions), limits->dma_step);
}

std::int64_t BankPlan::issues_per_use(std::int64_t positions) const {
  const Limits& l = *limits;
  if (channel_major)
    return product(ceil_div(filters, l.issue_rows), ceil_div(positions, l.columns));
  return product(ceil_div(positions, l.issue_rows), filter_blocks);
}

std::int64_t BankPlan::issues() const {
  std::int64_t uses = product(full_tiles, issues_per_use(m_tile));
  if (tail > 0) uses = saturating_add(uses, issues_per_use(tail));
  return product(batches, groups, products, uses);
}

std::int64_t BankPlan::raw_bytes() const {
  // compact_k cuts its rows out of the parts of the window, which lie beside it.
  const std::int64_t each = kFp32 + (variant == Variant::compact_k ? parts * kBf16 : 0);
  return product(workload->cin, window_elements(m_tile), each);
}

std::int64_t BankPlan::stage_bytes() const {
  const std::int64_t lanes = limits->lanes;
  if (variant == Variant::lane_masked) {  // a sample is a row of lanes
    const std::int64_t blocks = ceil_div(workload->cin, lanes);
    return product(parts, blocks, lanes, product(window_elements(m_tile), kBf16));
  }
  const std::int64_t operand = product(lanes, operand_rows(m_tile), kBf16);
  return rebuilds ? operand : product(groups, parts, operand);
}

std::int64_t BankPlan::result_bytes() const { return product(workload->cout, m_tile, kFp32); }
std::int64_t BankPlan::out_bytes() const { return channel_major ? 0 : result_bytes(); }

std::int64_t BankPlan::group_bytes() const {
  return folded ? product(2, limits->lanes, operand_rows(m_tile), kFp32) : 0;  // tap and mirror
}

std::int64_t BankPlan::weight_bytes() const {
  const std::int64_t taps = folded ? folded_taps(*workload) : workload->k;
  return product(workload->cout, workload->cin, taps, parts_w * kBf16);
}

}  // namespace tilewright
