// SPDX-License-Identifier: Apache-2.0
// The search's view of the model: many schedules of one workload on one device, without allocation
// per call.
#include <algorithm>
#include <cassert>

#include "device_model/bound.h"
#include "device_model/costed_program.h"
#include "device_model/costing.h"
#include "device_model/host_roofline.h"
#include "device_model/model.h"
#include "device_model/mxu_bound.h"
#include "device_model/mxu_model.h"
#include "device_model/npu_model.h"
#include "device_model/simulator.h"
#include "device_model/systolic_bound.h"
#include "schedules/conv1d_mxu_lowering.h"
#include "schedules/units.h"

namespace tilewright {

struct CostModel::State {
  Workload workload;
  Device device;
  Limits limits;
  std::optional<Costing> costing;  // NPU
  const NpuVariantModel* model = nullptr;
  Variant variant{};  // of model
  WorkSummary summary;
  TileProgram program;
  SimProgram costed;
  Simulator simulator;
  std::optional<MxuCosting> mxu;
  std::optional<SystolicCosting> systolic;

  const NpuVariantModel& model_of(const Schedule& schedule) {
    if (model == nullptr || variant != schedule.variant) {
      model = find_npu_model(workload, schedule.variant);
      variant = schedule.variant;
    }
    assert(model != nullptr);
    return *model;
  }
};

CostModel::CostModel(const Workload& workload, const Device& device)
    : state_(std::make_unique<State>(
          State{workload, device, limits_of(device), {}, nullptr, {}, {}, {}, {}, {}, {}, {}})) {
  if (device.kind == DeviceKind::npu) state_->costing.emplace(device);
  if (device.kind == DeviceKind::mxu) state_->mxu.emplace(device);
  if (device.kind == DeviceKind::systolic) state_->systolic.emplace(device);
}
CostModel::~CostModel() = default;
CostModel::CostModel(CostModel&&) noexcept = default;
CostModel& CostModel::operator=(CostModel&&) noexcept = default;

std::int64_t CostModel::bound_cycles(const Schedule& schedule) {
  State& s = *state_;
  if (s.mxu) {
    summarize_bank(std::get<Conv1dBank>(s.workload), schedule, s.limits, s.summary);
    return mxu_bound(s.summary, *s.mxu).ticks / MxuCosting::kTicks;
  }
  if (s.systolic)
    return systolic_bound(systolic_plan(s.workload, schedule, s.limits), *s.systolic).cycles;
  if (!s.costing) return host_roofline(s.workload, schedule, s.device).nanoseconds();
  s.model_of(schedule).summarize(s.workload, schedule, s.limits, s.summary);
  return tilewright::bound_cycles(s.summary, *s.costing);
}

std::int64_t CostModel::simulated_cycles(const Schedule& schedule) {
  State& s = *state_;
  if (s.mxu) {
    lower_bank(std::get<Conv1dBank>(s.workload), schedule, s.limits, s.program);
    cost_program(s.program, *s.mxu, s.costed);
    return ceil_div(s.simulator.run(s.costed), MxuCosting::kTicks);
  }
  if (s.systolic) {
    lower_systolic(systolic_plan(s.workload, schedule, s.limits), s.program);
    cost_program(s.program, *s.systolic, s.costed);
    return s.simulator.run(s.costed);
  }
  assert(s.costing);
  const NpuVariantModel& model = s.model_of(schedule);
  CoreGroups groups;
  model.latest(s.workload, schedule, s.limits, groups);
  std::int64_t latest = 0;
  for (const CoreGroup& group : groups) {
    model.lower(s.workload, schedule, s.limits, group, s.program);
    cost_program(s.program, *s.costing, s.costed);
    latest = std::max(latest, s.simulator.run(s.costed));
  }
  return latest;
}

double CostModel::microseconds(std::int64_t cycles) const {
  if (state_->mxu) return 0;
  if (state_->systolic) return state_->systolic->microseconds(cycles);
  return state_->costing ? state_->costing->microseconds(cycles)
                         : static_cast<double>(cycles) / 1e3;
}

}  // namespace tilewright
