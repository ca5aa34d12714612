// SPDX-License-Identifier: Apache-2.0
// Reading what json_lines.cc writes. Strict: a field that is missing or of the wrong type is an
// error that names it.
#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "db/database_file.h"
#include "db/json_lines.h"
#include "db/words.h"

namespace tilewright::db {
namespace {

using Json = nlohmann::json;

// The library throws in any case; caught with its exceptions in parse_line().
struct ParseError {
  std::string message;
};

const Json& field(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end()) throw ParseError{fmt::format("the field {} is missing", name)};
  return *found;
}

[[noreturn]] void wrong_type(const char* name, const char* wanted) {
  throw ParseError{fmt::format("the field {} is no {}", name, wanted)};
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::string from_hex(const std::string& hex, const char* name) {
  std::string bytes;
  if (hex.size() % 2 != 0) wrong_type(name, "text in hex");
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = hex_digit(hex[i]), low = hex_digit(hex[i + 1]);
    if (high < 0 || low < 0) wrong_type(name, "text in hex");
    bytes += static_cast<char>(16 * high + low);
  }
  return bytes;
}

std::string as_text(const Json& json, const char* name) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_object() && json.size() == 1 && json.contains("hex") && json["hex"].is_string()) {
    return from_hex(json["hex"].get<std::string>(), name);
  }
  wrong_type(name, "text");
}

std::int64_t as_integer(const Json& json, const char* name) {
  const bool fits = json.is_number_integer() &&
                    (!json.is_number_unsigned() ||
                     json.get<std::uint64_t>() <=
                         static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  if (!fits) wrong_type(name, "integer of 64 bits");
  return json.get<std::int64_t>();
}

double as_real(const Json& json, const char* name) {
  if (json.is_number()) return json.get<double>();
  if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  wrong_type(name, "number");
}

std::string text(const Json& json, const char* name) { return as_text(field(json, name), name); }
std::int64_t integer(const Json& json, const char* name) {
  return as_integer(field(json, name), name);
}
double real(const Json& json, const char* name) { return as_real(field(json, name), name); }

std::optional<std::int64_t> optional_integer(const Json& json, const char* name) {
  if (!json.contains(name)) return std::nullopt;
  return integer(json, name);
}
std::optional<double> optional_real(const Json& json, const char* name) {
  if (!json.contains(name)) return std::nullopt;
  return real(json, name);
}

template <class Take>
void for_each_in(const Json& json, const char* name, Take take) {
  const Json& list = field(json, name);
  if (!list.is_array()) wrong_type(name, "list");
  for (const Json& item : list) take(item);
}

template <class Value, class Convert>
std::map<std::string, Value> pairs(const Json& json, const char* name, Convert convert) {
  std::map<std::string, Value> map;
  for_each_in(json, name, [&](const Json& pair) {
    if (!pair.is_array() || pair.size() != 2) wrong_type(name, "list of pairs");
    map[as_text(pair[0], name)] = convert(pair[1], name);
  });
  return map;
}

Dated<DeviceRecord> device_of(const Json& json) {
  return {{text(json, "name"), text(json, "hash"), text(json, "content")},
          text(json, "stored_utc")};
}

RunRecord run_of(const Json& json) {
  RunRecord run;
  run.uid = text(json, "uid");
  if (run.uid.empty()) throw ParseError{"the field uid is empty"};
  run.versions = {text(json, "tool_version"), text(json, "model_version"),
                  text(json, "generator_version"), text(json, "halide_version"),
                  text(json, "git_revision")};
  run.command_line = text(json, "command_line");
  const Json& seed = field(json, "seed");
  if (!seed.is_number_unsigned()) wrong_type("seed", "integer without sign");
  run.seed = seed.get<std::uint64_t>();
  run.host = text(json, "host");
  run.started_utc = text(json, "started_utc");
  run.ended_utc = text(json, "ended_utc");
  const auto state = find_run_state(text(json, "state"));
  if (!state) wrong_type("state", "state of a run");
  run.state = *state;
  return run;
}

Dated<ProofRecord> proof_of(const Json& json) {
  ProofRecord p;
  p.strategy = text(json, "strategy");
  p.grid = text(json, "grid");
  p.points = integer(json, "points");
  p.feasible = integer(json, "feasible_points");
  p.cut = integer(json, "cut_points");
  p.simulated = integer(json, "simulated_points");
  p.measured = integer(json, "measured_points");
  p.by_limit = pairs<std::int64_t>(json, "by_limit", as_integer);
  const Json& proved = field(json, "proved_optimal");
  if (!proved.is_boolean()) wrong_type("proved_optimal", "true or false");
  p.proved_optimal = proved.get<bool>();
  p.tie_rule = text(json, "tie_rule");
  p.seconds = real(json, "seconds");
  p.best_remaining_bound_us = optional_real(json, "best_remaining_bound_us");
  p.gap = optional_real(json, "gap");
  return {std::move(p), text(json, "stored_utc")};
}

Dated<KernelRecord> kernel_of(const Json& json) {
  return {{text(json, "name"), text(json, "target"), text(json, "halide_version"),
           text(json, "generator_version"), pairs<std::string>(json, "artefacts", as_text)},
          text(json, "stored_utc")};
}

Dated<VerdictRecord> verdict_of(const Json& json) {
  VerdictRecord v;
  v.verdict = text(json, "verdict");
  v.worst_ratio = real(json, "worst_ratio");
  v.failures = integer(json, "failures");
  v.outputs = integer(json, "outputs");
  v.gate = text(json, "gate");
  v.inputs = text(json, "inputs");
  v.output_digest = text(json, "output_digest");
  v.target = text(json, "target");
  v.message = text(json, "message");
  return {std::move(v), text(json, "checked_utc")};
}

AnswerItem answer_of(const Json& json) {
  Question q;
  q.workload_key = text(json, "workload");
  q.device_hash = text(json, "device_hash");
  q.model_version = text(json, "model_version");
  q.generator_version = text(json, "generator_version");
  q.variant_filter = text(json, "variant_filter");
  q.objective = text(json, "objective");
  q.constraints = text(json, "constraints");
  q.grid = text(json, "grid");
  q.host = text(json, "host");
  return {std::move(q), proof_of(field(json, "proof")), text(json, "stored_utc")};
}

TrialItem trial_of(const Json& json) {
  TrialItem item;
  item.run_uid = text(json, "run");
  TrialRecord& t = item.trial;
  t.number = integer(json, "number");
  t.workload_key = text(json, "workload");
  t.device_name = text(json, "device");
  t.device_hash = text(json, "device_hash");
  t.model_version = text(json, "model_version");
  t.objective = text(json, "objective");
  t.constraints = text(json, "constraints");
  t.variant = text(json, "variant");
  t.schedule = text(json, "schedule");
  t.knobs = pairs<std::string>(json, "knobs", as_text);
  const auto status = find_trial_status(text(json, "status"));
  if (!status) wrong_type("status", "status of a trial");
  t.status = *status;
  t.bound_cycles = optional_integer(json, "bound_cycles");
  t.bound_us = optional_real(json, "bound_us");
  t.simulated_cycles = optional_integer(json, "simulated_cycles");
  t.simulated_us = optional_real(json, "simulated_us");
  t.traffic_bytes = pairs<std::int64_t>(json, "traffic_bytes", as_integer);
  if (const auto m = json.find("measured"); m != json.end()) {
    t.measured =
        Measurement{real(*m, "min_us"),     real(*m, "median_us"), integer(*m, "repetitions"),
                    integer(*m, "threads"), text(*m, "host"),      text(*m, "conditions")};
  }
  t.message = text(json, "message");
  for_each_in(json, "proofs", [&](const Json& j) { item.proofs.push_back(proof_of(j)); });
  for_each_in(json, "kernels", [&](const Json& j) { item.kernels.push_back(kernel_of(j)); });
  for_each_in(json, "verdicts", [&](const Json& j) { item.verdicts.push_back(verdict_of(j)); });
  for_each_in(json, "answers", [&](const Json& j) { item.answers.push_back(answer_of(j)); });
  return item;
}

void check_header(const Json& json) {
  if (text(json, "format") != "tilewright-database") wrong_type("format", "tilewright-database");
  const std::int64_t version = integer(json, "schema_version");
  if (version <= kSchemaVersion) return;
  throw ParseError{fmt::format(
      "the lines have schema version {}, and tilewright {} reads versions up to {}: use "
      "tilewright {} or newer",
      version, tool_version(), kSchemaVersion, text(json, "tool_version"))};
}

std::optional<Item> item_of(const Json& json) {
  if (!json.is_object()) throw ParseError{"the line is no JSON object"};
  const std::string type = text(json, "type");
  if (type == "device") return device_of(json);
  if (type == "run") return run_of(json);
  if (type == "trial") return trial_of(json);
  if (type != "header")
    throw ParseError{fmt::format("'{}' is no type: header, device, run or trial", type)};
  check_header(json);
  return std::nullopt;
}

}  // namespace

Result<std::optional<Item>> parse_line(const std::string& line) {
  if (line.find_first_not_of(" \t\r") == std::string::npos) return std::optional<Item>();
  try {
    return item_of(Json::parse(line));
  } catch (const ParseError& error) {
    return failure(error.message);
  } catch (const Json::exception& error) {
    return failure(error.what());
  }
}

}  // namespace tilewright::db
