// SPDX-License-Identifier: Apache-2.0
#include "device_model/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "device_model/host_roofline.h"
#include "device_model/mxu_model.h"
#include "device_model/npu_model.h"
#include "device_model/npu_prediction.h"
#include "device_model/systolic_model.h"
#include "schedules/space.h"
#include "schedules/variants.h"

namespace tilewright {
namespace {

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
  bool modelled = false;
  switch (device.kind) {
    case DeviceKind::host:
      modelled = has_host_model(schedule.variant);
      break;
    case DeviceKind::npu:
      modelled = find_npu_model(workload, schedule.variant) != nullptr;
      break;
    case DeviceKind::mxu:
      modelled = has_mxu_model(workload);
      break;
    case DeviceKind::systolic:
      modelled = has_systolic_model(schedule.variant);
      break;
  }
  if (modelled) return std::nullopt;
  return Error{ErrorKind::failed,
               fmt::format("{} has no model on {} (kind {})", variant_name(schedule.variant),
                           device.name, kind_name(device.kind))};
}

}  // namespace

bool has_simulator(const Device& device) { return device.kind != DeviceKind::host; }

Result<Prediction> bound(const Workload& workload, const Schedule& schedule, const Device& device) {
  if (auto error = refused(workload, schedule, device)) return tl::unexpected<Error>(*error);
  if (device.kind == DeviceKind::host) return host_bound(workload, schedule, device);
  if (device.kind == DeviceKind::mxu) return mxu_bound(workload, schedule, device);
  if (device.kind == DeviceKind::systolic) return systolic_prediction(workload, schedule, device);
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
  if (device.kind == DeviceKind::systolic) return systolic_simulate(workload, schedule, device);
  return npu_simulate(*find_npu_model(workload, schedule.variant), workload, schedule, device);
}

}  // namespace tilewright
