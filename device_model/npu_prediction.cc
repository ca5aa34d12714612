// SPDX-License-Identifier: Apache-2.0
#include "device_model/npu_prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "device_model/bound.h"
#include "device_model/costed_program.h"
#include "device_model/costing.h"
#include "device_model/simulator.h"

namespace tilewright {
namespace {

double rounded_down_us(std::int64_t cycles, double clock_mhz) {
  const double us = static_cast<double>(cycles) / clock_mhz;
  return std::floor(us * 1e6) / 1e6;
}

// Adds what `times` executions of this work move and multiply.
void add_traffic(Prediction& p, const Costing& costing, const Work& work, std::int64_t times) {
  if (times == 0) return;
  if (work.kind == WorkKind::product) p.macs += times * work.macs();
  if (work.path != Path::none) p.traffic_bytes[path_name(work.path)] += times * work.bytes();
  if (work.kind == WorkKind::pool)
    p.traffic_bytes[path_name(Path::ub_gm)] += times * work.ub_write_bytes;
  if (const std::int64_t bytes = costing.off_chip_bytes(work); bytes > 0)
    p.traffic_bytes["off_chip"] += times * bytes;
}

void add_once_per_vector_core(Prediction& p, const ChipShare& share) {
  if (share.vector_once_bytes > 0)
    p.traffic_bytes[path_name(Path::gm_ub)] += share.vector_once_bytes;
}

void set_engine(Prediction& p, NpuEngine engine, std::int64_t busy, const Costing& costing) {
  EngineUse& use = p.engines[std::string(engine_name(engine))];
  use.busy_us = costing.microseconds(busy);
  use.utilisation = p.us > 0 ? use.busy_us / p.us : 0;
}

std::string busiest(const Prediction& p) {
  const auto most = std::max_element(
      p.engines.begin(), p.engines.end(),
      [](const auto& a, const auto& b) { return a.second.busy_us < b.second.busy_us; });
  if (most == p.engines.end()) return "";
  return fmt::format("{} is busy {:.0f} % of the time", most->first,
                     100 * most->second.utilisation);
}

}  // namespace

Prediction npu_bound(const NpuVariantModel& model, const Workload& workload,
                     const Schedule& schedule, const Device& device) {
  const Limits limits = limits_of(device);
  const Costing costing(device);
  WorkSummary summary;
  model.summarize(workload, schedule, limits, summary);
  const BoundDetail detail = bound_detail(summary, costing);
  Prediction p;
  p.cycles = detail.cycles;
  p.us = rounded_down_us(detail.cycles, costing.clock_mhz());
  for (std::size_t e = 0; e < static_cast<std::size_t>(NpuEngine::vec0); ++e) {
    set_engine(p, static_cast<NpuEngine>(e), summary.items * detail.busy[e], costing);
  }
  const std::int64_t pool = costing.cost(summary.pool).hold;
  set_engine(p, NpuEngine::vec0, summary.client_items * pool, costing);
  set_engine(p, NpuEngine::vec1, (summary.items - summary.client_items) * pool, costing);
  // Over the chip: the first item of every core that has one, and the others.
  const ChipShare share = model.share(workload, schedule, limits);
  p.cores = share.cores;
  for (const CoreGroup& group : share.groups) {
    for (const bool first : {true, false}) {
      const std::int64_t items = group.cores * (first ? 1 : group.items - 1);
      model.summarize_item(workload, schedule, limits, group, first, summary);
      for (const WorkTerm& term : summary.terms)
        add_traffic(p, costing, term.work, items * term.count);
      add_traffic(p, costing, summary.pool, items);
      if (!first) continue;
      for (const Work& work : summary.once) add_traffic(p, costing, work, group.cores);
    }
  }
  add_once_per_vector_core(p, share);
  p.bottleneck = busiest(p);
  if (detail.ring_bound) p.bottleneck += "; slots of a buffer set the pace";
  return p;
}

Prediction npu_simulate(const NpuVariantModel& model, const Workload& workload,
                        const Schedule& schedule, const Device& device) {
  const Limits limits = limits_of(device);
  const Costing costing(device);
  const ChipShare share = model.share(workload, schedule, limits);
  Prediction p;
  p.cores = share.cores;
  p.cycles = 0;
  TileProgram program;
  SimProgram costed;
  Simulator simulator;
  std::vector<EngineTimes> times, latest;
  std::array<std::int64_t, kNpuEngines> busy{};  // over all cores
  double ends = 0;
  for (const CoreGroup& group : share.groups) {
    model.lower(workload, schedule, limits, group, program);
    program.for_each_operation([&](const Operation& operation, std::int64_t executions) {
      add_traffic(p, costing, operation.work, group.cores * executions);
    });
    cost_program(program, costing, costed);
    const std::int64_t end = simulator.run_with_stalls(costed, {}, times);
    ends += static_cast<double>(group.cores) * static_cast<double>(end);
    for (std::size_t e = 0; e < kNpuEngines; ++e) busy[e] += group.cores * times[e].busy;
    if (end <= *p.cycles) continue;
    p.cycles = end;
    latest = times;
  }
  add_once_per_vector_core(p, share);
  p.us = costing.microseconds(*p.cycles);
  const auto cores = static_cast<double>(share.cores);
  p.core_time_utilisation = ends / (cores * static_cast<double>(*p.cycles));
  for (std::size_t e = 0; e < latest.size(); ++e) {
    const auto engine = static_cast<NpuEngine>(e);
    set_engine(p, engine, latest[e].busy, costing);
    EngineUse& use = p.engines[std::string(engine_name(engine))];
    use.mean_busy_us = costing.microseconds(busy[e]) / cores;
    for (std::size_t s = 0; s < kStallCount; ++s) {
      use.stalls_us[stall_name(static_cast<Stall>(s))] = costing.microseconds(latest[e].stalls[s]);
    }
  }
  p.bottleneck = busiest(p);
  return p;
}

}  // namespace tilewright
