// SPDX-License-Identifier: Apache-2.0
// conv1d_bank on a matrix unit with issues of a few rows and a permute unit: `lane_masked`,
// `compact_k`, `folded_position_major` and `folded_channel_major`. BankPlan has the numbers that
// limits, tile program and Work summary start from.
//
// The product is (positions x taps)(taps x filters), or its transpose in channel_major. K runs
// along the unit's lanes in `groups` blocks:
//   lane_masked  the channels of a tap are a block; every tap is one (one lane of 128 works)
//   compact_k    channels x taps are one axis, cut into blocks
//   folded       the same with a tap and its mirror folded, for each parity of its own
// A tile is m_tile positions of one batch; its tail is shorter. Padded samples are read like any.
#pragma once

#include <cstdint>

#include "schedules/terms.h"
#include "schedules/variants.h"

namespace tilewright {

const VariantRow& conv1d_lane_masked_row();
const VariantRow& conv1d_compact_k_row();
const VariantRow& conv1d_position_major_row();
const VariantRow& conv1d_channel_major_row();

struct BankPlan {
  // Precondition: m_tile, stages >= 1, a split set of terms, limits of kind mxu.
  BankPlan(const Conv1dBank& workload, const Schedule& schedule, const Limits& limits);

  // Sizes.
  bool folded = false, channel_major = false;
  bool rebuilds = false;  // operands are gathered for each use, not kept in a stage
  std::int64_t m_tile = 0, full_tiles = 0, tail = 0;  // per batch; tail in positions
  std::int64_t batches = 0;
  std::int64_t filters = 0;        // that share an operand: all, or those of a parity
  std::int64_t filter_blocks = 0;  // blocks of the unit's columns (position-major forms)
  std::int64_t stages = 0;
  const TermSet* terms = nullptr;
  const Conv1dBank* workload = nullptr;
  const Limits* limits = nullptr;
  Variant variant{};
  std::int64_t groups = 0;  // operand blocks of a tile
  std::int64_t products = 0, parts = 0, parts_w = 0;
  std::int64_t prep_groups = 0;  // in flight: what the schedule asks for, as far as the device lets

  // Of a tile with so many positions:
  std::int64_t window_elements(std::int64_t positions) const;      // a row of a load, per channel
  std::int64_t operand_rows(std::int64_t positions) const;         // prepared, padded to the unit
  std::int64_t result_row_elements(std::int64_t positions) const;  // a row of a store, per filter
  // Issues of the matrix unit for one product (pair of parts) of one operand block and all filters.
  std::int64_t issues_per_use(std::int64_t positions) const;
  std::int64_t issues() const;  // of the whole layer

  // Bytes on chip, per slot.
  std::int64_t raw_bytes() const, stage_bytes() const, result_bytes() const, out_bytes() const;
  std::int64_t group_bytes() const;  // registers of a preparation group, not in the one memory
  std::int64_t weight_bytes() const;
};

}  // namespace tilewright
