// SPDX-License-Identifier: Apache-2.0
// What several verbs print: predictions, trials, proofs, as JSON with the contract's field names
// and as text.
#pragma once

#include <string>
#include <string_view>

#include "device_model/device.h"
#include "device_model/model.h"
#include "schedules/records.h"
#include "schedules/space.h"
#include "tuner/json.h"
#include "tuner/table.h"

namespace tilewright {

std::string_view status_name(TrialStatus status);
std::string_view run_state_name(RunState state);

// The schedule without the knobs that have their defaults: shorter, and parsed back to the same
// schedule.
std::string short_text(const Schedule& schedule, const Workload& workload, DeviceKind kind);

// engines{NAME:{busy_us,utilisation,stalls{}}}, traffic_bytes{}, macs, bottleneck; on a device
// without clock busy_cycles and stalls_cycles beside them
void add_prediction(Json& json, const Prediction& prediction);
std::string engines_table(const Prediction& prediction);  // busiest first
// "867.1 us (1300655 cycles)"; on a device without clock the cycles alone.
std::string time_text(const Prediction& prediction);

Json reasons_json(const std::vector<Reason>& reasons);
std::string reasons_text(const std::vector<Reason>& reasons);

Json best_json(const BestRecord& best);  // also what `tune` prints, without its run's figures
Json trial_json(const TrialRecord& trial);

// "proved optimal of 12,345 feasible points (coarse grid)", "gap at most 3.1 %", "fastest of 12
// measured"
std::string proof_text(const ProofRecord& proof);
std::string verdict_text(
    const VerdictRecord& verdict);  // "ok, worst ratio 0.27", "mismatch: 3 of 1000 ..."

}  // namespace tilewright
