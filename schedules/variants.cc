// SPDX-License-Identifier: Apache-2.0
#include "schedules/variants.h"

#include <algorithm>
#include <array>

#include "schedules/conv1d_host.h"
#include "schedules/conv1d_mxu.h"
#include "schedules/conv2d_host.h"
#include "schedules/conv2d_npu.h"
#include "schedules/matmul_npu.h"
#include "schedules/operators.h"
#include "schedules/systolic.h"

namespace tilewright {

// Canonical order: by operator, device kind, then enum Variant.
std::span<const VariantRow* const> variant_rows() {
  static const std::array<const VariantRow*, 14> rows{
      &conv2d_direct_row(),           &conv2d_shift_reduce_row(),  &conv2d_k_folded_row(),
      &conv2d_im2col_row(),           &conv2d_systolic_row(),      &conv1d_direct_row(),
      &conv1d_folded_row(),           &conv1d_lane_masked_row(),   &conv1d_compact_k_row(),
      &conv1d_position_major_row(),   &conv1d_channel_major_row(), &matmul_blocked_npu_row(),
      &matmul_blocked_systolic_row(), &matmul_systolic_row(),
  };
  return rows;
}

const VariantRow* find_row(const Workload& workload, Variant variant, DeviceKind kind) {
  const std::string_view op = operator_of(workload).name;
  for (const VariantRow* row : variant_rows()) {
    if (row->variant == variant && row->kind == kind && row->op == op) return row;
  }
  return nullptr;
}

const VariantKnob* find_knob(const VariantRow& row, Knob knob) {
  const auto found = std::find_if(row.knobs.begin(), row.knobs.end(),
                                  [&](const VariantKnob& k) { return k.knob == knob; });
  return found == row.knobs.end() ? nullptr : &*found;
}

std::int32_t default_value(const VariantKnob& knob, const Workload& workload) {
  return knob.fallback_of != nullptr ? knob.fallback_of(workload) : knob.fallback;
}

Schedule default_schedule(const VariantRow& row, const Workload& workload) {
  Schedule schedule{row.variant, {}};
  for (const VariantKnob& knob : row.knobs) {
    if (!knob.required) schedule[knob.knob] = default_value(knob, workload);
  }
  return schedule;
}

std::string_view kind_name(DeviceKind kind) {
  constexpr std::array<std::string_view, 4> kNames{"host", "npu", "mxu", "systolic"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace tilewright
