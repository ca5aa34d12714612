// SPDX-License-Identifier: Apache-2.0
// The space of one workload, read from the variant table.
#include "schedules/space.h"

#include <fmt/format.h>

#include "schedules/limit_checks.h"
#include "schedules/operators.h"
#include "schedules/variants.h"

namespace tilewright {
namespace {

// Why no schedule of this variant can be asked for, or nullptr.
const char* refused(const VariantRow* row, const Workload& workload) {
  if (row == nullptr) return "there is no such variant of this operator on this kind of device";
  return row->refuses(workload);
}

}  // namespace

std::vector<Reason> infeasible_reasons(const Workload& workload, const Schedule& schedule,
                                       const Limits& limits) {
  const VariantRow* row = find_row(workload, schedule.variant, limits.kind);
  if (const char* why = refused(row, workload)) return {Reason{kWorkloadLimit, 0, 0, {}, {}, why}};
  return row->reasons(*row, workload, schedule, limits);
}

const char* first_violation(const Workload& workload, const Schedule& schedule,
                            const Limits& limits) {
  const VariantRow* row = find_row(workload, schedule.variant, limits.kind);
  if (refused(row, workload) != nullptr) return kWorkloadLimit;
  return row->first_violation(workload, schedule, limits);
}

std::int64_t ub_bytes(const Workload& workload, const Schedule& schedule) {
  const VariantRow* row = find_row(workload, schedule.variant, DeviceKind::npu);
  return row == nullptr || row->ub_bytes == nullptr ? 0 : row->ub_bytes(workload, schedule);
}

std::int64_t block_bytes(const Workload& workload, const Schedule& schedule, const Limits& limits) {
  const VariantRow* row = find_row(workload, schedule.variant, limits.kind);
  return row == nullptr || row->block_bytes == nullptr
             ? 0
             : row->block_bytes(workload, schedule, limits);
}

std::vector<Variant> variants_of(const Workload& workload, DeviceKind kind) {
  std::vector<Variant> variants;
  for (const VariantRow* row : variant_rows()) {
    if (row->op == operator_name(workload) && row->kind == kind) variants.push_back(row->variant);
  }
  return variants;
}

std::optional<std::string> refusal(const Workload& workload, Variant variant, DeviceKind kind) {
  const char* why = refused(find_row(workload, variant, kind), workload);
  return why == nullptr ? std::nullopt : std::optional<std::string>(why);
}

void for_each_point(const Workload& workload, Variant variant, const Limits& limits, Grid grid,
                    const std::function<void(const Schedule&)>& visit) {
  const VariantRow* row = find_row(workload, variant, limits.kind);
  if (refused(row, workload) == nullptr) row->for_each_point(workload, limits, grid, visit);
}

SpaceSize space_size(const Workload& workload, Variant variant, const Limits& limits, Grid grid) {
  const VariantRow* row = find_row(workload, variant, limits.kind);
  return refused(row, workload) == nullptr ? row->space_size(workload, limits, grid) : SpaceSize{};
}

Result<Schedule> hand_schedule(const Workload& workload, Variant variant, const Limits& limits) {
  const VariantRow* row = find_row(workload, variant, limits.kind);
  if (const char* why = refused(row, workload))
    return failure(fmt::format("{}: {}", to_key(workload), why));
  const Schedule schedule = row->hand(workload, limits);
  const auto reasons = infeasible_reasons(workload, schedule, limits);
  if (reasons.empty()) return schedule;
  return failure(fmt::format("{}: the hand schedule {} does not fit: {}", to_key(workload),
                             to_text(schedule, workload, limits.kind), reasons.front().message));
}

}  // namespace tilewright
