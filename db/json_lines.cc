// SPDX-License-Identifier: Apache-2.0
// Writing. A figure that does not exist is left out; NaN is null, infinity "inf"; text that is not
// UTF-8 is
// {"hex":"..."}.
#include "db/json_lines.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "db/database_file.h"
#include "db/words.h"

namespace tilewright::db {
namespace {

using Json = nlohmann::ordered_json;

Json text(std::string_view value) {
  Json json(value);
  try {
    (void)json.dump();  // throws for bytes that are not UTF-8
    return json;
  } catch (const Json::exception&) {
    std::string hex;
    for (const char c : value) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return Json{{"hex", hex}};
  }
}

Json real(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

// Names can be any text, so they are no keys: [[name, value], ...].
template <class Value>
Json pairs(const std::map<std::string, Value>& map) {
  Json json = Json::array();
  for (const auto& [name, value] : map) {
    if constexpr (std::is_same_v<Value, std::string>) {
      json.push_back({text(name), text(value)});
    } else {
      json.push_back({text(name), value});
    }
  }
  return json;
}

template <class Value>
void put(Json& json, const char* name, const std::optional<Value>& value) {
  if (!value) return;
  if constexpr (std::is_same_v<Value, double>) {
    json[name] = real(*value);
  } else {
    json[name] = *value;
  }
}

Json device_json(const Dated<DeviceRecord>& item) {
  const DeviceRecord& d = item.record;
  return {{"type", "device"},
          {"name", text(d.name)},
          {"hash", text(d.hash)},
          {"content", text(d.content)},
          {"stored_utc", text(item.utc)}};
}

Json run_json(const RunRecord& run) {
  return {{"type", "run"},
          {"uid", run.uid},
          {"tool_version", text(run.versions.tool)},
          {"model_version", text(run.versions.model)},
          {"generator_version", text(run.versions.generator)},
          {"halide_version", text(run.versions.halide)},
          {"git_revision", text(run.versions.git_revision)},
          {"command_line", text(run.command_line)},
          {"seed", run.seed},
          {"host", text(run.host)},
          {"started_utc", text(run.started_utc)},
          {"ended_utc", text(run.ended_utc)},
          {"state", word(run.state)}};
}

Json proof_json(const Dated<ProofRecord>& item) {
  const ProofRecord& p = item.record;
  Json json{{"strategy", text(p.strategy)},
            {"grid", text(p.grid)},
            {"points", p.points},
            {"feasible_points", p.feasible},
            {"cut_points", p.cut},
            {"simulated_points", p.simulated},
            {"measured_points", p.measured},
            {"by_limit", pairs(p.by_limit)},
            {"proved_optimal", p.proved_optimal},
            {"tie_rule", text(p.tie_rule)},
            {"seconds", p.seconds},
            {"stored_utc", text(item.utc)}};
  put(json, "best_remaining_bound_us", p.best_remaining_bound_us);
  put(json, "gap", p.gap);
  return json;
}

Json kernel_json(const Dated<KernelRecord>& item) {
  const KernelRecord& k = item.record;
  return {{"name", text(k.name)},
          {"target", text(k.target)},
          {"halide_version", text(k.halide_version)},
          {"generator_version", text(k.generator_version)},
          {"artefacts", pairs(k.artefact_hashes)},
          {"stored_utc", text(item.utc)}};
}

Json verdict_json(const Dated<VerdictRecord>& item) {
  const VerdictRecord& v = item.record;
  return {{"verdict", text(v.verdict)},
          {"worst_ratio", real(v.worst_ratio)},
          {"failures", v.failures},
          {"outputs", v.outputs},
          {"gate", text(v.gate)},
          {"inputs", text(v.inputs)},
          {"output_digest", text(v.output_digest)},
          {"target", text(v.target)},
          {"message", text(v.message)},
          {"checked_utc", text(item.utc)}};
}

Json answer_json(const AnswerItem& item) {
  const Question& q = item.question;
  return {{"workload", text(q.workload_key)},
          {"device_hash", text(q.device_hash)},
          {"model_version", text(q.model_version)},
          {"generator_version", text(q.generator_version)},
          {"variant_filter", text(q.variant_filter)},
          {"objective", text(q.objective)},
          {"constraints", text(q.constraints)},
          {"grid", text(q.grid)},
          {"host", text(q.host)},
          {"proof", proof_json(item.proof)},
          {"stored_utc", text(item.stored_utc)}};
}

template <class T, class Convert>
Json list(const std::vector<T>& items, Convert convert) {
  Json json = Json::array();
  for (const T& item : items) json.push_back(convert(item));
  return json;
}

Json trial_json(const TrialItem& item) {
  const TrialRecord& t = item.trial;
  Json json{{"type", "trial"},
            {"run", item.run_uid},
            {"number", t.number},
            {"workload", text(t.workload_key)},
            {"device", text(t.device_name)},
            {"device_hash", text(t.device_hash)},
            {"model_version", text(t.model_version)},
            {"objective", text(t.objective)},
            {"constraints", text(t.constraints)},
            {"variant", text(t.variant)},
            {"schedule", text(t.schedule)},
            {"knobs", pairs(t.knobs)},
            {"status", word(t.status)}};
  put(json, "bound_cycles", t.bound_cycles);
  put(json, "bound_us", t.bound_us);
  put(json, "simulated_cycles", t.simulated_cycles);
  put(json, "simulated_us", t.simulated_us);
  json["traffic_bytes"] = pairs(t.traffic_bytes);
  if (const auto& m = t.measured) {
    json["measured"] = {{"min_us", m->min_us},           {"median_us", m->median_us},
                        {"repetitions", m->repetitions}, {"threads", m->threads},
                        {"host", text(m->host)},         {"conditions", text(m->conditions)}};
  }
  json["message"] = text(t.message);
  json["proofs"] = list(item.proofs, proof_json);
  json["kernels"] = list(item.kernels, kernel_json);
  json["verdicts"] = list(item.verdicts, verdict_json);
  json["answers"] = list(item.answers, answer_json);
  return json;
}

}  // namespace

std::string header_line() {
  return Json{{"type", "header"},
              {"format", "tilewright-database"},
              {"schema_version", kSchemaVersion},
              {"tool_version", tool_version()}}
      .dump();
}

std::string to_line(const Item& item) {
  if (const auto* device = std::get_if<Dated<DeviceRecord>>(&item))
    return device_json(*device).dump();
  if (const auto* run = std::get_if<RunRecord>(&item)) return run_json(*run).dump();
  return trial_json(std::get<TrialItem>(item)).dump();
}

}  // namespace tilewright::db
