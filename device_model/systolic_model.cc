// SPDX-License-Identifier: Apache-2.0
#include "device_model/systolic_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "device_model/simulator.h"
#include "device_model/systolic_bound.h"

namespace tilewright {
namespace {

double real(std::int64_t value) { return static_cast<double>(value); }

// Fills in what both readings know: the two engines' work, how much of the peak and of the channel
// is used, and which of them binds.
void finish(Prediction& p, const SystolicBound& totals, const SystolicCosting& costing,
            DType dtype) {
  for (std::size_t e = 0; e < kSystolicEngines; ++e) {
    EngineUse& use = p.engines[std::string(engine_name(static_cast<SystolicEngine>(e)))];
    use.busy_us = use.mean_busy_us = costing.microseconds(totals.busy[e]);
    use.utilisation = real(totals.busy[e]) / real(std::max<std::int64_t>(*p.cycles, 1));
  }
  p.traffic_bytes[path_name(Path::dma_in)] = totals.loaded_bytes;
  p.traffic_bytes[path_name(Path::dma_out)] = totals.stored_bytes;
  p.macs = totals.macs;
  const double seconds = costing.microseconds(*p.cycles) * 1e-6;
  p.compute_utilisation = real(p.macs) / costing.peak_macs_per_second(dtype) / seconds;
  p.bandwidth_utilisation =
      real(totals.loaded_bytes + totals.stored_bytes) / costing.bytes_per_second() / seconds;
  const bool array = totals.busy[0] >= totals.busy[1];
  p.bottleneck = fmt::format("{}: {:.1f} % of the peak, {:.1f} % of the bandwidth",
                             array ? "ARRAY binds" : "OFF_CHIP binds", 100 * *p.compute_utilisation,
                             100 * *p.bandwidth_utilisation);
}

}  // namespace

bool has_systolic_model(Variant variant) {
  return variant == Variant::blocked || variant == Variant::systolic;
}

Prediction systolic_prediction(const Workload& workload, const Schedule& schedule,
                               const Device& device) {
  const SystolicCosting costing(device);
  const SystolicPlan plan = systolic_plan(workload, schedule, limits_of(device));
  const SystolicBound bound = systolic_bound(plan, costing);
  Prediction p;
  p.cycles = bound.cycles;
  p.us = std::floor(costing.microseconds(bound.cycles) * 1e6) / 1e6;
  finish(p, bound, costing, plan.dtype);
  return p;
}

Prediction systolic_simulate(const Workload& workload, const Schedule& schedule,
                             const Device& device) {
  const SystolicCosting costing(device);
  const SystolicPlan plan = systolic_plan(workload, schedule, limits_of(device));
  TileProgram program;
  SimProgram costed;
  lower_systolic(plan, program);
  cost_program(program, costing, costed);
  std::vector<EngineTimes> times;
  Prediction p;
  p.cycles = Simulator().run_with_stalls(costed, {}, times);
  p.us = costing.microseconds(*p.cycles);
  p.core_time_utilisation = 1;
  SystolicBound totals;
  program.for_each_operation([&](const Operation& operation, std::int64_t executions) {
    const Work& work = operation.work;
    if (work.path == Path::dma_in) totals.loaded_bytes += executions * work.bytes();
    if (work.path == Path::dma_out) totals.stored_bytes += executions * work.bytes();
    if (work.path == Path::none) totals.macs += executions * work.macs();
  });
  for (std::size_t e = 0; e < kSystolicEngines; ++e) totals.busy[e] = times[e].busy;
  finish(p, totals, costing, plan.dtype);
  for (std::size_t e = 0; e < kSystolicEngines; ++e) {
    auto& stalls = p.engines[std::string(engine_name(static_cast<SystolicEngine>(e)))].stalls_us;
    for (std::size_t s = 0; s < kStallCount; ++s)
      stalls[stall_name(static_cast<Stall>(s))] = costing.microseconds(times[e].stalls[s]);
  }
  return p;
}

double needed_bandwidth(const Workload& workload, const Schedule& schedule, const Device& device) {
  const SystolicCosting costing(device);
  const SystolicPlan plan = systolic_plan(workload, schedule, limits_of(device));
  const std::int64_t macs = plan.multiply(plan.base.m, plan.base.n, plan.base.k).macs();
  return real(plan.a_bytes() + plan.b_bytes()) * costing.peak_macs_per_second(plan.dtype) /
         real(macs);
}

}  // namespace tilewright
