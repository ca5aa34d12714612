// SPDX-License-Identifier: Apache-2.0
#include "device_model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "device_model/bound.h"
#include "device_model/costed_program.h"
#include "device_model/costing.h"
#include "device_model/host_roofline.h"
#include "device_model/mxu_model.h"
#include "device_model/npu_model.h"
#include "device_model/simulator.h"
#include "schedules/space.h"
#include "schedules/variants.h"

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
  std::int64_t active = 0;
  for (std::int64_t v = 0; v < share.dealing.cube_cores * share.dealing.clients; ++v) {
    active += share.dealing.items_of_vector_core(v) > 0;
  }
  p.traffic_bytes[path_name(Path::gm_ub)] += active * share.vector_core_once_bytes;
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
  // Over the chip: the first item of every active core, and the others.
  const ChipShare share = model.share(workload, schedule, limits);
  std::int64_t active = 0;
  for (std::int64_t j = 0; j < share.dealing.cube_cores; ++j)
    active += share.dealing.items_of_cube_core(j) > 0;
  for (const bool first : {true, false}) {
    const std::int64_t items = first ? active : share.dealing.executions() - active;
    model.summarize_item(workload, schedule, limits, first, summary);
    for (const WorkTerm& term : summary.terms)
      add_traffic(p, costing, term.work, items * term.count);
    add_traffic(p, costing, summary.pool, items);
    if (!first) continue;
    for (const Work& work : summary.once) add_traffic(p, costing, work, active);
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
  TileProgram program;
  SimProgram costed;
  Simulator simulator;
  std::vector<EngineTimes> times;
  // Cores with the same number of items do the same. Core 0 has the most and decides.
  std::map<std::int64_t, std::int64_t> cores;  // items -> cores
  for (std::int64_t j = 0; j < share.dealing.cube_cores; ++j)
    ++cores[share.dealing.items_of_cube_core(j)];
  for (const auto& core : cores) {
    const std::int64_t items = core.first, count = core.second;
    if (items == 0) continue;
    model.lower(workload, schedule, limits, items, program);
    program.for_each_operation([&](const Operation& operation, std::int64_t executions) {
      add_traffic(p, costing, operation.work, count * executions);
    });
    cost_program(program, costing, costed);
    p.cycles = simulator.run_with_stalls(costed, {}, times);
  }
  add_once_per_vector_core(p, share);
  p.us = costing.microseconds(*p.cycles);
  for (std::size_t e = 0; e < times.size(); ++e) {
    const auto engine = static_cast<NpuEngine>(e);
    set_engine(p, engine, times[e].busy, costing);
    auto& stalls = p.engines[std::string(engine_name(engine))].stalls_us;
    for (std::size_t s = 0; s < kStallCount; ++s) {
      stalls[stall_name(static_cast<Stall>(s))] = costing.microseconds(times[e].stalls[s]);
    }
  }
  p.bottleneck = busiest(p);
  return p;
}

Prediction host_bound(const Workload& workload, const Schedule& schedule, const Device& device) {
  const HostRoofline roofline = host_roofline(workload, schedule, device);
  Prediction p;
  p.us = static_cast<double>(roofline.nanoseconds()) / 1e3;
  p.macs = roofline.macs;
  p.traffic_bytes["memory"] = roofline.bytes;
  const auto engine = [&](const char* name, double ns) {
    p.engines[name].busy_us = ns / 1e3;
    p.engines[name].utilisation = p.us > 0 ? std::min(1.0, ns / 1e3 / p.us) : 0;
  };
  engine("FMA", roofline.compute_ns);
  engine("MEMORY", roofline.memory_ns);
  p.bottleneck = roofline.compute_ns >= roofline.memory_ns
                     ? "FMA: multiply-adds at the vector units' rate"
                     : "MEMORY: every array once through memory";
  return p;
}

// Why there is no answer, or nothing.
std::optional<Error> refused(const Workload& workload, const Schedule& schedule,
                             const Device& device) {
  const auto reasons = infeasible_reasons(workload, schedule, limits_of(device));
  if (!reasons.empty()) return Error{ErrorKind::failed, "infeasible: " + reasons.front().message};
  const bool modelled = device.kind == DeviceKind::npu
                            ? find_npu_model(workload, schedule.variant) != nullptr
                        : device.kind == DeviceKind::host ? has_host_model(schedule.variant)
                        : device.kind == DeviceKind::mxu  ? has_mxu_model(workload)
                                                          : false;
  if (modelled) return std::nullopt;
  return Error{ErrorKind::failed,
               fmt::format("{} has no model on {} (kind {})", variant_name(schedule.variant),
                           device.name, kind_name(device.kind))};
}

}  // namespace

bool has_simulator(const Device& device) {
  return device.kind == DeviceKind::npu || device.kind == DeviceKind::mxu;
}

Result<Prediction> bound(const Workload& workload, const Schedule& schedule, const Device& device) {
  if (auto error = refused(workload, schedule, device)) return tl::unexpected<Error>(*error);
  if (device.kind == DeviceKind::host) return host_bound(workload, schedule, device);
  if (device.kind == DeviceKind::mxu) return mxu_bound(workload, schedule, device);
  return npu_bound(*find_npu_model(workload, schedule.variant), workload, schedule, device);
}

Result<Prediction> simulate(const Workload& workload, const Schedule& schedule,
                            const Device& device) {
  if (!has_simulator(device)) {
    return failure(
        fmt::format("{} has no simulator: run the kernel and measure instead", device.name));
  }
  if (auto error = refused(workload, schedule, device)) return tl::unexpected<Error>(*error);
  if (device.kind == DeviceKind::mxu) return mxu_simulate(workload, schedule, device);
  return npu_simulate(*find_npu_model(workload, schedule.variant), workload, schedule, device);
}

}  // namespace tilewright
