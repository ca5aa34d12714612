// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "device_model/model.h"
#include "schedules/text.h"
#include "tuner/report.h"
#include "tuner/verbs.h"

namespace tilewright {
namespace {

struct Filters {
  std::optional<std::string> workload_key, device, variant;
  std::int64_t limit = 20;
};

Result<Filters> filters_of(const Arguments& arguments, const Session& session) {
  Filters filters;
  if (const auto what = arguments.text("--workload")) {
    auto workload = find_workload(*what, session.installation.workloads_dir);
    if (!workload) return pass_error(workload);
    filters.workload_key = to_key(*workload);
  }
  filters.device = arguments.text("--device");
  filters.variant = arguments.text("--variant");
  auto limit = arguments.integer("--limit", 1);
  if (!limit) return pass_error(limit);
  filters.limit = limit->value_or(filters.limit);
  return filters;
}

// Keys and schedules are long. For people the repository's name stands for a key where there is
// one, and knobs that have their defaults are left out of a schedule; JSON has both in full.
class Names {
 public:
  explicit Names(const Session& session) {
    if (const auto list = list_workloads(session.installation.workloads_dir)) {
      for (const NamedWorkload& named : *list) names_.emplace(to_key(named.workload), named.name);
    }
    if (const auto devices = find_devices(session.installation)) {
      for (const Device& device : *devices) kinds_.emplace(device.name, device.kind);
    }
  }
  const std::string& of(const std::string& key) const {
    const auto found = names_.find(key);
    return found == names_.end() ? key : found->second;
  }
  std::string schedule_of(const TrialRecord& trial) const {
    const auto kind = kinds_.find(trial.device_name);
    const auto workload = parse_workload_key(trial.workload_key);
    if (kind == kinds_.end() || !workload) return trial.schedule;
    const auto schedule = parse_schedule(trial.schedule, *workload, kind->second);
    return schedule ? short_text(*schedule, *workload, kind->second) : trial.schedule;
  }

 private:
  std::map<std::string, std::string> names_;
  std::map<std::string, DeviceKind> kinds_;
};

Result<Report> query_best(Store& store, const Filters& filters, const Session& session) {
  std::vector<Store::Current> current;
  // Without the devices nothing could be called stale.
  const auto devices = find_devices(session.installation);
  if (!devices) return pass_error(devices);
  for (const Device& device : *devices)
    current.push_back({device.name, device.hash, kModelVersion});
  BestFilter filter;
  filter.workload_key = filters.workload_key;
  filter.device_name = filters.device;
  filter.variant = filters.variant;
  filter.limit = filters.limit;
  auto rows = store.list_best(current, filter);
  if (!rows) return pass_error(rows);
  Report report;
  report.json = Json::array();
  const Names names(session);
  Table table({{"workload"},
               {"device"},
               {"schedule"},
               {"bound", Align::right},
               {"simulated", Align::right},
               {"measured", Align::right},
               {"verdict"},
               {"proof"},
               {"stale"}});
  for (const BestRecord& best : *rows) {
    report.json.push(best_json(best));
    const TrialRecord& trial = best.trial;
    table.row({names.of(trial.workload_key), trial.device_name, names.schedule_of(trial),
               us_text(trial.bound_us), us_text(trial.simulated_us),
               us_text(trial.measured ? std::optional(trial.measured->min_us) : std::nullopt),
               best.verdict ? verdict_text(*best.verdict) : "-", proof_text(best.proof),
               best.stale_because.empty() ? "-" : best.stale_because});
  }
  report.text = table.text();
  return report;
}

Result<Report> query_trials(Store& store, const Filters& filters, const Session& session) {
  TrialFilter filter;
  filter.workload_key = filters.workload_key;
  filter.device_name = filters.device;
  filter.variant = filters.variant;
  filter.limit = filters.limit;
  auto rows = store.list_trials(filter);
  if (!rows) return pass_error(rows);
  Report report;
  report.json = Json::array();
  const Names names(session);
  Table table({{"trial", Align::right},
               {"run", Align::right},
               {"workload"},
               {"device"},
               {"schedule"},
               {"status"},
               {"bound", Align::right},
               {"simulated", Align::right},
               {"measured", Align::right},
               {"message"}});
  for (const TrialRecord& trial : *rows) {
    report.json.push(trial_json(trial));
    table.row({std::to_string(trial.id), std::to_string(trial.run_id), names.of(trial.workload_key),
               trial.device_name, names.schedule_of(trial), std::string(status_name(trial.status)),
               us_text(trial.bound_us), us_text(trial.simulated_us),
               us_text(trial.measured ? std::optional(trial.measured->min_us) : std::nullopt),
               trial.message});
  }
  report.text = table.text();
  return report;
}

Result<Report> query_runs(Store& store, const Filters& filters, const Session&) {
  auto rows = store.list_runs(filters.limit);
  if (!rows) return pass_error(rows);
  Report report;
  report.json = Json::array();
  Table table({{"run", Align::right},
               {"started"},
               {"ended"},
               {"state"},
               {"tool"},
               {"model"},
               {"generator"},
               {"command"}});
  for (const RunRecord& run : *rows) {
    report.json.push(Json::object()
                         .set("id", run.id)
                         .set("uid", run.uid)
                         .set("started_utc", run.started_utc)
                         .set("ended_utc", run.ended_utc)
                         .set("state", run_state_name(run.state))
                         .set("tool_version", run.versions.tool)
                         .set("model_version", run.versions.model)
                         .set("generator_version", run.versions.generator)
                         .set("halide_version", run.versions.halide)
                         .set("host", run.host)
                         .set("seed", static_cast<std::int64_t>(run.seed))
                         .set("command_line", run.command_line));
    table.row({std::to_string(run.id), run.started_utc, run.ended_utc,
               std::string(run_state_name(run.state)), run.versions.tool, run.versions.model,
               run.versions.generator, run.command_line});
  }
  report.text = table.text();
  return report;
}

struct Row {
  std::string_view name;
  Result<Report> (*run)(Store&, const Filters&, const Session&);
};
constexpr std::array<Row, 3> kQueries = {
    {{"best", query_best}, {"trials", query_trials}, {"runs", query_runs}}};

Result<Report> run(const Arguments& arguments, Session& session) {
  const std::string what = arguments.text("WHAT").value_or("");
  const auto row =
      std::find_if(kQueries.begin(), kQueries.end(), [&](const Row& r) { return r.name == what; });
  if (row == kQueries.end()) {
    std::vector<std::string_view> names;
    for (const Row& known : kQueries) names.push_back(known.name);
    return usage_error(fmt::format("unknown query '{}'; nearest: {} (of {})", what,
                                   nearest_name(what, names), join(names, ", ")));
  }
  auto filters = filters_of(arguments, session);
  if (!filters) return pass_error(filters);
  auto store = open_store(arguments, OpenMode::read_only);
  if (!store) return pass_error(store);
  return row->run(*store, *filters, session);
}

}  // namespace

Verb query_verb() {
  return {{"query",
           "Read the database: best, trials or runs, newest first.",
           {{"WHAT", "best, trials or runs"}},
           {{"--workload", "WORKLOAD", "only this layer"},
            {"--device", "NAME", "only this device"},
            {"--variant", "NAME", "only this variant"},
            {"--limit", "N", "at most N rows (20)"},
            kDatabaseOption},
           "tilewright query best --device host"},
          run};
}

}  // namespace tilewright
