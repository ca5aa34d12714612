// SPDX-License-Identifier: Apache-2.0
#include "schedules/matmul_npu.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedules/npu_rules.h"

namespace tilewright {
namespace {

using K = Knob;

const Matmul& self(const Workload& workload) { return *std::get_if<Matmul>(&workload); }

constexpr std::array<VariantKnob, 12> kKnobs{{
    {.knob = K::base_m, .required = true},
    {.knob = K::base_n, .required = true},
    {.knob = K::base_k, .required = true},
    {.knob = K::step_ka, .fallback = 1},
    {.knob = K::step_kb, .fallback = 1},
    {.knob = K::cores_m, .fallback = 1},
    {.knob = K::cores_n, .fallback = 1},
    {.knob = K::db_l0, .fallback = 2},
    {.knob = K::db_l0c, .fallback = 1},
    {.knob = K::l1, .fallback = 2},
    {.knob = K::order, .fallback = word::order_m},
    {.knob = K::load, .fallback = word::norm},
}};

// Cores along an axis: no more than it has fractals.
std::int64_t most_cores(std::int64_t extent, const Limits& limits) {
  return std::min(limits.cube_cores, ceil_div(extent, 16));
}

struct Checks {
  template <class V>
  static bool cores(const Matmul& w, const Schedule& s, const Limits& limits, V& visit) {
    constexpr const char* kMost = "the number of cube cores, or of fractals along the axis, ";
    if (count_rule(K::cores_m, s, 1, most_cores(w.m, limits), kMost, visit)) return true;
    if (count_rule(K::cores_n, s, 1, most_cores(w.n, limits), kMost, visit)) return true;
    const std::int64_t cores = product(s[K::cores_m], s[K::cores_n]);
    return visit.rule("cores", cores <= limits.cube_cores, {K::cores_m, K::cores_n}, cores,
                      limits.cube_cores, [&] {
                        return fmt::format("cores: cores_m*cores_n = {}, and there are {}", cores,
                                           limits.cube_cores);
                      });
  }

  template <class V>
  static void run(const Workload& workload, const Schedule& s, const Limits& limits, V& visit) {
    const Matmul& w = self(workload);
    if (cores(w, s, limits, visit)) return;
    const CoreGrid grid(w, std::max(1, s[K::cores_m]), std::max(1, s[K::cores_n]));
    const std::int64_t k = round_up(w.k, 16);
    if (block_rule(K::base_m, s, round_up(grid.single_m, 16), "a core's rows rounded up to 16",
                   {K::base_m, K::cores_m}, visit) ||
        block_rule(K::base_n, s, round_up(grid.single_n, 16), "a core's columns rounded up to 16",
                   {K::base_n, K::cores_n}, visit) ||
        block_rule(K::base_k, s, k, "k rounded up to 16", {K::base_k}, visit)) {
      return;
    }
    for (const Knob knob : {K::db_l0, K::db_l0c, K::l1}) {
      if (count_rule(knob, s, 1, 2, "", visit)) return;
    }
    const BlockBytes bytes(bytes_of(w.dtype), s);
    if (l0_sums(bytes, limits, visit)) return;
    if (visit.sum("L1", limits.l1, {K::base_m, K::base_n, K::base_k, K::step_ka, K::step_kb, K::l1},
                  SumTerm{"e*base_k*base_m*step_ka*l1", bytes.l1_a_blocks},
                  SumTerm{"e*base_k*base_n*step_kb*l1", bytes.l1_b_blocks})) {
      return;
    }
    step_rules(s, ceil_div(w.k, std::max(1, s[K::base_k])), visit);
  }
};

std::optional<KnobRange> range(const Workload& workload, const Schedule& s, const Limits& limits,
                               Knob knob) {
  const Matmul& w = self(workload);
  const CoreGrid grid(w, std::max(1, s[K::cores_m]), std::max(1, s[K::cores_n]));
  switch (knob) {
    case K::base_m:
      return KnobRange{16, round_up(grid.single_m, 16), 16};
    case K::base_n:
      return KnobRange{16, round_up(grid.single_n, 16), 16};
    case K::base_k:
      return KnobRange{16, round_up(w.k, 16), 16};
    case K::step_ka:
    case K::step_kb:
      return KnobRange{1, ceil_div(w.k, std::max(1, s[K::base_k])), 1};
    case K::cores_m:
      return KnobRange{1, most_cores(w.m, limits), 1};
    case K::cores_n:
      return KnobRange{1, most_cores(w.n, limits), 1};
    default:
      return std::nullopt;  // slots: 1 or 2
  }
}

const char* refuses(const Workload& workload) {
  if (self(workload).dtype == DType::int8)
    return "blocked takes dtype fp16, bf16 or fp32, and no other variant takes int8 yet";
  return nullptr;
}

// The core grid whose largest part has the least padded area; of several the squarest part.
void set_cores(const Matmul& w, const Limits& limits, Schedule& s) {
  std::int64_t best_area = kSaturated, best_side = kSaturated;
  for (std::int64_t m = 1; m <= most_cores(w.m, limits); ++m) {
    const std::int64_t n = std::min(limits.cube_cores / m, most_cores(w.n, limits));
    const CoreGrid grid(w, m, n);
    const std::int64_t rows = round_up(grid.single_m, 16), columns = round_up(grid.single_n, 16);
    const std::int64_t area = product(rows, columns), side = std::max(rows, columns);
    if (area > best_area || (area == best_area && side >= best_side)) continue;
    best_area = area;
    best_side = side;
    s[K::cores_m] = static_cast<std::int32_t>(grid.active_m);
    s[K::cores_n] = static_cast<std::int32_t>(grid.active_n);
  }
}

// The tile of the fastest public run, 128x256x64 (64x256x32 in fp32) in `mdl` with 8 and 4 blocks a
// copy, halved where a limit asks for it.
Schedule hand(const Workload& workload, const Limits& limits) {
  const Matmul& w = self(workload);
  const bool fp32 = w.dtype == DType::fp32;
  Schedule s = default_schedule(matmul_blocked_npu_row(), workload);
  set_cores(w, limits, s);
  const CoreGrid grid(w, s);
  const auto start = [&](Knob knob, std::int32_t value, std::int64_t most) {
    s[knob] = value;
    while (s[knob] > most) s[knob] /= 2;
  };
  start(K::base_m, fp32 ? 64 : 128, round_up(grid.single_m, 16));
  start(K::base_n, 256, round_up(grid.single_n, 16));
  start(K::base_k, fp32 ? 32 : 64, round_up(w.k, 16));
  s[K::load] = word::mdl;
  const auto bytes = [&] { return BlockBytes(bytes_of(w.dtype), s); };
  while (bytes().l0a > limits.l0a && s[K::base_m] > 16) s[K::base_m] /= 2;
  while (bytes().l0c > limits.l0c && s[K::base_n] > 16) s[K::base_n] /= 2;
  while (bytes().l0b > limits.l0b && s[K::base_k] > 16) s[K::base_k] /= 2;
  const std::int64_t k_blocks = ceil_div(w.k, s[K::base_k]);
  start(K::step_ka, 8, k_blocks);
  start(K::step_kb, 4, k_blocks);
  while (bytes().l1() > limits.l1 && s[K::step_ka] > 1) {
    s[K::step_ka] /= 2;
    s[K::step_kb] = std::max(1, s[K::step_kb] / 2);
  }
  return s;
}

}  // namespace

const VariantRow& matmul_blocked_npu_row() {
  static const VariantRow row = [] {
    VariantRow r;
    r.op = "matmul";
    r.variant = Variant::blocked;
    r.kind = DeviceKind::npu;
    r.knobs = kKnobs;
    r.refuses = refuses;
    set_limits<Checks>(r);
    r.range = range;
    r.block_bytes = [](const Workload& workload, const Schedule& s, const Limits&) {
      const std::int64_t lines = std::int64_t{s[K::base_m]} + s[K::base_n];
      return product(bytes_of(self(workload).dtype), s[K::base_k], lines);
    };
    r.for_each_point = matmul_for_each_point;
    r.space_size = matmul_space_size;
    r.hand = hand;
    return r;
  }();
  return row;
}

}  // namespace tilewright
