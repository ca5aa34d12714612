// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tuner/files.h"
#include "tuner/report.h"
#include "tuner/tune.h"
#include "tuner/verbs.h"

namespace tilewright {
namespace {

Result<TuneRequest> request_of(const Arguments& arguments, const LayerOnDevice& layer,
                               const Session& session) {
  TuneRequest request;
  request.workload = layer.workload;
  request.device = layer.device;
  request.strategy = arguments.text("--strategy").value_or("");
  request.variant = arguments.text("--variant").value_or("");
  request.again = arguments.flag("--again");
  request.command_line = session.command_line;
  auto budget = arguments.integer("--budget", 1);
  if (!budget) return pass_error(budget);
  auto time_limit = arguments.number("--time-limit", 0);
  if (!time_limit) return pass_error(time_limit);
  auto threads = threads_argument(arguments);
  if (!threads) return pass_error(threads);
  auto seed = arguments.integer("--seed", 0);
  if (!seed) return pass_error(seed);
  request.budget = *budget;
  request.time_limit = *time_limit;
  request.threads = *threads;
  request.seed = static_cast<std::uint64_t>(seed->value_or(1));
  return request;
}

std::string text_of(const TuneResult& result, const LayerOnDevice& layer) {
  const TrialRecord& trial = result.best.trial;
  const ProofRecord& proof = result.best.proof;
  std::string text = fmt::format("{} on {}\n  schedule   {}\n  bound      {}\n", trial.workload_key,
                                 layer.device.name, trial.schedule, us_text(trial.bound_us));
  if (trial.simulated_us) text += fmt::format("  simulated  {}\n", us_text(trial.simulated_us));
  if (trial.measured) {
    text += fmt::format("  measured   {} (fastest of {}, {} threads, {})\n",
                        us_text(trial.measured->min_us), trial.measured->repetitions,
                        trial.measured->threads, trial.measured->host);
  }
  if (result.best.verdict)
    text += fmt::format("  verdict    {}\n", verdict_text(*result.best.verdict));
  text += fmt::format(
      "  proof      {}\n  space      {} points, {} feasible, {} cut by bound, {} simulated, {} "
      "measured\n",
      proof_text(proof), proof.points, proof.feasible, proof.cut, proof.simulated, proof.measured);
  if (result.served_from_db) {
    text += fmt::format("served from the database (stored {}), nothing evaluated, {:.2f} s\n",
                        result.best.stored_utc, result.seconds);
  } else {
    text += fmt::format("{}{} evaluations, {} kernels compiled, {:.2f} s\n",
                        result.interrupted ? "interrupted, the best so far is stored: " : "",
                        result.evaluations, result.compilations, result.seconds);
  }
  return text;
}

Result<Report> run(const Arguments& arguments, Session& session) {
  auto layer = layer_on_device(arguments, session);
  if (!layer) return pass_error(layer);
  auto request = request_of(arguments, *layer, session);
  if (!request) return pass_error(request);
  // Asked here too, so that a wrong question leaves no database behind.
  if (auto row = chosen_strategy(*request); !row) return pass_error(row);
  if (auto variants = chosen_variants(request->workload, request->device, request->variant);
      !variants) {
    return pass_error(variants);
  }
  auto store = open_store(arguments, OpenMode::read_write_create);
  if (!store) return pass_error(store);
  auto work = TemporaryFolder::make();
  if (!work) return pass_error(work);
  auto result =
      tune(*request, {*store, session.installation, session.progress, work->path(), session.stop});
  if (!result) return pass_error(result);
  Report report;
  report.json = best_json(result->best);
  report.json.set("served_from_db", result->served_from_db)
      .set("evaluations", result->evaluations)
      .set("compilations", result->compilations)
      .set("interrupted", result->interrupted)
      .set("seconds", result->seconds);
  report.text = text_of(*result, *layer);
  report.failed = result->interrupted;
  return report;
}

}  // namespace

Verb tune_verb() {
  return {
      {"tune",
       "Find the best schedule of a layer on a device, and store it with its proof.",
       {kWorkloadArgument},
       {kDeviceOption,
        kSetOption,
        {"--strategy", "NAME",
         "best_first (default with a simulator), measured_grid (default on the host), hand_rules"},
        {"--variant", "NAME", "only this variant"},
        {"--budget", "N", "at most N evaluations; the gap is reported"},
        {"--time-limit", "S", "at most S seconds; the gap is reported"},
        {"--threads", "N", "threads of measured kernels (all)"},
        {"--seed", "N", "of the inputs of measured kernels (1)"},
        {"--again", nullptr, "search even if the answer is stored"},
        kDatabaseOption},
       "tilewright tune large-fp16-p2 --device ascend_910b4"},
      run};
}

}  // namespace tilewright
