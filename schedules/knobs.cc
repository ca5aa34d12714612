// SPDX-License-Identifier: Apache-2.0
// The knob table: name, words (for knobs whose value is a word), meaning. Which variant has which
// knob, and its default, is the variants' affair.
#include <fmt/format.h>

#include <algorithm>

#include "schedules/schedule.h"

namespace tilewright {
namespace {

struct KnobRow {
  std::string_view name;
  std::string_view meaning;
  std::span<const std::string_view> words{};
};

constexpr std::array<std::string_view, 2> kLoad{"norm", "mdl"};
constexpr std::array<std::string_view, 2> kOrder{"m", "n"};
constexpr std::array<std::string_view, 2> kDeal{"paired", "cube_first"};
constexpr std::array<std::string_view, 2> kWeights{"stream", "resident"};
constexpr std::array<std::string_view, 2> kTransdata{"host", "device"};
constexpr std::array<std::string_view, 2> kPoolBuf{"own", "inplace"};
constexpr std::array<std::string_view, 10> kTerms{
    "hp1", "hp3", "hp4", "rect6_x3w2", "rect6_x2w3", "hp5_x", "hp5_w", "tri6", "hp9", "fp32"};
constexpr std::array<std::string_view, 2> kLifetime{"resident", "instant"};
constexpr std::array<std::string_view, 2> kFold{"both", "group"};
constexpr std::array<std::string_view, 3> kPar{"rows", "channels", "none"};

// In the order of enum Knob.
constexpr std::array<KnobRow, kKnobCount> kKnobs{{
    {"base_m", "output channels of the innermost tile (L0 of an NPU, registers of a CPU)"},
    {"base_n", "output positions of the innermost tile"},
    {"base_k", "reduction length of the innermost tile; on a CPU input channels of one block"},
    {"step_m", "base blocks along m in one L1 block"},
    {"step_n", "base blocks along n in one L1 block"},
    {"step_ka", "base blocks along k in one L1 block of A (weights)"},
    {"step_kb", "base blocks along k in one L1 block of B (image)"},
    {"cores_m", "cores along m"},
    {"cores_n", "cores along n"},
    {"rows", "convolution output rows of a strip; a multiple of pool"},
    {"m_tile", "output positions whose operands are prepared together"},
    {"db_l0", "slots of L0A and of L0B: 2 loads the next block during a product"},
    {"db_l0c", "slots of the accumulator L0C"},
    {"l1", "slots of L1"},
    {"stages", "preparation stages in flight"},
    {"order", "which blocks are outermost: m or n", kOrder},
    {"load", "one base block a copy (norm) or a whole step block a copy (mdl)", kLoad},
    {"deal", "how items go to cores: by vector core (paired) or to cube cores first", kDeal},
    {"deal_stride", "stride of paired dealing; 0 = number of vector cores", {}},
    {"split_m", "parts into which the channels of an item are dealt", {}},
    {"weights", "load weights when needed (stream) or keep all of them in L1 (resident)", kWeights},
    {"async", "accumulator slots in GM per core: 2 pools item i while item i+1 multiplies"},
    {"transdata", "where the layout step runs", kTransdata},
    {"ub_m", "channels of one tile in UB"},
    {"ub_tiles", "tiles in UB"},
    {"pool_buf", "pooling into a buffer of its own or in place", kPoolBuf},
    {"cin_block", "input channels of one block in L1"},
    {"terms", "set of part products, or fp32 without split", kTerms},
    {"prep_groups", "independent preparation groups in flight"},
    {"lifetime", "keep input parts on chip (resident) or rebuild them (instant)", kLifetime},
    {"chains", "independent accumulation chains: tap = q + chains*r"},
    {"unroll", "taps of the innermost reduction loop per iteration"},
    {"fold", "fold both parity groups in one pass, or each group when it is used", kFold},
    {"par", "axis that runs in parallel threads", kPar},
    {"vec", "elements of a vector; 0 = the target's"},
}};

const KnobRow& row(Knob knob) { return kKnobs[static_cast<std::size_t>(knob)]; }

// In the order of enum Variant.
constexpr std::array<std::string_view, 11> kVariantNames{"direct",
                                                         "shift_reduce",
                                                         "k_folded",
                                                         "im2col",
                                                         "load3d",
                                                         "lane_masked",
                                                         "compact_k",
                                                         "folded_position_major",
                                                         "folded_channel_major",
                                                         "blocked",
                                                         "systolic"};

}  // namespace

std::string_view knob_name(Knob knob) { return row(knob).name; }
std::span<const std::string_view> knob_words(Knob knob) { return row(knob).words; }
std::string_view knob_meaning(Knob knob) { return row(knob).meaning; }
std::string_view variant_name(Variant variant) {
  return kVariantNames[static_cast<std::size_t>(variant)];
}

std::optional<Knob> find_knob(std::string_view name) {
  const auto found = std::find_if(kKnobs.begin(), kKnobs.end(),
                                  [&](const KnobRow& knob) { return knob.name == name; });
  if (found == kKnobs.end()) return std::nullopt;
  return static_cast<Knob>(found - kKnobs.begin());
}

std::string knob_value_text(Knob knob, std::int32_t value) {
  const auto words = knob_words(knob);
  const auto index = static_cast<std::size_t>(value);
  return value >= 0 && index < words.size() ? std::string(words[index]) : fmt::to_string(value);
}

}  // namespace tilewright
