// SPDX-License-Identifier: Apache-2.0
// A Schedule is a variant (the formulation of the operator) and the values of its knobs. It is a
// flat value so that the search can handle hundreds of millions of them; its text
// (`im2col/base_m:128,base_n:256,...`) is the only interchange.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "schedules/result.h"
#include "schedules/workload.h"

namespace tilewright {

// Every knob of the product, in canonical text order. What each means: knob table in knobs.cc.
enum class Knob : std::uint8_t {
  base_m,
  base_n,
  base_k,
  step_m,
  step_n,
  step_ka,
  step_kb,
  cores_m,
  cores_n,
  rows,
  m_tile,
  db_l0,
  db_l0c,
  l1,
  stages,
  order,
  load,
  deal,
  deal_stride,
  split_m,
  weights,
  async,
  transdata,
  ub_m,
  ub_tiles,
  pool_buf,
  cin_block,
  terms,
  prep_groups,
  lifetime,
  chains,
  unroll,
  fold,
  par,
  vec,
};
inline constexpr std::size_t kKnobCount = static_cast<std::size_t>(Knob::vec) + 1;

// Values of the knobs whose text is a word. The number is what Schedule holds.
namespace word {
enum Load : std::int32_t { norm, mdl };
enum Order : std::int32_t { order_m, order_n };  // text: m, n
enum Deal : std::int32_t { paired, cube_first };
enum Weights : std::int32_t { stream, resident };
enum Transdata : std::int32_t { on_host, on_device };  // text: host, device
enum PoolBuf : std::int32_t { own, inplace };
enum Lifetime : std::int32_t { keep, instant };  // text: resident, instant
enum Fold : std::int32_t { both, group };
enum Par : std::int32_t { rows, channels, none };
// Precision sets of the filter bank, conv1d.md section 4.
enum Terms : std::int32_t { hp1, hp3, hp4, rect6_x3w2, rect6_x2w3, hp5_x, hp5_w, tri6, hp9, fp32 };
}  // namespace word

// Of conv2d_pool up to load3d (direct: host, of both operators), then of conv1d_bank.
enum class Variant : std::uint8_t {
  direct,
  shift_reduce,
  k_folded,
  im2col,
  load3d,
  lane_masked,
  compact_k,
  folded_position_major,
  folded_channel_major,
  blocked,   // matmul
  systolic,  // matmul, and a convolution as its im2col product
};

// What a variant is scheduled for; a device file states its kind.
enum class DeviceKind : std::uint8_t { host, npu, mxu, systolic };

struct Schedule {
  Variant variant = Variant::direct;
  std::array<std::int32_t, kKnobCount> values{};  // knobs that the variant does not have stay 0
  std::int32_t operator[](Knob knob) const { return values[static_cast<std::size_t>(knob)]; }
  std::int32_t& operator[](Knob knob) { return values[static_cast<std::size_t>(knob)]; }
  friend bool operator==(const Schedule&, const Schedule&) = default;
  // clang-tidy 14 takes the generated comparison with 0 for a null pointer.
  friend auto operator<=>(const Schedule&,
                          const Schedule&) = default;  // NOLINT(modernize-use-nullptr)
};

std::string_view knob_name(Knob knob);
std::optional<Knob> find_knob(std::string_view name);
// Words of a knob in value order; empty for knobs that hold a number.
std::span<const std::string_view> knob_words(Knob knob);
std::string knob_value_text(Knob knob, std::int32_t value);
std::string_view knob_meaning(Knob knob);  // one line for help and explain
std::string_view variant_name(Variant variant);

// Parses `variant/knob:value,...` for this workload on this kind of device. Knobs left out take
// their defaults (some depend on the workload); knobs without default must be written. Errors:
// unknown variant or knob (nearest offered), a knob of another variant, a value that is no number
// or word of the knob, a knob given twice, one missing. Whether the schedule fits is not asked
// here: see space.h.
Result<Schedule> parse_schedule(std::string_view text, const Workload& workload, DeviceKind kind);
// Full canonical text: every knob of the variant, in canonical order. parse(print(s)) == s.
std::string to_text(const Schedule& schedule, const Workload& workload, DeviceKind kind);

}  // namespace tilewright
