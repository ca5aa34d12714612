// SPDX-License-Identifier: Apache-2.0
// estimate, simulate and explain: one schedule on one device.
#include <fmt/format.h>

#include "device_model/model.h"
#include "schedules/space.h"
#include "tuner/report.h"
#include "tuner/verbs.h"

namespace tilewright {
namespace {

struct Question {
  LayerOnDevice layer;
  Schedule schedule;
  std::string text;  // canonical
};

Result<Question> asked(const Arguments& arguments, const Session& session) {
  auto layer = layer_on_device(arguments, session);
  if (!layer) return pass_error(layer);
  auto schedule = schedule_argument(arguments.text("SCHEDULE").value_or(""), *layer);
  if (!schedule) return pass_error(schedule);
  Question question{*layer, *schedule, to_text(*schedule, layer->workload, layer->device.kind)};
  if (const auto reason = refusal(layer->workload, schedule->variant, layer->device.kind))
    return failure(*reason);
  return question;
}

Json json_of(const Question& question) {
  return Json::object()
      .set("workload", to_key(question.layer.workload))
      .set("device", question.layer.device.name)
      .set("schedule", question.text);
}

std::string heading(const Question& question) {
  return fmt::format("{}\n{} on {}\n\n", to_key(question.layer.workload), question.text,
                     question.layer.device.name);
}

Result<Report> estimate(const Arguments& arguments, Session& session) {
  auto question = asked(arguments, session);
  if (!question) return pass_error(question);
  auto prediction = bound(question->layer.workload, question->schedule, question->layer.device);
  if (!prediction) return pass_error(prediction);
  Report report;
  report.json = json_of(*question);
  report.json.set("bound_cycles", prediction->cycles).set("bound_us", prediction->us);
  add_prediction(report.json, *prediction);
  report.text = heading(*question) + fmt::format("bound: at least {}\n\n", time_text(*prediction)) +
                engines_table(*prediction);
  return report;
}

Result<Report> run_simulation(const Arguments& arguments, Session& session) {
  auto question = asked(arguments, session);
  if (!question) return pass_error(question);
  auto prediction = simulate(question->layer.workload, question->schedule, question->layer.device);
  if (!prediction) return pass_error(prediction);
  auto least = bound(question->layer.workload, question->schedule, question->layer.device);
  if (!least) return pass_error(least);
  Report report;
  report.json = json_of(*question);
  report.json.set("bound_cycles", least->cycles)
      .set("bound_us", least->us)
      .set("cycles", prediction->cycles)
      .set("us", prediction->us);
  add_prediction(report.json, *prediction);
  report.text =
      heading(*question) +
      fmt::format("simulated: {}\nbound:     {}\n\n", time_text(*prediction), time_text(*least)) +
      engines_table(*prediction);
  return report;
}

Result<Report> explain(const Arguments& arguments, Session& session) {
  auto question = asked(arguments, session);
  if (!question) return pass_error(question);
  const LayerOnDevice& layer = question->layer;
  const auto reasons =
      infeasible_reasons(layer.workload, question->schedule, limits_of(layer.device));
  Report report;
  report.json = json_of(*question);
  report.json.set("feasible", reasons.empty()).set("reasons", reasons_json(reasons));
  if (layer.device.kind == DeviceKind::npu)
    report.json.set("ub_bytes", ub_bytes(layer.workload, question->schedule));
  report.text = heading(*question);
  if (!reasons.empty()) {
    report.failed = true;
    report.text += "infeasible:\n" + reasons_text(reasons);
    return report;
  }
  const bool simulated = has_simulator(layer.device);
  auto prediction = simulated ? simulate(layer.workload, question->schedule, layer.device)
                              : bound(layer.workload, question->schedule, layer.device);
  if (!prediction) return pass_error(prediction);
  report.json.set(simulated ? "us" : "bound_us", prediction->us);
  add_prediction(report.json, *prediction);
  report.text += fmt::format("feasible, {} {}\n\n", simulated ? "simulated" : "bound: at least",
                             time_text(*prediction)) +
                 engines_table(*prediction);
  return report;
}

Verb verb_of(const char* name, const char* summary,
             Result<Report> (*run)(const Arguments&, Session&)) {
  return {{name,
           summary,
           {kWorkloadArgument, kScheduleArgument},
           {kDeviceOption, kSetOption},
           fmt::format("tilewright {} large-fp16-p2 im2col/base_m:128,base_n:256,base_k:64,rows:6 "
                       "--device ascend_910b4",
                       name)},
          run};
}

}  // namespace

Verb estimate_verb() {
  return verb_of("estimate", "A lower bound on the time of a schedule, and which engine bounds it.",
                 estimate);
}
Verb simulate_verb() {
  return verb_of(
      "simulate",
      "Simulate a schedule with finite buffers: its time, and what each engine waits for.",
      run_simulation);
}
Verb explain_verb() {
  return verb_of(
      "explain",
      "Say whether a schedule fits, with sums and nearest values, and where its time goes.",
      explain);
}

}  // namespace tilewright
