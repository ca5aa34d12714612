// SPDX-License-Identifier: Apache-2.0
// What is asked: which strategy, variants and grid, and the question as the database knows it.
#include <fmt/format.h>

#include "device_model/model.h"
#include "schedules/space.h"
#include "schedules/text.h"
#include "tuner/tune.h"

namespace tilewright {
namespace {

constexpr const char* kCoarseGrid = "coarse";
constexpr const char* kHandGrid = "hand";

}  // namespace

bool is_measured(const Device& device) { return !has_simulator(device); }

Result<const StrategyRow*> chosen_strategy(const TuneRequest& request) {
  const bool measured = is_measured(request.device);
  const std::string name = !request.strategy.empty() ? request.strategy
                           : measured                ? "measured_grid"
                                                     : "best_first";
  const StrategyRow* row = find_strategy(name);
  if (!row) {
    std::vector<std::string_view> names;
    for (const StrategyRow& known : strategies()) names.push_back(known.name);
    return usage_error(fmt::format("unknown strategy '{}'; nearest: {} (of {})", name,
                                   nearest_name(name, names), join(names, ", ")));
  }
  if (row->needs_simulator && measured) {
    return usage_error(
        fmt::format("strategy {} simulates, and device {} is measured instead: use measured_grid",
                    name, request.device.name));
  }
  if (name == "measured_grid" && !measured) {
    return usage_error(fmt::format(
        "strategy measured_grid runs kernels, and device {} is not this machine: use best_first",
        request.device.name));
  }
  return row;
}

Result<std::vector<Variant>> chosen_variants(const Workload& workload, const Device& device,
                                             const std::string& variant) {
  std::vector<Variant> chosen;
  std::vector<std::string_view> names;
  std::string refused;
  for (const Variant candidate : variants_of(workload, device.kind)) {
    names.push_back(variant_name(candidate));
    if (!variant.empty() && variant != variant_name(candidate)) continue;
    if (const auto reason = refusal(workload, candidate, device.kind)) {
      refused = *reason;
    } else {
      chosen.push_back(candidate);
    }
  }
  if (!chosen.empty()) return chosen;
  if (!refused.empty()) return failure(refused);
  if (names.empty()) {
    return failure(
        fmt::format("no variant of {} exists for device {}", operator_name(workload), device.name));
  }
  return usage_error(fmt::format("{} has no variant '{}' on device {}; nearest: {} (of {})",
                                 operator_name(workload), variant, device.name,
                                 nearest_name(variant, names), join(names, ", ")));
}

SearchProblem search_problem(const Target& target, const std::vector<Variant>& variants,
                             std::function<bool()> stop) {
  SearchProblem problem;
  const Limits limits = limits_of(target.device);
  const Workload& workload = target.workload;
  const auto model = std::make_shared<CostModel>(workload, target.device);
  problem.for_each_point = [workload, variants,
                            limits](const std::function<void(const Schedule&)>& visit) {
    for (const Variant variant : variants)
      for_each_point(workload, variant, limits, Grid::coarse, visit);
  };
  for (const Variant variant : variants) {
    const SpaceSize size = space_size(workload, variant, limits, Grid::coarse);
    problem.points += size.points;
    for (const auto& [limit, count] : size.by_limit) problem.by_limit[limit] += count;
  }
  problem.bound = [model](const Schedule& schedule) { return model->bound_cycles(schedule); };
  problem.traffic_bytes = [workload, device = target.device](const Schedule& schedule) {
    std::int64_t sum = 0;
    if (const auto prediction = bound(workload, schedule, device)) {
      for (const auto& [path, bytes] : prediction->traffic_bytes) sum += bytes;
    }
    return sum;
  };
  problem.text = [workload, kind = target.device.kind](const Schedule& schedule) {
    return to_text(schedule, workload, kind);
  };
  problem.microseconds = [model](std::int64_t cost) { return model->microseconds(cost); };
  for (const Variant variant : variants) {
    const auto hand = hand_schedule(workload, variant, limits);
    if (hand && !first_violation(workload, *hand, limits)) problem.hand.push_back(*hand);
  }
  problem.stop = std::move(stop);
  return problem;
}

Result<Question> question_of(const TuneRequest& request, const Installation& installation) {
  auto row = chosen_strategy(request);
  if (!row) return pass_error(row);
  Question question;
  question.workload_key = to_key(request.workload);
  question.device_hash = request.device.hash;
  question.model_version = kModelVersion;
  question.variant_filter = request.variant;
  question.grid = (*row)->name == "hand_rules" ? kHandGrid : kCoarseGrid;
  if (is_measured(request.device)) {
    // A simulated answer does not depend on the generator; a measured one does, and on the machine.
    auto versions = emitter_versions(installation, request.workload);
    if (!versions) return pass_error(versions);
    question.generator_version = versions->generator;
    question.host = cpu_model();
    question.constraints = fmt::format("threads:{}", request.threads);
  }
  return question;
}

}  // namespace tilewright
