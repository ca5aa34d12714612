// SPDX-License-Identifier: Apache-2.0
// The verbs of the command line: one row in the table (verbs.cc) and one .cc each.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "db/store.h"
#include "device_model/device.h"
#include "schedules/schedule.h"
#include "schedules/workload.h"
#include "tuner/installation.h"
#include "tuner/json.h"
#include "tuner/options.h"
#include "tuner/progress.h"

namespace tilewright {

// What a verb gets from main.
struct Session {
  Installation installation;  // with --workloads-dir and --devices-dir applied
  Progress& progress;
  std::string command_line;  // as stored with runs
  std::function<bool()> stop;
};

// What a verb gives back: main prints one of the two, and ends with 1 if the answer is a bad one
// (infeasible, mismatch).
struct Report {
  std::string text;
  Json json;
  bool failed = false;
};

struct Verb {
  CommandLine command;
  Result<Report> (*run)(const Arguments&, Session&);
};

std::span<const Verb> verbs();
const Verb* find_verb(std::string_view name);

Verb devices_verb();
Verb workloads_verb();
Verb space_verb();
Verb explain_verb();
Verb estimate_verb();
Verb simulate_verb();
Verb tune_verb();
Verb query_verb();
Verb generate_verb();
Verb verify_verb();
Verb run_verb();
Verb demo_verb();

// ------------------------------------------------------------------------------------------------
// Arguments that several verbs share.

// The layer and device of a verb with WORKLOAD and --device.
struct LayerOnDevice {
  std::string name;  // as given
  Workload workload;
  Device device;
};
Result<LayerOnDevice> layer_on_device(const Arguments& arguments, const Session& session);
// SCHEDULE (or --schedule) of the layer, parsed; whether it fits is not asked.
Result<Schedule> schedule_argument(std::string_view text, const LayerOnDevice& layer);
// --threads, as many as the machine has if it is not given. More than kMostThreads is a slip.
inline constexpr std::int64_t kMostThreads = 1024;
Result<std::int64_t> threads_argument(const Arguments& arguments);
Result<Store> open_store(const Arguments& arguments, OpenMode mode);

extern const OptionRow kDeviceOption;
extern const OptionRow kSetOption;  // beside every kDeviceOption
extern const OptionRow kDatabaseOption;
extern const PositionalRow kWorkloadArgument;
extern const PositionalRow kScheduleArgument;

}  // namespace tilewright
