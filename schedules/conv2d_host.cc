// SPDX-License-Identifier: Apache-2.0
#include "schedules/conv2d_host.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedules/conv2d_pool.h"
#include "schedules/host_tile.h"

namespace tilewright {
namespace {

using K = Knob;

constexpr std::array<VariantKnob, 7> kKnobs{{
    {.knob = K::base_m, .required = true},
    {.knob = K::base_n, .required = true},
    {.knob = K::base_k, .required = true},
    {.knob = K::rows, .required = true},
    {.knob = K::unroll, .fallback = 2},
    {.knob = K::par, .fallback = word::rows},
    {.knob = K::vec, .fallback = 0},
}};

const Conv2dPool& conv(const Workload& workload) { return *std::get_if<Conv2dPool>(&workload); }

std::int64_t accumulators(const Schedule& s, const Limits& limits) {
  return product(ceil_div(s[K::base_m], lanes_of(s, limits)), s[K::base_n]);
}

struct DirectChecks {
  template <class V>
  static void run(const Workload& workload, const Schedule& s, const Limits& limits, V& visit) {
    const Conv2dPool& w = conv(workload);
    const std::int64_t lanes = lanes_of(s, limits);
    if (check_vec(s, limits, visit)) return;
    const std::int64_t m = s[K::base_m], most_m = round_up(w.cout, lanes);
    if (visit.rule(
            K::base_m, m >= lanes && m % lanes == 0 && m <= most_m, {K::base_m}, m, most_m, [&] {
              return fmt::format(
                  "base_m: must be a multiple of the {} lanes of a vector, at most {}, not {}",
                  lanes, most_m, m);
            })) {
      return;
    }
    const std::int64_t n = s[K::base_n];
    if (visit.rule(K::base_n, n >= 1 && n <= w.wout(), {K::base_n}, n, w.wout(), [&] {
          return fmt::format("base_n: must be from 1 to the row length {}, not {}", w.wout(), n);
        })) {
      return;
    }
    const std::int64_t k = s[K::base_k], channels = w.cin / w.groups;
    if (visit.rule(K::base_k, k >= 1 && channels % k == 0, {K::base_k}, k, channels, [&] {
          return fmt::format("base_k: must divide the {} input channels, {} does not", channels, k);
        })) {
      return;
    }
    const std::int64_t rows = s[K::rows], kept = kept_rows(w);
    if (visit.rule(K::rows, rows >= 1 && rows % w.pool == 0 && rows <= kept, {K::rows}, rows, kept,
                   [&] {
                     return fmt::format("rows: must be a multiple of pool {} from {} to {}, not {}",
                                        w.pool, w.pool, kept, rows);
                   })) {
      return;
    }
    check_registers("base_m/lanes*base_n", accumulators(s, limits), s, limits,
                    {K::base_m, K::base_n}, visit);
  }
};

std::optional<KnobRange> direct_range(const Workload& workload, const Schedule& s,
                                      const Limits& limits, Knob knob) {
  const Conv2dPool& w = conv(workload);
  const std::int64_t lanes = lanes_of(s, limits);
  switch (knob) {
    case K::base_m:
      return KnobRange{lanes, round_up(w.cout, lanes), lanes};
    case K::base_n:
      return KnobRange{1, w.wout(), 1};
    case K::base_k:
      return KnobRange{1, w.cin / w.groups, 1};
    case K::rows:
      return KnobRange{w.pool, kept_rows(w), w.pool};
    case K::unroll:
      return KnobRange{1, kMostUnrolled, 1};
    case K::vec:
      return KnobRange{0, target_lanes(limits), 4};
    default:
      return std::nullopt;
  }
}

const char* direct_refuses(const Workload& workload) {
  const Conv2dPool& w = conv(workload);
  if (w.groups != 1)
    return "direct has no grouped convolution (groups), and no other variant has it yet";
  if (w.dtype != DType::fp16 && w.dtype != DType::fp32) {
    return "direct takes dtype fp16 or fp32, and no other variant takes more yet";
  }
  if (w.layout != Layout::nchw)
    return "direct takes layout nchw, and no other variant takes nhwc yet";
  return nullptr;
}

std::int64_t largest_divisor(std::int64_t number, std::int64_t most) {
  for (std::int64_t d = std::min(number, most); d > 1; --d) {
    if (number % d == 0) return d;
  }
  return 1;
}

// A register tile of so many vectors of channels x positions.
struct Tile {
  std::int64_t vectors, positions, rows, channels;
  std::int32_t par = word::rows;
};

Schedule to_schedule(const Tile& tile, const Workload& workload, const Limits& limits) {
  const Conv2dPool& w = conv(workload);
  Schedule s = default_schedule(conv2d_direct_row(), workload);
  const auto set = [&](Knob knob, std::int64_t value) {
    s[knob] = static_cast<std::int32_t>(value);
  };
  const std::int64_t lanes = target_lanes(limits), pool = w.pool;
  set(K::base_m, std::min(tile.vectors * lanes, round_up(w.cout, lanes)));
  set(K::base_n, std::min(tile.positions, w.wout()));
  set(K::base_k, largest_divisor(w.cin, tile.channels));
  set(K::rows, std::clamp(round_up(tile.rows, pool), pool, kept_rows(w)));
  s[K::par] = tile.par;
  return s;
}

// Measured on a CPU with 32 registers of 16 lanes: 4 vectors x 6 positions, 2 rows, input channels
// in blocks of 64; its neighbours in the list are within 5 %. 16 registers hold half of such a
// tile.
std::vector<Tile> tiles(const Limits& limits) {
  if (limits.vector_registers >= 32) {
    return {{4, 6, 2, 64}, {4, 6, 2, 16}, {4, 6, 2, 256},
            {4, 6, 6, 64}, {2, 6, 2, 64}, {2, 12, 2, 64},
            {8, 3, 2, 64}, {4, 7, 2, 64}, {4, 6, 2, 64, word::channels}};
  }
  return {{2, 6, 2, 64}, {2, 6, 2, 16},  {2, 6, 2, 256}, {2, 6, 6, 64},
          {4, 3, 2, 64}, {1, 12, 2, 64}, {1, 6, 2, 64},  {2, 6, 2, 64, word::channels}};
}

PointList direct_points(const Workload& workload, const Limits& limits) {
  PointList list;
  for (const Tile& tile : tiles(limits)) list.add(to_schedule(tile, workload, limits));
  return list;
}

Schedule direct_hand(const Workload& workload, const Limits& limits) {
  Tile tile = tiles(limits).front();
  Schedule s = to_schedule(tile, workload, limits);
  while (accumulators(s, limits) + kOperandRegisters > limits.vector_registers &&
         tile.vectors * tile.positions > 1) {
    (tile.positions > 1 ? tile.positions : tile.vectors) /= 2;
    s = to_schedule(tile, workload, limits);
  }
  return s;
}

}  // namespace

const VariantRow& conv2d_direct_row() {
  static const VariantRow row = [] {
    VariantRow r;
    r.op = "conv2d_pool";
    r.variant = Variant::direct;
    r.kind = DeviceKind::host;
    r.knobs = kKnobs;
    r.refuses = direct_refuses;
    r.range = direct_range;
    r.hand = direct_hand;
    set_limits<DirectChecks>(r);
    set_point_list<DirectChecks, direct_points>(r);
    return r;
  }();
  return row;
}

}  // namespace tilewright
