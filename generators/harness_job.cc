// SPDX-License-Identifier: Apache-2.0
#include "generators/harness_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "schedules/text.h"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

// Reads the fields of one JSON object and remembers the first thing that is wrong.
class Fields {
 public:
  Fields(const Json& object, std::string where, std::initializer_list<std::string_view> known)
      : object_(object), where_(std::move(where)) {
    if (!object.is_object()) {
      fail(fmt::format("{} must be an object", where_));
      return;
    }
    const std::span names(known.begin(), known.size());
    for (const auto& [name, value] : object.items()) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      fail(fmt::format("{} has an unknown field '{}': did you mean '{}'?", where_, name,
                       nearest_name(name, names)));
    }
  }

  const std::string& error() const { return error_; }
  void fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }

  // The field, or nullptr if it is missing or null.
  const Json* find(const char* name) const {
    if (!error_.empty()) return nullptr;
    const auto found = object_.find(name);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  void read(const char* name, bool& to) {
    const Json* const value = find(name);
    if (value == nullptr) return;
    if (!value->is_boolean()) return wrong(name, "true or false", *value);
    to = value->get<bool>();
  }
  void read(const char* name, int& to, int smallest, int largest) {
    const Json* const value = find(name);
    if (value == nullptr) return;
    if (!value->is_number_integer() || value->get<std::int64_t>() < smallest ||
        value->get<std::int64_t>() > largest ||
        (value->is_number_unsigned() && value->get<std::uint64_t>() > 1u << 30)) {
      return wrong(name, fmt::format("a whole number from {} to {}", smallest, largest), *value);
    }
    to = value->get<int>();
  }
  void read(const char* name, std::uint64_t& to) {
    const Json* const value = find(name);
    if (value == nullptr) return;
    if (!value->is_number_unsigned()) return wrong(name, "a whole number from 0 to 2^64-1", *value);
    to = value->get<std::uint64_t>();
  }
  void read(const char* name, std::string& to) {
    const Json* const value = find(name);
    if (value == nullptr) return;
    if (!value->is_string() || value->get_ref<const std::string&>().empty()) {
      return wrong(name, "a text that is not empty", *value);
    }
    to = value->get<std::string>();
  }
  void read(const char* name, std::optional<std::string>& to) {
    if (find(name) == nullptr) return;
    to.emplace();
    read(name, *to);
  }
  void require(const char* name) {
    if (find(name) == nullptr) fail(fmt::format("{} lacks the field '{}'", where_, name));
  }

 private:
  void wrong(const char* name, std::string_view expected, const Json& found) {
    fail(fmt::format("field '{}' of {} must be {}, found {}", name, where_, expected,
                     found.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 80)));
  }

  const Json& object_;
  std::string where_;
  std::string error_;
};

Result<InputSource> parse_input(const Json& json, const std::string& name) {
  Fields fields(json, fmt::format("input '{}'", name), {"npy", "class", "seed"});
  InputSource source;
  std::string signal = "normal";
  fields.read("npy", source.npy);
  fields.read("class", signal);
  fields.read("seed", source.seed);
  if (!source.npy.empty() && (fields.find("class") != nullptr || fields.find("seed") != nullptr)) {
    fields.fail(fmt::format("input '{}' has both a file and a class: give one of them", name));
  }
  if (!fields.error().empty()) return usage_error(fields.error());
  const auto parsed = parse_signal_class(signal);
  if (!parsed) return pass_error(parsed);
  source.signal = *parsed;
  return source;
}

Result<KernelFile> parse_kernel(const Json& json) {
  Fields fields(json, "a kernel", {"so", "function"});
  KernelFile kernel;
  fields.require("so");
  fields.require("function");
  fields.read("so", kernel.so);
  fields.read("function", kernel.function);
  if (!fields.error().empty()) return usage_error(fields.error());
  return kernel;
}

std::map<std::string, InputSource> default_inputs(const Workload& workload) {
  std::map<std::string, InputSource> inputs;
  for (const ArrayShape& shape : input_shapes(workload)) inputs[shape.name] = {};
  const auto* bank = std::get_if<Conv1dBank>(&workload);
  if (bank != nullptr && bank->symmetry == Symmetry::even_odd && bank->cin == 1 &&
      bank->k % 2 == 1 && bank->k > 1) {
    inputs["w"].signal = SignalClass::sincnet_bank;
  }
  return inputs;
}

Result<void> parse_inputs(const Json& json, HarnessJob& job) {
  if (!json.is_object()) return usage_error("field 'inputs' of the job must be an object");
  for (const auto& [name, value] : json.items()) {
    if (!job.inputs.contains(name)) {
      std::vector<std::string_view> names;
      for (const auto& [known, source] : job.inputs) names.push_back(known);
      return usage_error(fmt::format("{} has no input '{}': it has {}", to_key(job.workload), name,
                                     join(names, ", ")));
    }
    auto source = parse_input(value, name);
    if (!source) return pass_error(source);
    job.inputs[name] = *std::move(source);
  }
  return {};
}

Result<void> parse_lists(const Fields& fields, HarnessJob& job) {
  const Json& kernels = *fields.find("kernels");
  if (!kernels.is_array() || kernels.empty())
    return usage_error("field 'kernels' of the job must be a list of kernels");
  for (const Json& json : kernels) {
    auto kernel = parse_kernel(json);
    if (!kernel) return pass_error(kernel);
    job.kernels.push_back(*std::move(kernel));
  }
  job.inputs = default_inputs(job.workload);
  const Json* const inputs = fields.find("inputs");
  return inputs == nullptr ? Result<void>{} : parse_inputs(*inputs, job);
}

Result<HarnessJob> parse_object(const Json& json) {
  Fields fields(json, "the job",
                {"workload", "kernels", "inputs", "check", "reference_cache", "repeat", "warmup",
                 "threads", "output_npy", "peak", "integer_check", "fp32_reference"});
  HarnessJob job;
  std::string key;
  fields.require("workload");
  fields.require("kernels");
  fields.read("workload", key);
  fields.read("check", job.check);
  fields.read("reference_cache", job.reference_cache);
  fields.read("repeat", job.repeat, 0, 1'000'000);
  fields.read("warmup", job.warmup, 0, 1'000'000);
  fields.read("threads", job.threads, 1, 1024);
  fields.read("output_npy", job.output_npy);
  fields.read("peak", job.peak);
  fields.read("integer_check", job.integer_check);
  fields.read("fp32_reference", job.fp32_reference);
  if (!fields.error().empty()) return usage_error(fields.error());
  const auto workload = parse_workload_key(key);
  if (!workload) return pass_error(workload);
  job.workload = *workload;
  if (auto lists = parse_lists(fields, job); !lists) return pass_error(lists);
  return job;
}

// JSON has no NaN and no Inf: they become texts.
Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

void add_gate(Json& json, const GateReport& report) {
  json["worst_ratio"] = report.worst_ratio;
  json["failures"] = report.failures;
  json["unrated_failures"] = report.unrated_failures;
  json["outputs"] = report.outputs;
  json["published_gate_failures"] = report.published_failures;
  if (!report.first_failure) return;
  const GateFailure& first = *report.first_failure;
  json["first_failure"] = {{"index", first.index},
                           {"got", number(first.got)},
                           {"expected", number(first.expected)},
                           {"tolerance", number(first.tolerance)}};
}

Json kernel_json(const KernelOutcome& kernel) {
  Json json;
  json["function"] = kernel.function;
  json["status"] = status_name(kernel.status);
  if (!kernel.message.empty()) json["message"] = kernel.message;
  if (!kernel.target.empty()) json["target"] = kernel.target;
  json["times_us"] = kernel.times_us;
  if (!kernel.times_us.empty()) {
    std::vector<double> sorted = kernel.times_us;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t middle = sorted.size() / 2;
    json["min_us"] = sorted.front();
    json["median_us"] =
        sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
  if (kernel.gate) add_gate(json, *kernel.gate);
  if (kernel.integers) {
    add_gate(json["integers"], *kernel.integers);
    json["integers"].erase("worst_ratio");  // there is none: the tolerance is 0
  }
  if (!kernel.digest.empty()) json["digest"] = kernel.digest;
  json["guards_ok"] = kernel.guards_ok;
  json["repeatable"] = kernel.repeatable;
  return json;
}

std::string to_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string_view status_name(HarnessStatus status) {
  constexpr std::array<std::string_view, 4> kNames{"ok", "mismatch", "run_failed", "usage"};
  return kNames[static_cast<std::size_t>(status)];
}

Result<HarnessJob> parse_job(const std::string& text) {
  try {
    return parse_object(Json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    const std::string_view words = error.what();  // "[name of the exception] what is wrong"
    const auto bracket = words.find("] ");
    return usage_error(fmt::format("the job is no JSON: {}",
                                   bracket == words.npos ? words : words.substr(bracket + 2)));
  }
}

std::string render(const HarnessOutcome& outcome) {
  Json json;
  json["status"] = status_name(outcome.status);
  if (!outcome.message.empty()) json["message"] = outcome.message;
  json["kernels"] = Json::array();
  for (const KernelOutcome& kernel : outcome.kernels)
    json["kernels"].push_back(kernel_json(kernel));
  if (outcome.reference) {
    Json& reference = json["reference"];
    reference["seconds"] = outcome.reference->seconds;
    reference["cached"] = outcome.reference->cached;
    if (!outcome.reference->cache_error.empty())
      reference["cache_error"] = outcome.reference->cache_error;
    if (outcome.reference->fp32_sequential_failures) {
      reference["fp32_sequential_failures"] = *outcome.reference->fp32_sequential_failures;
    }
  }
  if (!outcome.gate.empty()) json["gate"] = outcome.gate;
  json["inputs_digest"] = outcome.inputs_digest;
  if (outcome.peak_one && outcome.peak_all) {
    json["fma_peak_gmacs"] = {{"threads_1", outcome.peak_one->gmacs},
                              {"threads_T", outcome.peak_all->gmacs},
                              {"instruction_set", outcome.peak_all->instruction_set}};
  }
  json["threads"] = outcome.threads;
  json["peak_memory_bytes"] = outcome.peak_memory_bytes;
  return to_line(json);
}

std::string render_error(HarnessStatus status, const std::string& message) {
  return to_line({{"status", status_name(status)}, {"message", message}});
}

std::string render_guard_fault(const std::string& function, const std::string& message) {
  KernelOutcome kernel;
  kernel.function = function;
  kernel.status = HarnessStatus::run_failed;
  kernel.message = message;
  kernel.guards_ok = false;
  Json json{{"status", status_name(kernel.status)}, {"message", message}};
  json["kernels"] = Json::array({kernel_json(kernel)});
  return to_line(json);
}

}  // namespace tilewright
