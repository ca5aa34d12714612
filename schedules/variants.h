// SPDX-License-Identifier: Apache-2.0
// The variant table: one row per (operator, variant, kind of device) with its knobs, its limits,
// its grid and its hand schedule. The rows stand in the operator's own files; variants.cc only
// lists them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "schedules/limits.h"
#include "schedules/schedule.h"
#include "schedules/space.h"
#include "schedules/workload.h"

namespace tilewright {

using PointVisitor = std::function<void(const Schedule&)>;

struct VariantKnob {
  Knob knob{};
  std::int32_t fallback = 0;  // default where it does not depend on the workload
  std::int32_t (*fallback_of)(const Workload&) = nullptr;  // else
  bool required = false;                                   // no default: must be written
};

// Values of a knob among which the nearest legal one is looked for.
struct KnobRange {
  std::int64_t first = 0, last = 0, step = 1;
};

struct VariantRow {
  std::string_view op;  // operator's name
  Variant variant{};
  DeviceKind kind{};
  std::span<const VariantKnob> knobs;  // canonical order = order of enum Knob

  // Why this workload is not for this variant (a whole sentence, static), or nullptr.
  const char* (*refuses)(const Workload&) = nullptr;
  // The limits, three readings of one list of checks (limit_checks.h). Not set: the variant refuses
  // everything.
  const char* (*first_violation)(const Workload&, const Schedule&, const Limits&) = nullptr;
  std::uint64_t (*violated)(const Workload&, const Schedule&,
                            const Limits&) = nullptr;  // bit i = check i
  std::vector<Reason> (*reasons)(const VariantRow&, const Workload&, const Schedule&,
                                 const Limits&) = nullptr;
  std::optional<KnobRange> (*range)(const Workload&, const Schedule&, const Limits&,
                                    Knob) = nullptr;
  std::int64_t (*ub_bytes)(const Workload&, const Schedule&) = nullptr;  // npu
  // Bytes of one block of A and one of B, feasible or not; matrix products.
  std::int64_t (*block_bytes)(const Workload&, const Schedule&, const Limits&) = nullptr;

  void (*for_each_point)(const Workload&, const Limits&, Grid, const PointVisitor&) = nullptr;
  SpaceSize (*space_size)(const Workload&, const Limits&, Grid) = nullptr;
  Schedule (*hand)(const Workload&, const Limits&) = nullptr;  // may still violate a limit
};

std::span<const VariantRow* const> variant_rows();
// nullptr: there is no such variant of the workload's operator on this kind of device.
const VariantRow* find_row(const Workload& workload, Variant variant, DeviceKind kind);
const VariantKnob* find_knob(const VariantRow& row, Knob knob);
std::int32_t default_value(const VariantKnob& knob, const Workload& workload);
// All knobs at their defaults; those without default are 0.
Schedule default_schedule(const VariantRow& row, const Workload& workload);
std::string_view kind_name(DeviceKind kind);

}  // namespace tilewright
