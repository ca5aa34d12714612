// SPDX-License-Identifier: Apache-2.0
#include "schedules/conv2d_npu.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedules/conv2d_grid.h"
#include "schedules/conv2d_pool.h"
#include "schedules/npu_rules.h"

namespace tilewright {
namespace {

const Conv2dPool& conv(const Workload& workload) { return *std::get_if<Conv2dPool>(&workload); }

std::int32_t default_ub_m(const Workload& workload) {
  const Conv2dPool& w = conv(workload);
  const std::int64_t channels = w.dtype == DType::fp32 ? 64 : 128;
  return static_cast<std::int32_t>(std::min(channels, round_up(w.cout, 16)));
}

using K = Knob;
template <std::int32_t ub_tiles, std::int32_t pool_buf>
constexpr std::array<VariantKnob, 20> kAscendKnobs{{
    {.knob = K::base_m, .required = true},
    {.knob = K::base_n, .required = true},
    {.knob = K::base_k, .required = true},
    {.knob = K::step_ka, .fallback = 1},
    {.knob = K::step_kb, .fallback = 1},
    {.knob = K::rows, .required = true},
    {.knob = K::db_l0, .fallback = 2},
    {.knob = K::db_l0c, .fallback = 1},
    {.knob = K::l1, .fallback = 2},
    {.knob = K::order, .fallback = word::order_m},
    {.knob = K::load, .fallback = word::norm},
    {.knob = K::deal, .fallback = word::paired},
    {.knob = K::deal_stride, .fallback = 0},
    {.knob = K::split_m, .fallback = 1},
    {.knob = K::weights, .fallback = word::stream},
    {.knob = K::async, .fallback = 1},
    {.knob = K::transdata, .fallback = word::on_host},
    {.knob = K::ub_m, .fallback_of = default_ub_m},
    {.knob = K::ub_tiles, .fallback = ub_tiles},
    {.knob = K::pool_buf, .fallback = pool_buf},
}};

// The three terms of the UB sum and, in the forms that compute one product per output row, the
// segments of a split row.
struct UbSum {
  std::int64_t tiles = 0, pooled = 0, bias = 0, segments = 0;
  std::int64_t total() const {
    return total_of(SumTerm{"", tiles}, SumTerm{"", pooled}, SumTerm{"", bias},
                    SumTerm{"", segments});
  }
};
UbSum ub_sum(const Conv2dPool& w, const Schedule& s) {
  const std::int64_t e = bytes_of(w.dtype), row = padded_row(w);
  UbSum sum;
  sum.tiles = product(e, s[K::ub_tiles], s[K::ub_m], row);
  if (w.pool > 1 && s[K::pool_buf] == word::own)
    sum.pooled = product(e, s[K::ub_m], ceil_div(row, w.pool));
  sum.bias = product(e, w.cout);
  const bool per_row = s.variant == Variant::shift_reduce || s.variant == Variant::k_folded;
  if (per_row && s[K::base_n] < row) sum.segments = product(e, 2, s[K::base_m], s[K::base_n]);
  return sum;
}
std::int64_t ub_bytes_of(const Workload& workload, const Schedule& s) {
  return ub_sum(conv(workload), s).total();
}

struct Im2colChecks {
  template <class V>
  static bool blocks(const Conv2dPool& w, const Schedule& s, V& visit) {
    const std::int64_t kept = kept_rows(w);
    if (block_rule(K::base_m, s, round_up(w.cout, 16), "Cout rounded up to 16", {K::base_m}, visit))
      return true;
    if (block_rule(K::base_n, s, product(s[K::rows], padded_row(w)), "rows*OWp",
                   {K::base_n, K::rows}, visit))
      return true;
    if (block_rule(K::base_k, s, round_up(reduction_length(w), 16), "Kh*Kw*Cin rounded up to 16",
                   {K::base_k}, visit)) {
      return true;
    }
    const std::int64_t rows = s[K::rows];
    return visit.rule("rows", rows >= 1 && rows % w.pool == 0 && rows <= kept, {K::rows}, rows,
                      kept, [&] {
                        return fmt::format(
                            "rows: must be a multiple of pool {} from {} to {}, so that no pooling "
                            "window crosses a strip; not {}",
                            w.pool, w.pool, kept, rows);
                      });
  }

  template <class V>
  static bool counts(const Conv2dPool& w, const Schedule& s, const Limits& limits, V& visit) {
    for (const Knob knob : {K::db_l0, K::db_l0c, K::l1, K::async}) {
      if (count_rule(knob, s, 1, 2, "", visit)) return true;
    }
    if (count_rule(K::deal_stride, s, 0, limits.vector_cores, "the number of vector cores ", visit))
      return true;
    const std::int64_t blocks = ceil_div(w.cout, std::max(1, s[K::base_m]));
    if (count_rule(K::split_m, s, 1, blocks, "the number of m blocks ", visit)) return true;
    if (block_rule(K::ub_m, s, round_up(w.cout, 16), "Cout rounded up to 16", {K::ub_m}, visit))
      return true;
    return count_rule(K::ub_tiles, s, 1, 64, "", visit);
  }

  template <class V>
  static bool matrix_buffers(const Conv2dPool& w, const Schedule& s, const Limits& limits,
                             V& visit) {
    const MatrixBytes bytes(w, s);
    if (l0_sums(bytes, limits, visit)) return true;
    return visit.sum("L1", limits.l1,
                     {K::base_m, K::base_n, K::base_k, K::step_ka, K::step_kb, K::l1, K::weights},
                     SumTerm{"e*base_k*base_m*step_ka*l1", bytes.l1_a_blocks},
                     SumTerm{"whole weights Cout*Kh*Kw*Cin*e (weights:resident)", bytes.l1_weights},
                     SumTerm{"e*base_k*base_n*step_kb*l1", bytes.l1_b_blocks});
  }

  template <class V>
  static bool steps(const Conv2dPool& w, const Schedule& s, V& visit) {
    const std::int64_t blocks = ceil_div(reduction_length(w), std::max(1, s[K::base_k]));
    return step_rules(s, blocks, visit);
  }

  template <class V>
  static void run(const Workload& workload, const Schedule& s, const Limits& limits, V& visit) {
    const Conv2dPool& w = conv(workload);
    if (blocks(w, s, visit) || counts(w, s, limits, visit) || matrix_buffers(w, s, limits, visit) ||
        steps(w, s, visit)) {
      return;
    }
    const UbSum ub = ub_sum(w, s);
    visit.sum("UB", limits.ub, {K::pool_buf, K::ub_m, K::ub_tiles},
              SumTerm{"e*ub_tiles*ub_m*OWp", ub.tiles},
              SumTerm{"e*ub_m*ceil(OWp/pool) (pool_buf:own)", ub.pooled},
              SumTerm{"e*Cout", ub.bias});
  }
};

std::optional<KnobRange> im2col_range(const Workload& workload, const Schedule& s,
                                      const Limits& limits, Knob knob) {
  const Conv2dPool& w = conv(workload);
  switch (knob) {
    case K::base_m:
    case K::ub_m:
      return KnobRange{16, round_up(w.cout, 16), 16};
    case K::base_n:
      return KnobRange{16, product(s[K::rows], padded_row(w)), 16};
    case K::base_k:
      return KnobRange{16, round_up(reduction_length(w), 16), 16};
    case K::step_ka:
    case K::step_kb:
      return KnobRange{1, ceil_div(reduction_length(w), std::max(1, s[K::base_k])), 1};
    case K::rows:
      return KnobRange{w.pool, kept_rows(w), w.pool};
    case K::deal_stride:
      return KnobRange{0, limits.vector_cores, 1};
    case K::split_m:
      return KnobRange{1, ceil_div(w.cout, std::max(1, s[K::base_m])), 1};
    case K::ub_tiles:
      return KnobRange{1, 64, 1};
    default:
      return std::nullopt;  // slots: 1 or 2
  }
}

const char* im2col_refuses(const Workload& workload) {
  const Conv2dPool& w = conv(workload);
  if (w.groups != 1)
    return "im2col has no grouped convolution (groups), and no other variant has it yet";
  if (w.dtype != DType::fp16 && w.dtype != DType::fp32) {
    return "im2col takes dtype fp16 or fp32, and no other variant takes more yet";
  }
  if (w.layout != Layout::nchw)
    return "im2col takes layout nchw, and no other variant takes nhwc yet";
  return nullptr;
}

// The published tile, 128x256x64 (64x256x32 in fp32), 6 rows, norm, order m, paired, halved where a
// limit asks for it.
Schedule im2col_hand(const Workload& workload, const Limits& limits) {
  const Conv2dPool& w = conv(workload);
  const bool fp32 = w.dtype == DType::fp32;
  Schedule s = default_schedule(conv2d_im2col_row(), workload);
  const auto set = [&](Knob knob, std::int64_t value) {
    s[knob] = static_cast<std::int32_t>(value);
  };
  const auto halve = [&](Knob knob) { set(knob, std::max(16, s[knob] / 32 * 16)); };
  std::int64_t rows = 6;
  while (rows > kept_rows(w)) rows = std::max(w.pool, rows / 2 / w.pool * w.pool);
  set(K::rows, rows);
  set(K::base_m, fp32 ? 64 : 128);
  set(K::base_n, 256);
  set(K::base_k, fp32 ? 32 : 64);
  while (s[K::base_m] > round_up(w.cout, 16)) halve(K::base_m);
  while (s[K::base_n] > product(rows, padded_row(w))) halve(K::base_n);
  while (s[K::base_k] > round_up(reduction_length(w), 16)) halve(K::base_k);
  MatrixBytes bytes(w, s);
  for (; bytes.l0a > limits.l0a && s[K::base_m] > 16; bytes = MatrixBytes(w, s)) halve(K::base_m);
  for (; bytes.l0c > limits.l0c && s[K::base_n] > 16; bytes = MatrixBytes(w, s)) halve(K::base_n);
  for (; (bytes.l0b > limits.l0b || bytes.l1() > limits.l1) && s[K::base_k] > 16;
       bytes = MatrixBytes(w, s))
    halve(K::base_k);
  while (ub_sum(w, s).total() > limits.ub && s[K::ub_m] > 16) halve(K::ub_m);
  return s;
}

VariantRow ascend_row(Variant variant, std::span<const VariantKnob> knobs) {
  VariantRow row;
  row.op = "conv2d_pool";
  row.variant = variant;
  row.kind = DeviceKind::npu;
  row.knobs = knobs;
  row.ub_bytes = ub_bytes_of;
  return row;
}

}  // namespace

const VariantRow& conv2d_im2col_row() {
  static const VariantRow row = [] {
    VariantRow r = ascend_row(Variant::im2col, kAscendKnobs<3, word::inplace>);
    r.refuses = im2col_refuses;
    set_limits<Im2colChecks>(r);
    r.range = im2col_range;
    r.for_each_point = im2col_for_each_point;
    r.space_size = im2col_space_size;
    r.hand = im2col_hand;
    return r;
  }();
  return row;
}

const VariantRow& conv2d_k_folded_row() {
  static const VariantRow row = [] {
    VariantRow r = ascend_row(Variant::k_folded, kAscendKnobs<2, word::own>);
    r.refuses = [](const Workload&) {
      return "k_folded has its text and its UB sum only, no model and no kernel yet; use im2col";
    };
    return r;
  }();
  return row;
}

const VariantRow& conv2d_shift_reduce_row() {
  static const VariantRow row = [] {
    VariantRow r = ascend_row(Variant::shift_reduce, kAscendKnobs<2, word::own>);
    r.refuses = [](const Workload&) {
      return "shift_reduce has its text and its UB sum only, no model and no kernel yet; use "
             "im2col";
    };
    return r;
  }();
  return row;
}

}  // namespace tilewright
