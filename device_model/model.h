// SPDX-License-Identifier: Apache-2.0
// The two readings of one program: a closed-form lower bound and a simulation. Law 1: bound <=
// simulated, always.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device_model/device.h"
#include "schedules/schedule.h"
#include "schedules/workload.h"

namespace tilewright {

// Changes with every change of a formula in this folder or of a lowering: stored results of another
// version are stale.
inline constexpr const char* kModelVersion = "1";

struct EngineUse {
  double busy_us = 0;       // busiest core
  double utilisation = 0;   // busy / end of that core
  double mean_busy_us = 0;  // simulate only: over all cores of the kernel, idle ones included
  // simulate only: input_not_there, slot_not_free, engine_busy, excluded, call (held by the head or
  // a call), finished (nothing left to do). busy + stalls = end of the core, for every engine.
  std::map<std::string, double> stalls_us;
  // The same on a device without clock, where times in us stay 0.
  std::int64_t busy_cycles = 0;
  std::map<std::string, std::int64_t> stalls_cycles;
};

struct Prediction {
  std::optional<std::int64_t>
      cycles;     // device clock; none on a device without clock model (host: microseconds only)
  double us = 0;  // 0 on a device without clock (kind mxu): only cycles are known
  std::map<std::string, EngineUse> engines;           // by the device's engine names
  std::map<std::string, std::int64_t> traffic_bytes;  // path -> bytes over the chip
  std::int64_t macs = 0;
  std::int64_t cores = 1;            // that the kernel is launched on
  double core_time_utilisation = 0;  // simulate only: sum of the cores' ends / (cores * end)
  // On a device with one peak and one channel (kind systolic): shares of both that are used.
  std::optional<double> compute_utilisation, bandwidth_utilisation;
  std::string bottleneck;  // the engine that bounds it, in words
};

// Lower bound on the time of a feasible schedule, rounded down. Errors: infeasible (message of the
// first reason), a variant without model on this kind of device.
Result<Prediction> bound(const Workload& workload, const Schedule& schedule, const Device& device);
// Event simulation with finite buffering. On the host there is none: an error says so (measure
// instead).
Result<Prediction> simulate(const Workload& workload, const Schedule& schedule,
                            const Device& device);
bool has_simulator(const Device& device);

// For the search: one model per (workload, device) that bounds and simulates many schedules without
// allocation per call. Cycles for devices with a clock; on the host, nanoseconds. Precondition: the
// schedule is feasible.
class CostModel {
 public:
  CostModel(const Workload& workload, const Device& device);
  ~CostModel();
  CostModel(CostModel&&) noexcept;
  CostModel& operator=(CostModel&&) noexcept;
  std::int64_t bound_cycles(const Schedule& schedule);
  std::int64_t simulated_cycles(const Schedule& schedule);  // precondition: has_simulator(device)
  double microseconds(std::int64_t cycles) const;           // 0 on a device without clock

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tilewright
