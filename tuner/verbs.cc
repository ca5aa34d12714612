// SPDX-License-Identifier: Apache-2.0
#include "tuner/verbs.h"

#include <fmt/format.h>

#include <vector>

namespace tilewright {

const OptionRow kDeviceOption = {"--device", "NAME", "a name from devices/, or a TOML file"};
const OptionRow kSetOption = {
    "--set", "KEY=VALUE",
    "a what-if question: another number of the device, clock_mhz=1800; may be repeated", true};
const OptionRow kDatabaseOption = {"--db", "FILE", "schedule database (tilewright.db)"};
const PositionalRow kWorkloadArgument = {"WORKLOAD",
                                         "a name from workloads/, a TOML file, or a canonical key"};
const PositionalRow kScheduleArgument = {
    "SCHEDULE", "variant/knob:value,...; knobs left out take their defaults"};

std::span<const Verb> verbs() {
  static const std::vector<Verb> table = {
      devices_verb(),  workloads_verb(), space_verb(), explain_verb(),
      estimate_verb(), simulate_verb(),  tune_verb(),  query_verb(),
      generate_verb(), verify_verb(),    run_verb(),   demo_verb(),
  };
  return table;
}

const Verb* find_verb(std::string_view name) {
  for (const Verb& verb : verbs()) {
    if (name == verb.command.verb) return &verb;
  }
  return nullptr;
}

Result<LayerOnDevice> layer_on_device(const Arguments& arguments, const Session& session) {
  const auto device_name = arguments.text("--device");
  if (!device_name) return usage_error("--device is missing; tilewright devices lists the names");
  LayerOnDevice layer;
  layer.name = arguments.text("WORKLOAD").value_or("");
  auto workload = find_workload(layer.name, session.installation.workloads_dir);
  if (!workload) return pass_error(workload);
  auto device = find_device(*device_name, session.installation);
  if (!device) return pass_error(device);
  auto changed = with_overrides(*std::move(device), arguments.texts("--set"));
  if (!changed) return pass_error(changed);
  layer.workload = *workload;
  layer.device = *std::move(changed);
  return layer;
}

Result<Schedule> schedule_argument(std::string_view text, const LayerOnDevice& layer) {
  return parse_schedule(text, layer.workload, layer.device.kind);
}

Result<std::int64_t> threads_argument(const Arguments& arguments) {
  auto threads = arguments.integer("--threads", 1);
  if (!threads) return pass_error(threads);
  const std::int64_t count = threads->value_or(hardware_threads());
  if (count > kMostThreads)
    return usage_error(fmt::format("--threads must be at most {}, not {}", kMostThreads, count));
  return count;
}

Result<Store> open_store(const Arguments& arguments, OpenMode mode) {
  return Store::open(arguments.text("--db").value_or("tilewright.db"), mode);
}

}  // namespace tilewright
