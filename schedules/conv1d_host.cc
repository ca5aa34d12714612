// SPDX-License-Identifier: Apache-2.0
#include "schedules/conv1d_host.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedules/conv1d_bank.h"
#include "schedules/host_tile.h"

namespace tilewright {
namespace {

using K = Knob;

constexpr std::array<VariantKnob, 9> kFoldedKnobs{{
    {.knob = K::base_m, .required = true},
    {.knob = K::base_n, .required = true},
    {.knob = K::m_tile, .fallback = 128},
    {.knob = K::terms, .fallback = word::fp32},
    {.knob = K::chains, .fallback = 1},
    {.knob = K::unroll, .fallback = 2},
    {.knob = K::fold, .fallback = word::both},
    {.knob = K::par, .fallback = word::rows},
    {.knob = K::vec, .fallback = 0},
}};
constexpr std::array<VariantKnob, 8> kDirectKnobs{{
    {.knob = K::base_m, .required = true},
    {.knob = K::base_n, .required = true},
    {.knob = K::m_tile, .fallback = 128},
    {.knob = K::terms, .fallback = word::fp32},
    {.knob = K::chains, .fallback = 1},
    {.knob = K::unroll, .fallback = 2},
    {.knob = K::par, .fallback = word::rows},
    {.knob = K::vec, .fallback = 0},
}};

const Conv1dBank& bank(const Workload& workload) { return *std::get_if<Conv1dBank>(&workload); }

// Filters that share one input operand: a parity group where the input is folded, else all.
std::int64_t group_of(const Conv1dBank& w, const Schedule& s) {
  return s.variant == Variant::folded_channel_major ? std::max<std::int64_t>(1, w.cout / 2)
                                                    : w.cout;
}
std::int64_t taps_of(const Conv1dBank& w, const Schedule& s) {
  return s.variant == Variant::folded_channel_major ? folded_taps(w) : w.k;
}
std::int64_t accumulators(const Schedule& s, const Limits& limits) {
  return product(s[K::base_m], ceil_div(s[K::base_n], lanes_of(s, limits)), s[K::chains]);
}
bool legal_chains(std::int64_t chains) {
  return chains == 1 || chains == 3 || chains == 6 || chains == 14;
}

struct BankChecks {
  template <class V>
  static bool tile(const Conv1dBank& w, const Schedule& s, const Limits& limits, V& visit) {
    const std::int64_t m = s[K::base_m], group = group_of(w, s);
    if (visit.rule(K::base_m, m >= 1 && group % m == 0, {K::base_m}, m, group, [&] {
          return fmt::format("base_m: must divide the group of {} filters, {} does not", group, m);
        })) {
      return true;
    }
    const std::int64_t n = s[K::base_n], lanes = lanes_of(s, limits);
    if (visit.rule(K::base_n, n >= lanes && n % lanes == 0, {K::base_n}, n, lanes, [&] {
          return fmt::format("base_n: must be a multiple of the {} lanes of a vector, not {}",
                             lanes, n);
        })) {
      return true;
    }
    const std::int64_t prepared = s[K::m_tile],
                       most = round_up(w.lout(), std::max<std::int64_t>(1, n));
    return visit.rule(
        K::m_tile,
        prepared >= 1 && prepared % std::max<std::int64_t>(1, n) == 0 && prepared <= most,
        {K::m_tile}, prepared, most, [&] {
          return fmt::format("m_tile: must be a multiple of base_n {}, at most {}, not {}", n, most,
                             prepared);
        });
  }

  template <class V>
  static void run(const Workload& workload, const Schedule& s, const Limits& limits, V& visit) {
    const Conv1dBank& w = bank(workload);
    if (check_vec(s, limits, visit) || tile(w, s, limits, visit)) return;
    if (visit.rule(K::terms, s[K::terms] == word::fp32, {K::terms}, s[K::terms], word::fp32, [&] {
          return fmt::format(
              "terms: the host kernel has fp32 only so far; {} comes with the precision sets",
              knob_value_text(K::terms, s[K::terms]));
        })) {
      return;
    }
    const std::int64_t chains = s[K::chains], taps = taps_of(w, s);
    if (visit.rule(
            K::chains, legal_chains(chains) && chains <= taps, {K::chains}, chains, taps, [&] {
              return fmt::format("chains: must be 1, 3, 6 or 14 and at most the {} taps, not {}",
                                 taps, chains);
            })) {
      return;
    }
    check_registers("base_m*base_n/lanes*chains", accumulators(s, limits), s, limits,
                    {K::base_m, K::base_n, K::chains}, visit);
  }
};

std::optional<KnobRange> bank_range(const Workload& workload, const Schedule& s,
                                    const Limits& limits, Knob knob) {
  const Conv1dBank& w = bank(workload);
  const std::int64_t lanes = lanes_of(s, limits);
  switch (knob) {
    case K::base_m:
      return KnobRange{1, group_of(w, s), 1};
    case K::base_n:
      return KnobRange{lanes, round_up(w.lout(), lanes), lanes};
    case K::m_tile: {
      const std::int64_t n = std::max(1, s[K::base_n]);
      return KnobRange{n, round_up(w.lout(), n), n};
    }
    case K::chains:
      return KnobRange{1, 14, 1};
    case K::unroll:
      return KnobRange{1, kMostUnrolled, 1};
    case K::vec:
      return KnobRange{0, target_lanes(limits), 4};
    default:
      return std::nullopt;
  }
}

const char* direct_refuses(const Workload& workload) {
  return bank(workload).dtype == DType::fp32
             ? nullptr
             : "direct takes dtype fp32, and no other variant on host takes more yet";
}
const char* folded_refuses(const Workload& workload) {
  const Conv1dBank& w = bank(workload);
  if (w.symmetry != Symmetry::even_odd) {
    return "folded_channel_major needs symmetry:even_odd; compact_k would take any weights but is "
           "not there yet, so use "
           "direct";
  }
  if (w.dtype != DType::fp32)
    return "folded_channel_major takes dtype fp32, and no other variant on host takes more yet";
  return nullptr;
}

// A register tile of channels x so many vectors of positions x chains; tiles of m_tile about so
// many positions.
struct Tile {
  std::int64_t channels, vectors, chains, prepared;
  std::int64_t unroll = 2;
};

Schedule to_schedule(const VariantRow& row, const Tile& tile, const Workload& workload,
                     const Limits& limits) {
  const Conv1dBank& w = bank(workload);
  Schedule s = default_schedule(row, workload);
  const auto set = [&](Knob knob, std::int64_t value) {
    s[knob] = static_cast<std::int32_t>(value);
  };
  const std::int64_t lanes = target_lanes(limits);
  std::int64_t channels = std::min(tile.channels, group_of(w, s));
  while (group_of(w, s) % channels != 0) --channels;
  const std::int64_t n = std::min(tile.vectors * lanes, round_up(w.lout(), lanes));
  set(K::base_m, channels);
  set(K::base_n, n);
  set(K::m_tile, std::min(std::max(n, tile.prepared / n * n), round_up(w.lout(), n)));
  set(K::chains, tile.chains <= taps_of(w, s) ? tile.chains : 1);
  set(K::unroll, tile.unroll);
  return s;
}

// Measured on a CPU with 32 registers of 16 lanes: 16 positions x 5 channels x 6 chains, and 48 x 8
// in one chain. 16 registers hold half of such a tile.
std::vector<Tile> folded_tiles(const Limits& limits) {
  if (limits.vector_registers >= 32) {
    return {{5, 1, 6, 192}, {8, 3, 1, 192}, {5, 1, 6, 96},  {5, 1, 6, 384},  {8, 3, 1, 96},
            {8, 3, 1, 384}, {8, 1, 3, 192}, {4, 2, 3, 192}, {10, 2, 1, 192}, {5, 1, 6, 192, 3}};
  }
  return {{2, 1, 6, 192}, {4, 3, 1, 192}, {4, 1, 3, 192}, {2, 2, 3, 192},
          {4, 3, 1, 96},  {4, 3, 1, 384}, {5, 2, 1, 192}, {2, 1, 6, 384}};
}
std::vector<Tile> direct_tiles(const Limits& limits) {
  if (limits.vector_registers >= 32) {
    return {{8, 3, 1, 192},  {8, 3, 1, 96},  {8, 3, 1, 384},
            {10, 2, 1, 192}, {5, 1, 6, 192}, {8, 1, 3, 192}};
  }
  return {{4, 3, 1, 192}, {4, 3, 1, 96},  {4, 3, 1, 384},
          {5, 2, 1, 192}, {2, 1, 6, 192}, {4, 1, 3, 192}};
}

template <const VariantRow& (*Row)(), std::vector<Tile> (*Tiles)(const Limits&)>
PointList points(const Workload& workload, const Limits& limits) {
  PointList list;
  for (const Tile& tile : Tiles(limits)) list.add(to_schedule(Row(), tile, workload, limits));
  return list;
}

template <const VariantRow& (*Row)(), std::vector<Tile> (*Tiles)(const Limits&)>
Schedule hand(const Workload& workload, const Limits& limits) {
  Tile tile = Tiles(limits).front();
  Schedule s = to_schedule(Row(), tile, workload, limits);
  while (accumulators(s, limits) + kOperandRegisters > limits.vector_registers) {
    std::int64_t& largest = tile.vectors > 1    ? tile.vectors
                            : tile.channels > 1 ? tile.channels
                                                : tile.chains;
    if (largest == 1) break;
    largest = &largest == &tile.chains ? 1 : largest / 2;
    s = to_schedule(Row(), tile, workload, limits);
  }
  return s;
}

template <const VariantRow& (*Row)(), std::vector<Tile> (*Tiles)(const Limits&)>
VariantRow bank_row(Variant variant, std::span<const VariantKnob> knobs) {
  VariantRow row;
  row.op = "conv1d_bank";
  row.variant = variant;
  row.kind = DeviceKind::host;
  row.knobs = knobs;
  row.range = bank_range;
  row.hand = hand<Row, Tiles>;
  set_limits<BankChecks>(row);
  set_point_list<BankChecks, points<Row, Tiles>>(row);
  return row;
}

}  // namespace

const VariantRow& conv1d_folded_row() {
  static const VariantRow row = [] {
    VariantRow r =
        bank_row<conv1d_folded_row, folded_tiles>(Variant::folded_channel_major, kFoldedKnobs);
    r.refuses = folded_refuses;
    return r;
  }();
  return row;
}

const VariantRow& conv1d_direct_row() {
  static const VariantRow row = [] {
    VariantRow r = bank_row<conv1d_direct_row, direct_tiles>(Variant::direct, kDirectKnobs);
    r.refuses = direct_refuses;
    return r;
  }();
  return row;
}

}  // namespace tilewright
