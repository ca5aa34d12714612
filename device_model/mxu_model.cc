// SPDX-License-Identifier: Apache-2.0
#include "device_model/mxu_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "device_model/mxu_bound.h"
#include "device_model/simulator.h"
#include "schedules/conv1d_mxu_lowering.h"
#include "schedules/units.h"

namespace tilewright {
namespace {

const Conv1dBank& bank(const Workload& workload) { return *std::get_if<Conv1dBank>(&workload); }

void add_traffic(Prediction& p, const Work& work, std::int64_t times) {
  if (work.kind == WorkKind::product) p.macs += times * work.macs();
  if (work.path != Path::none) p.traffic_bytes[path_name(work.path)] += times * work.bytes();
}

// The exclusion group is no engine of the chip: it shows in the others' stalls.
template <class BusyTicks>
void set_engines(Prediction& p, const BusyTicks& busy_ticks) {
  for (std::size_t e = 0; e < static_cast<std::size_t>(MxuEngine::hold_issue); ++e) {
    EngineUse& use = p.engines[std::string(engine_name(static_cast<MxuEngine>(e)))];
    use.busy_cycles = busy_ticks(e) / MxuCosting::kTicks;
    use.utilisation =
        *p.cycles > 0 ? static_cast<double>(use.busy_cycles) / static_cast<double>(*p.cycles) : 0;
  }
  const auto most = std::max_element(
      p.engines.begin(), p.engines.end(),
      [](const auto& a, const auto& b) { return a.second.busy_cycles < b.second.busy_cycles; });
  p.bottleneck =
      fmt::format("{} is busy {:.0f} % of the time", most->first, 100 * most->second.utilisation);
}

}  // namespace

bool has_mxu_model(const Workload& workload) {
  return std::holds_alternative<Conv1dBank>(workload);
}

Prediction mxu_bound(const Workload& workload, const Schedule& schedule, const Device& device) {
  WorkSummary summary;
  summarize_bank(bank(workload), schedule, limits_of(device), summary);
  const MxuBound bound = mxu_bound(summary, MxuCosting(device));
  Prediction p;
  p.cycles = bound.ticks / MxuCosting::kTicks;
  for (const WorkTerm& term : summary.terms) add_traffic(p, term.work, term.count);
  set_engines(p, [&](std::size_t e) { return bound.busy[e]; });
  if (bound.ring_bound) {
    p.bottleneck += "; slots of a buffer set the pace";
  } else if (bound.busy[static_cast<std::size_t>(MxuEngine::hold_issue)] > bound.ticks / 10 * 9) {
    p.bottleneck += "; transposes and products exclude each other and set the pace";
  }
  return p;
}

Prediction mxu_simulate(const Workload& workload, const Schedule& schedule, const Device& device) {
  TileProgram program;
  SimProgram costed;
  lower_bank(bank(workload), schedule, limits_of(device), program);
  cost_program(program, MxuCosting(device), costed);
  std::vector<EngineTimes> times;
  Prediction p;
  p.cycles = ceil_div(Simulator().run_with_stalls(costed, {}, times), MxuCosting::kTicks);
  program.for_each_operation([&](const Operation& operation, std::int64_t executions) {
    add_traffic(p, operation.work, executions);
  });
  set_engines(p, [&](std::size_t e) { return times[e].busy; });
  for (std::size_t e = 0; e < static_cast<std::size_t>(MxuEngine::hold_issue); ++e) {
    auto& stalls = p.engines[std::string(engine_name(static_cast<MxuEngine>(e)))].stalls_cycles;
    for (std::size_t s = 0; s < kStallCount; ++s) {
      stalls[stall_name(static_cast<Stall>(s))] = times[e].stalls[s] / MxuCosting::kTicks;
    }
  }
  return p;
}

}  // namespace tilewright
