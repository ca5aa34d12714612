// SPDX-License-Identifier: Apache-2.0
// Knobs, limits, grid and hand schedules of the filter bank on a matrix unit with a permute unit.
#include "schedules/conv1d_mxu.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedules/limit_checks.h"

namespace tilewright {
namespace {

using K = Knob;

constexpr std::int64_t kMostStages = 64;

constexpr VariantKnob knob(K which, std::int32_t fallback) {
  return {.knob = which, .fallback = fallback};
}
constexpr std::array kPlainKnobs{knob(K::m_tile, 8), knob(K::stages, 2),
                                 knob(K::terms, word::tri6)};
constexpr std::array kPositionMajorKnobs{knob(K::m_tile, 8), knob(K::stages, 2),
                                         knob(K::terms, word::tri6), knob(K::prep_groups, 2),
                                         knob(K::lifetime, word::keep)};
constexpr std::array kChannelMajorKnobs{knob(K::m_tile, 128), knob(K::stages, 2),
                                        knob(K::terms, word::tri6), knob(K::prep_groups, 2)};

const Conv1dBank& bank(const Workload& workload) { return *std::get_if<Conv1dBank>(&workload); }

bool is_folded(Variant variant) {
  return variant == Variant::folded_position_major || variant == Variant::folded_channel_major;
}
// Positions are padded to this: columns in channel_major, rows of an issue else.
std::int64_t position_step(Variant variant, const Limits& limits) {
  return variant == Variant::folded_channel_major ? limits.columns : limits.issue_rows;
}
std::int64_t most_positions(const Conv1dBank& w, Variant variant, const Limits& limits) {
  return round_up(w.lout(), position_step(variant, limits));
}

struct BankMxuChecks {
  template <class V>
  static bool counts(const Conv1dBank& w, const Schedule& s, const Limits& limits, V& visit) {
    const std::int64_t step = position_step(s.variant, limits), m = s[K::m_tile];
    const std::int64_t most = most_positions(w, s.variant, limits);
    if (visit.rule(K::m_tile, m >= step && m % step == 0 && m <= most, {K::m_tile}, m, most, [&] {
          return fmt::format("m_tile: must be a multiple of {} from {} to {}, not {}", step, step,
                             most, m);
        })) {
      return true;
    }
    const std::int64_t stages = s[K::stages];
    if (visit.rule(
            K::stages, stages >= 1 && stages <= kMostStages, {K::stages}, stages, kMostStages, [&] {
              return fmt::format("stages: must be from 1 to {}, not {}", kMostStages, stages);
            })) {
      return true;
    }
    const std::int64_t in_flight = s[K::prep_groups];
    const bool legal = !is_folded(s.variant) || in_flight == 1 || in_flight == 2 || in_flight == 4;
    return visit.rule(K::prep_groups, legal, {K::prep_groups}, in_flight, 4, [&] {
      return fmt::format("prep_groups: must be 1, 2 or 4, not {}", in_flight);
    });
  }

  template <class V>
  static void run(const Workload& workload, const Schedule& s, const Limits& limits, V& visit) {
    const Conv1dBank& w = bank(workload);
    if (counts(w, s, limits, visit)) return;
    if (visit.rule(K::terms, s[K::terms] != word::fp32, {K::terms}, s[K::terms], word::hp9, [] {
          return std::string("terms: the matrix unit multiplies BF16 parts; fp32 has no split");
        })) {
      return;
    }
    const BankPlan plan(w, s, limits);
    visit.sum("on_chip", limits.on_chip, {K::m_tile, K::stages, K::terms, K::lifetime},
              SumTerm{stage_term(plan), product(plan.stages, plan.stage_bytes())},
              SumTerm{"stages*raw window", product(plan.stages, plan.raw_bytes())},
              SumTerm{"stages*cout*m_tile*4 (results)", product(plan.stages, plan.result_bytes())},
              SumTerm{"stages*cout*m_tile*4 (transposed)", product(plan.stages, plan.out_bytes())},
              SumTerm{"weights cout*cin*taps*parts*2", plan.weight_bytes()});
  }

  static const char* stage_term(const BankPlan& plan) {
    if (plan.variant == Variant::lane_masked) return "stages*parts*lanes*window*2";
    if (plan.rebuilds) return "stages*lanes*m_tile*2";
    return "stages*operand blocks of both parities*parts*lanes*m_tile*2";
  }
};

std::optional<KnobRange> bank_range(const Workload& workload, const Schedule& s,
                                    const Limits& limits, Knob which) {
  switch (which) {
    case K::m_tile: {
      const std::int64_t step = position_step(s.variant, limits);
      return KnobRange{step, most_positions(bank(workload), s.variant, limits), step};
    }
    case K::stages:
      return KnobRange{1, kMostStages, 1};
    case K::prep_groups:
      return KnobRange{1, 4, 1};
    default:
      return std::nullopt;
  }
}

const char* plain_refuses(const Workload& workload) {
  return bank(workload).dtype == DType::fp32
             ? nullptr
             : "the filter bank takes dtype fp32 on mxu, and no other variant takes more yet";
}
const char* folded_refuses(const Workload& workload) {
  if (bank(workload).symmetry != Symmetry::even_odd)
    return "folded variants need symmetry:even_odd; use compact_k, which takes any weights";
  return plain_refuses(workload);
}

// Axes from the outside: lifetime, m_tile, stages, prep_groups. The set of terms is a matter of
// precision, not of the grid: it is the default. m_tile ends where the results of a tile fill the
// memory. coarse: its step times powers of two, and the largest; full: every multiple, and every
// number of stages up to 16.
template <class Visit>
void walk_grid(const VariantRow& row, const Workload& workload, const Limits& limits, Grid grid,
               const Visit& visit) {
  const bool full = grid == Grid::full;
  const std::int64_t step = position_step(row.variant, limits);
  const Conv1dBank& w = bank(workload);
  const std::int64_t fit = limits.on_chip / product(4, w.cout) / step * step;
  const std::int64_t most = std::max(step, std::min(most_positions(w, row.variant, limits), fit));
  Schedule s = default_schedule(row, workload);
  const bool groups = find_knob(row, K::prep_groups) != nullptr;
  const auto set = [&](Knob which, std::int64_t value) {
    s[which] = static_cast<std::int32_t>(value);
  };
  const auto inner = [&] {
    for (std::int64_t stages = 1; stages <= 16; stages += full || stages < 4 ? 1 : stages / 4 * 2) {
      set(K::stages, stages);
      for (std::int64_t g = 1; g <= (groups ? 4 : 1); g *= 2) {
        if (groups) set(K::prep_groups, g);
        visit(s);
      }
    }
  };
  const auto tiles = [&] {
    for (std::int64_t m = step; m <= most; m = full ? m + step : m * 2) {
      set(K::m_tile, m);
      inner();
      if (!full && m < most && 2 * m > most) {
        set(K::m_tile, most);
        inner();
      }
    }
  };
  tiles();
  if (find_knob(row, K::lifetime) == nullptr) return;
  set(K::lifetime, word::instant);
  tiles();
}

template <const VariantRow& (*Row)()>
void for_each_point(const Workload& workload, const Limits& limits, Grid grid,
                    const PointVisitor& visit) {
  walk_grid(Row(), workload, limits, grid, [&](const Schedule& point) {
    FirstViolation first;
    BankMxuChecks::run(workload, point, limits, first);
    if (first.name == nullptr) visit(point);
  });
}

template <const VariantRow& (*Row)()>
SpaceSize space_size(const Workload& workload, const Limits& limits, Grid grid) {
  SpaceSize size;
  walk_grid(Row(), workload, limits, grid, [&](const Schedule& point) {
    FirstViolation first;
    BankMxuChecks::run(workload, point, limits, first);
    ++size.points;
    ++(first.name == nullptr ? size.feasible : size.by_limit[first.name]);
  });
  return size;
}

// channel_major as published: many stages of few positions. The others at their defaults, with a
// tile that hides the copies' start-up where operands are kept. Halved where it does not fit.
template <const VariantRow& (*Row)()>
Schedule hand(const Workload& workload, const Limits& limits) {
  const VariantRow& row = Row();
  const std::int64_t step = position_step(row.variant, limits);
  Schedule s = default_schedule(row, workload);
  std::int64_t m = s[K::m_tile];
  if (row.variant == Variant::folded_position_major) m = 256;
  if (row.variant == Variant::folded_channel_major) {
    m = 512;
    s[K::stages] = s[K::prep_groups] = 4;
  }
  m = std::min(round_up(m, step), most_positions(bank(workload), row.variant, limits));
  const auto fits = [&] {
    s[K::m_tile] = static_cast<std::int32_t>(m);
    FirstViolation first;
    BankMxuChecks::run(workload, s, limits, first);
    return first.name == nullptr;
  };
  while (!fits() && m > step) m = std::max(step, m / 2 / step * step);
  while (!fits() && s[K::stages] > 1) s[K::stages] /= 2;
  return s;
}

template <const VariantRow& (*Row)()>
VariantRow bank_row(Variant variant, std::span<const VariantKnob> knobs) {
  VariantRow row;
  row.op = "conv1d_bank";
  row.variant = variant;
  row.kind = DeviceKind::mxu;
  row.knobs = knobs;
  row.refuses = is_folded(variant) ? folded_refuses : plain_refuses;
  row.range = bank_range;
  row.for_each_point = for_each_point<Row>;
  row.space_size = space_size<Row>;
  row.hand = hand<Row>;
  set_limits<BankMxuChecks>(row);
  return row;
}

}  // namespace

const VariantRow& conv1d_lane_masked_row() {
  static const VariantRow row = bank_row<conv1d_lane_masked_row>(Variant::lane_masked, kPlainKnobs);
  return row;
}
const VariantRow& conv1d_compact_k_row() {
  static const VariantRow row = bank_row<conv1d_compact_k_row>(Variant::compact_k, kPlainKnobs);
  return row;
}
const VariantRow& conv1d_position_major_row() {
  static const VariantRow row =
      bank_row<conv1d_position_major_row>(Variant::folded_position_major, kPositionMajorKnobs);
  return row;
}
const VariantRow& conv1d_channel_major_row() {
  static const VariantRow row =
      bank_row<conv1d_channel_major_row>(Variant::folded_channel_major, kChannelMajorKnobs);
  return row;
}

}  // namespace tilewright
