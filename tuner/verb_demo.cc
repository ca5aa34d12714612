// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>

#include "tuner/demo.h"
#include "tuner/files.h"
#include "tuner/report.h"
#include "tuner/verbs.h"

namespace tilewright {
namespace {

Json row_json(const DemoRow& row) {
  Json json = best_json(row.tuned.best);
  json.set("name", row.item.workload)
      .set("short_schedule", row.short_schedule)
      .set("served_from_db", row.tuned.served_from_db)
      .set("evaluations", row.tuned.evaluations)
      .set("peak_share", row.peak_share)
      .set("speedup_over_unscheduled", row.speedup)
      .set("kernel", row.kernel)
      .set("checked", Json::object()
                          .set("verdict", row.verdict.verdict)
                          .set("worst_ratio", row.verdict.worst_ratio)
                          .set("failures", row.verdict.failures)
                          .set("outputs", row.verdict.outputs)
                          .set("digest", row.verdict.output_digest)
                          .set("message", row.verdict.message));
  return json;
}

std::string table_of(const std::vector<DemoRow>& rows) {
  Table table({{"workload"},
               {"device"},
               {"bound", Align::right},
               {"simulated", Align::right},
               {"measured", Align::right},
               {"of FMA peak", Align::right},
               {"x unscheduled", Align::right},
               {"verdict"},
               {"proof"}});
  std::string schedules;
  for (const DemoRow& row : rows) {
    const TrialRecord& trial = row.tuned.best.trial;
    const auto measured = trial.measured ? std::optional(trial.measured->min_us) : std::nullopt;
    table.row({row.item.workload, row.item.device, us_text(trial.bound_us),
               us_text(trial.simulated_us), us_text(measured), percent_text(row.peak_share),
               row.speedup ? fmt::format("{:.1f}", *row.speedup) : "-", verdict_text(row.verdict),
               proof_text(row.tuned.best.proof)});
    schedules += fmt::format("  {:<14} {}\n  {:<14} {} outputs, {}\n", row.item.workload,
                             row.short_schedule, "", row.verdict.outputs, row.verdict.message);
  }
  return table.text() + "\nschedules (knobs at their defaults left out) and checks\n" + schedules;
}

constexpr const char* kLegend =
    "bound: no schedule of these numbers can be faster. simulated: predicted by the model for a "
    "device that is not here.\n"
    "measured: on this CPU. x unscheduled: against the same algorithm without a schedule, one "
    "thread, on one strip.\n"
    "ascend_910b4: the kernel is the functional twin of the schedule, run and checked on this CPU, "
    "never timed as the chip.\n";

std::string next_commands(const std::string& folder) {
  return fmt::format(
      "\nkernels are in {0}/. Try next:\n"
      "  tilewright query best\n"
      "  tilewright explain large-fp16-p2 im2col/base_m:128,base_n:256,base_k:64,rows:6 --device "
      "ascend_910b4\n"
      "  tilewright verify {0}/sincnet_host.json --class pink\n"
      "  tilewright tune 'conv2d_pool/n:1,cin:64,h:56,w:56,cout:64,kh:3,kw:3,pool:2,dtype:fp32' "
      "--device host\n",
      folder);
}

Report report_of(const DemoResult& result, const DemoOptions& options, double seconds) {
  Report report;
  Json rows = Json::array();
  bool served = true;
  for (const DemoRow& row : result.rows) {
    rows.push(row_json(row));
    served = served && row.tuned.served_from_db;
    report.failed = report.failed || row.verdict.verdict != "ok";
  }
  Json notes = Json::array();
  for (const std::string& note : result.notes) notes.push(note);
  report.json = Json::object()
                    .set("rows", std::move(rows))
                    .set("served_from_db", served)
                    .set("evaluations", result.evaluations)
                    .set("compilations", result.compilations)
                    .set("phase_seconds", Json::object_of(result.seconds))
                    .set("seconds", seconds)
                    .set("cpu", cpu_model())
                    .set("threads", options.threads)
                    .set("notes", std::move(notes));
  report.text = fmt::format("{}, {} threads\n\n{}\n{}", cpu_model(), options.threads,
                            table_of(result.rows), kLegend);
  for (const std::string& note : result.notes) report.text += fmt::format("note: {}\n", note);
  report.text += "\n";
  if (served) report.text += "served from the database: ";
  report.text += fmt::format("{} evaluations, {} kernels compiled, {:.1f} s", result.evaluations,
                             result.compilations, seconds);
  std::string phases;
  for (const auto& [phase, time] : result.seconds)
    phases += fmt::format("{}{} {:.1f}", phases.empty() ? "" : ", ", phase, time);
  report.text += fmt::format(" ({})\n{}", phases, next_commands(options.folder));
  return report;
}

Result<Report> run(const Arguments& arguments, Session& session) {
  const Stopwatch watch;
  DemoOptions options;
  options.folder = arguments.text("--output").value_or(options.folder);
  options.command_line = session.command_line;
  auto threads = threads_argument(arguments);
  if (!threads) return pass_error(threads);
  options.threads = *threads;
  // Now, not after the minutes that tuning takes.
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error)
    return failure(fmt::format("can not make the folder {}: {}", options.folder, error.message()));
  auto store = open_store(arguments, OpenMode::read_write_create);
  if (!store) return pass_error(store);
  auto work = TemporaryFolder::make();
  if (!work) return pass_error(work);
  auto result = run_demo(
      options, {*store, session.installation, session.progress, work->path(), session.stop});
  if (!result) return pass_error(result);
  return report_of(*result, options, watch.seconds());
}

}  // namespace

Verb demo_verb() {
  return {{"demo",
           "The main job: tune, generate, check and store both reference layers.",
           {},
           {{"--threads", "N", "threads of measured kernels (all)"},
            {"-o,--output", "DIR", "where the kernels go (out)"},
            kDatabaseOption},
           "tilewright demo"},
          run};
}

}  // namespace tilewright
