// SPDX-License-Identifier: Apache-2.0
#include "generators/emission_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedules/operators.h"

namespace tilewright {
namespace {

// More accumulators than this are no register tile, and more unrolled multiply-adds take the
// compiler seconds.
constexpr std::int64_t kMostAccumulators = 64;
constexpr std::int64_t kMostUnrolled = 512;
constexpr std::int64_t kFractal = 16;

using Problem = std::optional<std::string>;

std::int64_t nearest_multiple(std::int64_t value, std::int64_t of) {
  return std::max<std::int64_t>(1, (value + of / 2) / of) * of;
}

Problem multiple_of(const Schedule& schedule, Knob knob, std::int64_t of, std::string_view why) {
  const std::int64_t value = schedule[knob];
  if (value > 0 && value % of == 0) return {};
  return fmt::format("{} must be a multiple of {} ({}), not {}; nearest is {}", knob_name(knob), of,
                     why, value, nearest_multiple(value, of));
}

Problem at_most(const Schedule& schedule, Knob knob, std::int64_t most, std::string_view why) {
  if (schedule[knob] <= most) return {};
  return fmt::format("{} must be at most {} ({}), not {}", knob_name(knob), most, why,
                     schedule[knob]);
}

Problem vector_width(const Schedule& schedule) {
  const std::int64_t width = schedule[Knob::vec];
  if (width == 0 || width == 4 || width == 8 || width == 16) return {};
  return fmt::format("vec must be 0 (the target's), 4, 8 or 16, not {}", width);
}

Problem unrolled_work(std::int64_t accumulators, std::int64_t unroll) {
  if (accumulators > kMostAccumulators) {
    return fmt::format(
        "the register tile has {} vectors of accumulators, at most {}; make base_m or base_n "
        "smaller",
        accumulators, kMostAccumulators);
  }
  if (accumulators * unroll > kMostUnrolled) {
    return fmt::format(
        "unroll must be at most {} ({} accumulators, {} unrolled multiply-adds at most), not {}",
        std::max<std::int64_t>(1, kMostUnrolled / accumulators), accumulators, kMostUnrolled,
        unroll);
  }
  return {};
}

Problem first_of(std::initializer_list<Problem> problems) {
  for (const Problem& problem : problems) {
    if (problem) return problem;
  }
  return {};
}

Problem unsupported(const Conv2dPool& layer) {
  if (layer.groups != 1)
    return fmt::format("groups must be 1, not {}: no kernel splits channels yet", layer.groups);
  if (layer.layout != Layout::nchw) return "layout must be nchw: no kernel reads nhwc yet";
  if (layer.dtype != DType::fp32 && layer.dtype != DType::fp16) return "dtype must be fp32 or fp16";
  return {};
}

Problem conv2d_direct(const Conv2dPool& layer, const Schedule& schedule, std::int64_t vector) {
  if (Problem problem =
          first_of({vector_width(schedule),
                    multiple_of(schedule, Knob::base_m, vector, "elements of a vector"),
                    multiple_of(schedule, Knob::rows, layer.pool, "pool")})) {
    return problem;
  }
  const std::int64_t positions =
      std::min<std::int64_t>(schedule[Knob::base_n], layer.pooled_w() * layer.pool);
  return unrolled_work(schedule[Knob::base_m] / vector * positions, schedule[Knob::unroll]);
}

Problem conv2d_im2col(const Conv2dPool& layer, const Schedule& schedule,
                      std::int64_t vector_cores) {
  for (const Knob knob : {Knob::base_m, Knob::base_n, Knob::base_k, Knob::ub_m}) {
    if (Problem problem = multiple_of(schedule, knob, kFractal, "the matrix unit's block"))
      return problem;
  }
  const std::int64_t a = schedule[Knob::step_ka], b = schedule[Knob::step_kb];
  if (a % b != 0 && b % a != 0) {
    return fmt::format("one of step_ka {} and step_kb {} must divide the other", a, b);
  }
  for (const Knob knob : {Knob::db_l0, Knob::db_l0c, Knob::l1, Knob::async}) {
    if (Problem problem = at_most(schedule, knob, 2, "slots")) return problem;
  }
  return first_of(
      {multiple_of(schedule, Knob::rows, layer.pool, "pool"),
       at_most(schedule, Knob::deal_stride, vector_cores, "vector cores, or items are left out"),
       at_most(schedule, Knob::split_m, (layer.cout + kFractal - 1) / kFractal,
               "blocks of 16 channels"),
       at_most(schedule, Knob::ub_tiles, 64, "tiles")});
}

Problem conv2d(const Conv2dPool& layer, const Schedule& schedule, const EmissionLimits& limits,
               std::int64_t vector) {
  if (Problem problem = unsupported(layer)) return problem;
  switch (schedule.variant) {
    case Variant::direct:
      return conv2d_direct(layer, schedule, vector);
    case Variant::im2col:
      return conv2d_im2col(layer, schedule, limits.vector_cores);
    default:
      return fmt::format("there is no kernel of variant {} yet; use direct or im2col",
                         variant_name(schedule.variant));
  }
}

Problem conv1d(const Conv1dBank& layer, const Schedule& schedule, std::int64_t vector) {
  const bool folded = schedule.variant == Variant::folded_channel_major;
  if (!folded && schedule.variant != Variant::direct) {
    return fmt::format("there is no kernel of variant {} yet; use direct or folded_channel_major",
                       variant_name(schedule.variant));
  }
  if (layer.dtype != DType::fp32) return "dtype must be fp32";
  if (folded && (layer.symmetry != Symmetry::even_odd || layer.cout % 2 != 0)) {
    return "folded_channel_major needs symmetry:even_odd and an even cout; use direct";
  }
  if (folded && schedule[Knob::terms] != word::fp32) {
    return fmt::format("terms must be fp32, not {}: no kernel splits its operands yet",
                       knob_value_text(Knob::terms, schedule[Knob::terms]));
  }
  const std::int64_t group = folded ? layer.cout / 2 : layer.cout;
  const std::int64_t taps = folded ? (layer.k + 1) / 2 : layer.k;
  if (Problem problem =
          first_of({vector_width(schedule),
                    multiple_of(schedule, Knob::base_n, vector, "elements of a vector"),
                    multiple_of(schedule, Knob::m_tile, schedule[Knob::base_n], "base_n"),
                    at_most(schedule, Knob::base_m, group, "filters of a group"),
                    at_most(schedule, Knob::chains, taps, "products of an output")})) {
    return problem;
  }
  const std::int64_t chains = std::max(1, schedule[Knob::chains]);
  return unrolled_work(schedule[Knob::base_n] / vector * schedule[Knob::base_m] * chains,
                       schedule[Knob::unroll]);
}

}  // namespace

std::int64_t vector_elements(const Schedule& schedule, std::int64_t natural) {
  return schedule[Knob::vec] > 0 ? schedule[Knob::vec] : natural;
}

Result<void> check_emission(const Workload& workload, const Schedule& schedule,
                            const EmissionLimits& limits) {
  if (const char* why = operator_of(workload).no_kernel)
    return usage_error(fmt::format("{}: {}", to_key(workload), why));
  const std::int64_t vector = vector_elements(schedule, limits.vector);
  const Conv2dPool* layer = std::get_if<Conv2dPool>(&workload);
  const Problem problem = layer ? conv2d(*layer, schedule, limits, vector)
                                : conv1d(std::get<Conv1dBank>(workload), schedule, vector);
  if (!problem) return {};
  return usage_error(
      fmt::format("{}, {}: {}", to_key(workload), variant_name(schedule.variant), *problem));
}

}  // namespace tilewright
