// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "schedules/space.h"
#include "tuner/kernel_build.h"
#include "tuner/report.h"
#include "tuner/tune.h"
#include "tuner/verbs.h"

namespace tilewright {
namespace {

struct Job {
  LayerOnDevice layer;
  std::string schedule;                  // text
  std::optional<std::int64_t> trial_id;  // of the stored best
};

Result<Job> stored_job(const Arguments& arguments, const LayerOnDevice& layer, Session& session,
                       Store& store) {
  BestFilter filter;
  filter.workload_key = to_key(layer.workload);
  filter.device_name = layer.device.name;
  filter.variant = arguments.text("--variant");
  const Store::Current current{layer.device.name, layer.device.hash, own_versions().model};
  auto rows = store.list_best({&current, 1}, filter);
  if (!rows) return pass_error(rows);
  const std::vector<BestRecord> fresh = fresh_best_first(*rows);
  if (!fresh.empty()) return Job{layer, fresh.front().trial.schedule, fresh.front().trial.id};
  for (const BestRecord& best : *rows) {
    session.progress.line(
        fmt::format("stored schedule passed over, it is stale: {}", best.stale_because));
  }
  return failure(fmt::format(
      "no stored schedule for {} on {}: run tilewright tune {} --device {}, or give --schedule",
      layer.name, layer.device.name, layer.name, layer.device.name));
}

Result<std::vector<Job>> all_stored_jobs(Session& session, Store& store) {
  auto devices = find_devices(session.installation);
  if (!devices) return pass_error(devices);
  std::vector<Store::Current> current;
  for (const Device& device : *devices)
    current.push_back({device.name, device.hash, own_versions().model});
  BestFilter filter;
  filter.limit = 10'000;
  auto rows = store.list_best(current, filter);
  if (!rows) return pass_error(rows);
  std::vector<Job> jobs;
  std::set<std::pair<std::string, std::string>> done;  // layer, device hash: one kernel each
  for (const BestRecord& best : fresh_best_first(std::move(*rows))) {
    if (!done.emplace(best.trial.workload_key, best.trial.device_hash).second) continue;
    auto workload = parse_workload_key(best.trial.workload_key);
    if (!workload) return pass_error(workload);
    for (const Device& device : *devices) {
      if (device.hash != best.trial.device_hash) continue;
      const std::string name =
          fmt::format("{}_{}", c_identifier(best.trial.workload_key), device.name);
      jobs.push_back({{name, *workload, device}, best.trial.schedule, best.trial.id});
      break;
    }
  }
  if (jobs.empty())
    return failure("the database holds no fresh schedule: run tilewright tune first");
  return jobs;
}

// A C function's name: the files are called like it, and C and C++ programs include its header.
Result<void> check_name(const std::string& name) {
  constexpr std::size_t kLongest = 100;
  // Words that a C or C++ compiler refuses as a function's name, and `main`.
  static const std::set<std::string_view> taken = {
      "alignas", "alignof",   "and",      "asm",      "auto",     "bool",     "break",    "case",
      "catch",   "char",      "class",    "const",    "continue", "default",  "delete",   "do",
      "double",  "else",      "enum",     "explicit", "export",   "extern",   "false",    "float",
      "for",     "friend",    "goto",     "if",       "inline",   "int",      "long",     "main",
      "mutable", "namespace", "new",      "noexcept", "not",      "nullptr",  "operator", "or",
      "private", "protected", "public",   "register", "requires", "restrict", "return",   "short",
      "signed",  "sizeof",    "static",   "struct",   "switch",   "template", "this",     "throw",
      "true",    "try",       "typedef",  "typeid",   "typename", "union",    "unsigned", "using",
      "virtual", "void",      "volatile", "while",    "xor"};
  if (name != c_identifier(name) || name.size() > kLongest || taken.count(name) > 0) {
    return usage_error(
        fmt::format("--name '{}' can not be the name of a C function (letters, digits and _, at "
                    "most {}, no keyword); for example '{}'",
                    name.substr(0, kLongest), kLongest,
                    c_identifier(name).substr(0, kLongest - 7) + "_kernel"));
  }
  return {};
}

Json manifest_paths(const Manifest& manifest) {
  const std::filesystem::path folder = manifest.folder;
  return Json::object()
      .set("name", manifest.name)
      .set("workload", manifest.workload)
      .set("schedule", manifest.schedule)
      .set("device", manifest.device_name)
      .set("target", manifest.target)
      .set("library", (folder / manifest.library).string())
      .set("header", (folder / manifest.header).string())
      .set("shared", (folder / manifest.shared).string())
      .set("runtime", (folder / manifest.runtime).string())
      .set("manifest", (folder / (manifest.name + ".json")).string());
}

Result<Manifest> generate(const Job& job, const std::string& name, KernelBuilder& builder,
                          Store* store) {
  auto schedule = schedule_argument(job.schedule, job.layer);
  if (!schedule) return pass_error(schedule);
  const auto reasons =
      infeasible_reasons(job.layer.workload, *schedule, limits_of(job.layer.device));
  if (!reasons.empty()) {
    return failure(
        fmt::format("infeasible on {}: {}", job.layer.device.name, reasons.front().message));
  }
  const auto outcome =
      builder.build(kernel_spec(job.layer.workload, *schedule, job.layer.device, name));
  if (!outcome.kernel)
    return failure(fmt::format("{}: {}", status_name(outcome.status), outcome.message));
  if (store && job.trial_id) {
    if (auto added = store->add_kernel(*job.trial_id, outcome.kernel->record()); !added)
      return pass_error(added);
  }
  return *outcome.kernel;
}

Result<Report> run(const Arguments& arguments, Session& session) {
  const bool all = arguments.flag("--all");
  if (all == arguments.flag("WORKLOAD")) return usage_error("give either a WORKLOAD or --all");
  if (const auto name = arguments.text("--name")) {
    if (all) return usage_error("--name names one kernel: give a WORKLOAD instead of --all");
    if (auto checked = check_name(*name); !checked) return pass_error(checked);
  }
  std::optional<Store> store;
  if (all || !arguments.flag("--schedule")) {
    auto opened = open_store(arguments, OpenMode::read_write_create);
    if (!opened) return pass_error(opened);
    store.emplace(std::move(*opened));
  }
  std::vector<Job> jobs;
  if (all) {
    auto stored = all_stored_jobs(session, *store);
    if (!stored) return pass_error(stored);
    jobs = std::move(*stored);
  } else {
    auto layer = layer_on_device(arguments, session);
    if (!layer) return pass_error(layer);
    auto job = store ? stored_job(arguments, *layer, session, *store)
                     : Result<Job>(Job{*layer, *arguments.text("--schedule"), std::nullopt});
    if (!job) return pass_error(job);
    jobs.push_back(std::move(*job));
  }

  KernelBuilder builder(session.installation, arguments.text("--output").value_or("out"),
                        session.stop);
  Report report;
  report.json = Json::array();
  session.progress.begin("generating kernels", std::ssize(jobs));
  for (const Job& job : jobs) {
    const std::string name =
        all ? job.layer.name : fmt::format("{}_{}", job.layer.name, job.layer.device.name);
    auto manifest = generate(job, c_identifier(arguments.text("--name").value_or(name)), builder,
                             store ? &*store : nullptr);
    if (!manifest && !all) return pass_error(manifest);
    if (!manifest) {
      session.progress.line(fmt::format("{}: {}", name, manifest.error().message));
      report.failed = true;
      continue;
    }
    report.json.push(manifest_paths(*manifest));
    session.progress.at(std::ssize(*report.json.items()));
    const std::string path = (std::filesystem::path(manifest->folder) / manifest->name).string();
    report.text += fmt::format(
        "{}{{.a,.h,.so,.json}}\n  {}\n  link: {}.a and {} into your program, include {}.h\n"
        "  try:  tilewright verify {}.json\n",
        path, manifest->schedule, path, manifest->runtime, path, path);
  }
  if (!all) report.json = Json(report.json.items()->front());
  return report;
}

}  // namespace

Verb generate_verb() {
  return {{"generate",
           "Make a kernel from a stored or a given schedule: static library, header, shared "
           "library, manifest.",
           {{"WORKLOAD", kWorkloadArgument.help, false}},
           {kDeviceOption,
            kSetOption,
            {"--schedule", "TEXT", "this schedule instead of the stored one"},
            {"--variant", "NAME", "the stored schedule of this variant"},
            {"--all", nullptr, "every fresh schedule of the database"},
            {"--name", "NAME", "of the C function and the files (from workload and device)"},
            {"-o,--output", "DIR", "where the files go (out)"},
            kDatabaseOption},
           "tilewright generate sincnet --device host -o out"},
          run};
}

}  // namespace tilewright
