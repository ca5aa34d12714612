// SPDX-License-Identifier: Apache-2.0
#include "tuner/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "schedules/text.h"

namespace tilewright {
namespace {

Json proof_json(const ProofRecord& proof) {
  return Json::object()
      .set("strategy", proof.strategy)
      .set("grid", proof.grid)
      .set("points", proof.points)
      .set("feasible", proof.feasible)
      .set("cut", proof.cut)
      .set("simulated", proof.simulated)
      .set("measured", proof.measured)
      .set("by_limit", Json::object_of(proof.by_limit));
}

Json measured_json(const std::optional<Measurement>& measured) {
  if (!measured) return {};
  return Json::object()
      .set("min_us", measured->min_us)
      .set("median_us", measured->median_us)
      .set("repetitions", measured->repetitions)
      .set("threads", measured->threads)
      .set("host", measured->host)
      .set("conditions", measured->conditions);
}

Json verdict_json(const std::optional<VerdictRecord>& verdict) {
  if (!verdict) return {};
  return Json::object()
      .set("verdict", verdict->verdict)
      .set("worst_ratio", std::isfinite(verdict->worst_ratio) ? Json(verdict->worst_ratio) : Json())
      .set("failures", verdict->failures)
      .set("outputs", verdict->outputs)
      .set("gate", verdict->gate)
      .set("inputs", verdict->inputs)
      .set("digest", verdict->output_digest)
      .set("target", verdict->target)
      .set("message", verdict->message);
}

}  // namespace

std::string_view status_name(TrialStatus status) {
  switch (status) {
    case TrialStatus::ok:
      return "ok";
    case TrialStatus::infeasible:
      return "infeasible";
    case TrialStatus::build_failed:
      return "build_failed";
    case TrialStatus::run_failed:
      return "run_failed";
    case TrialStatus::mismatch:
      return "mismatch";
    case TrialStatus::timed_out:
      return "timed_out";
  }
  return "";
}

std::string_view run_state_name(RunState state) {
  switch (state) {
    case RunState::running:
      return "running";
    case RunState::finished:
      return "finished";
    case RunState::interrupted:
      return "interrupted";
    case RunState::failed:
      return "failed";
  }
  return "";
}

std::string short_text(const Schedule& schedule, const Workload& workload, DeviceKind kind) {
  std::string text = to_text(schedule, workload, kind);
  std::size_t at = text.find('/') + 1;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    // Without `knob:value` and one comma beside it.
    std::string without = text.substr(0, at) + (end < text.size() ? text.substr(end + 1) : "");
    if (without.back() == ',' || without.back() == '/') without.pop_back();
    const auto parsed = parse_schedule(without, workload, kind);
    if (parsed && *parsed == schedule) {
      text = without;
    } else {
      at = end + 1;
    }
  }
  return text;
}

namespace {

// Only cycles are known of a chip without clock.
bool has_no_clock(const Prediction& prediction) {
  return prediction.us == 0 && prediction.cycles.value_or(0) > 0;
}
std::string cycles_text(std::int64_t cycles) { return fmt::format("{} cycles", cycles); }

// Why an engine waited: "call 17.0 us, slot_not_free 3.0 us".
template <class Times, class Text>
std::string stalls_text(const Times& times, const Text& text) {
  std::string list;
  for (const auto& [reason, time] : times) {
    if (time > 0) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", reason, text(time));
  }
  return list;
}

}  // namespace

void add_prediction(Json& json, const Prediction& prediction) {
  Json engines = Json::object();
  for (const auto& [name, use] : prediction.engines) {
    Json engine = Json::object()
                      .set("busy_us", use.busy_us)
                      .set("utilisation", use.utilisation)
                      .set("stalls", Json::object_of(use.stalls_us));
    if (has_no_clock(prediction)) {
      engine.set("busy_cycles", use.busy_cycles)
          .set("stalls_cycles", Json::object_of(use.stalls_cycles));
    }
    engines.set(name, std::move(engine));
  }
  json.set("engines", std::move(engines))
      .set("traffic_bytes", Json::object_of(prediction.traffic_bytes))
      .set("macs", prediction.macs)
      .set("bottleneck", prediction.bottleneck);
  if (prediction.compute_utilisation) {
    json.set("compute_utilisation", *prediction.compute_utilisation)
        .set("bandwidth_utilisation", prediction.bandwidth_utilisation);
  }
}

std::string engines_table(const Prediction& prediction) {
  using Row = std::pair<std::string, EngineUse>;
  std::vector<Row> rows(prediction.engines.begin(), prediction.engines.end());
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.second.utilisation > b.second.utilisation;
  });
  const bool in_cycles = has_no_clock(prediction);
  Table engines({{"engine"}, {"busy", Align::right}, {"utilisation", Align::right}, {"waits for"}});
  for (const auto& [name, use] : rows) {
    engines.row({name, in_cycles ? cycles_text(use.busy_cycles) : us_text(use.busy_us),
                 percent_text(use.utilisation),
                 in_cycles ? stalls_text(use.stalls_cycles, cycles_text)
                           : stalls_text(use.stalls_us, [](double us) { return us_text(us); })});
  }
  Table traffic({{"path"}, {"bytes over the chip", Align::right}});
  for (const auto& [path, bytes] : prediction.traffic_bytes) traffic.row({path, bytes_text(bytes)});
  std::string text = engines.text();
  if (!prediction.traffic_bytes.empty()) text += "\n" + traffic.text();
  return text + fmt::format("\nbounded by: {}\n", prediction.bottleneck);
}

std::string time_text(const Prediction& prediction) {
  if (has_no_clock(prediction)) return cycles_text(*prediction.cycles);
  const std::string us = us_text(prediction.us);
  return prediction.cycles ? fmt::format("{} ({})", us, cycles_text(*prediction.cycles)) : us;
}

Json reasons_json(const std::vector<Reason>& reasons) {
  Json list = Json::array();
  for (const Reason& reason : reasons) {
    Json terms = Json::array();
    for (const Term& term : reason.terms)
      terms.push(Json::object().set("name", term.name).set("bytes", term.bytes));
    list.push(Json::object()
                  .set("buffer", reason.buffer)
                  .set("needed_bytes", reason.needed_bytes)
                  .set("available_bytes", reason.available_bytes)
                  .set("terms", std::move(terms))
                  .set("nearest", Json::object_of(reason.nearest))
                  .set("message", reason.message));
  }
  return list;
}

std::string reasons_text(const std::vector<Reason>& reasons) {
  std::string text;
  for (const Reason& reason : reasons) {
    text += fmt::format("  {}\n", reason.message);  // starts with the buffer
    for (const Term& term : reason.terms)
      text += fmt::format("    {} = {}\n", term.name, bytes_text(term.bytes));
    for (const auto& [knob, value] : reason.nearest)
      text += fmt::format("    nearest that fits: {}:{}\n", knob, value);
  }
  return text;
}

Json best_json(const BestRecord& best) {
  const TrialRecord& trial = best.trial;
  Json json = Json::object();
  json.set("workload", trial.workload_key)
      .set("device", trial.device_name)
      .set("device_hash", trial.device_hash)
      .set("variant", trial.variant)
      .set("schedule", trial.schedule)
      .set("objective", trial.objective)
      .set("constraints", trial.constraints)
      .set("bound_us", trial.bound_us)
      .set("us", trial.simulated_us)
      .set("measured_us", trial.measured ? Json(trial.measured->min_us) : Json())
      .set("measured", measured_json(trial.measured))
      .set("proved_optimal", best.proof.proved_optimal)
      .set("gap", best.proof.gap)
      .set("best_remaining_bound_us", best.proof.best_remaining_bound_us)
      .set("space", proof_json(best.proof))
      .set("verdict", verdict_json(best.verdict))
      .set("model_version", trial.model_version)
      .set("stored_utc", best.stored_utc)
      .set("stale_because", best.stale_because.empty() ? Json() : Json(best.stale_because));
  return json;
}

Json trial_json(const TrialRecord& trial) {
  return Json::object()
      .set("id", trial.id)
      .set("run", trial.run_id)
      .set("workload", trial.workload_key)
      .set("device", trial.device_name)
      .set("device_hash", trial.device_hash)
      .set("model_version", trial.model_version)
      .set("constraints", trial.constraints)
      .set("variant", trial.variant)
      .set("schedule", trial.schedule)
      .set("status", status_name(trial.status))
      .set("bound_us", trial.bound_us)
      .set("us", trial.simulated_us)
      .set("measured_us", trial.measured ? Json(trial.measured->min_us) : Json())
      .set("measured", measured_json(trial.measured))
      .set("traffic_bytes", Json::object_of(trial.traffic_bytes))
      .set("message", trial.message);
}

std::string proof_text(const ProofRecord& proof) {
  if (proof.proved_optimal) {
    return fmt::format("optimal of {} ({} grid)", with_commas(proof.feasible), proof.grid);
  }
  if (proof.gap) return fmt::format("at most {} off", percent_text(proof.gap));
  if (proof.measured > 0) return fmt::format("fastest of {} measured", proof.measured);
  return fmt::format("best of {} ({})", std::max(proof.simulated, proof.measured), proof.strategy);
}

std::string verdict_text(const VerdictRecord& verdict) {
  if (verdict.verdict == "ok") return fmt::format("ok ({:.2g} of gate)", verdict.worst_ratio);
  if (verdict.failures > 0)
    return fmt::format("{}: {} of {}", verdict.verdict, verdict.failures, verdict.outputs);
  return verdict.verdict;
}

}  // namespace tilewright
