// SPDX-License-Identifier: Apache-2.0
#include "device_model/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>

#include "device_model/device_keys.h"
#include "schedules/text.h"

namespace tilewright {
namespace {

NumberRule rule_of(const Device& device, std::string_view key) {
  for (const DeviceKey& known : device_keys(device.kind)) {
    if (known.name == key) return known.rule;
  }
  return NumberRule::on_off;  // no key of this kind: nothing to vary
}

std::optional<std::int64_t> cycles_with(const Workload& workload, const Schedule& schedule,
                                        Device device, const std::string& key, double factor) {
  DeviceNumber& number = device.numbers.find(key)->second;
  number.value *= factor;
  if (number_problem(rule_of(device, key), number.value)) return std::nullopt;
  const auto prediction = simulate(workload, schedule, device);
  return prediction ? prediction->cycles : std::nullopt;
}

}  // namespace

double Sensitivity::spread(const NumberEffect& effect, std::int64_t cycles) {
  const std::int64_t half = effect.at_half.value_or(cycles);
  const std::int64_t twice = effect.at_double.value_or(cycles);
  return static_cast<double>(std::max({half, twice, cycles})) /
         static_cast<double>(std::max<std::int64_t>(1, std::min({half, twice, cycles})));
}

std::vector<std::string> numbers_of_origin(const Device& device, Origin origin) {
  std::vector<std::string> keys;
  for (const auto& [key, number] : device.numbers) {
    const NumberRule rule = rule_of(device, key);
    const bool scales = rule == NumberRule::positive || rule == NumberRule::not_negative ||
                        key.ends_with("capacity_bytes");
    if (number.origin == origin && scales) keys.push_back(key);
  }
  return keys;
}

Result<Sensitivity> sensitivity(const Workload& workload, const Schedule& schedule,
                                const Device& device, const std::vector<std::string>& numbers) {
  const auto base = simulate(workload, schedule, device);
  if (!base) return pass_error(base);
  if (!base->cycles) return failure(fmt::format("{} has no cycles to compare", device.name));
  Sensitivity result;
  result.cycles = result.least = result.largest = *base->cycles;
  std::vector<std::string_view> known;
  for (const auto& [key, number] : device.numbers) known.push_back(key);
  for (const std::string& key : numbers) {
    const auto found = device.numbers.find(key);
    if (found == device.numbers.end()) {
      return usage_error(fmt::format("{}: unknown number '{}'; nearest is '{}'", device.name, key,
                                     nearest_name(key, known)));
    }
    NumberEffect& effect = result.effects.emplace_back();
    effect.key = key;
    effect.number = found->second;
    effect.at_half = cycles_with(workload, schedule, device, key, 0.5);
    effect.at_double = cycles_with(workload, schedule, device, key, 2);
    for (const auto& cycles : {effect.at_half, effect.at_double}) {
      if (!cycles) continue;
      result.least = std::min(result.least, *cycles);
      result.largest = std::max(result.largest, *cycles);
    }
  }
  std::stable_sort(result.effects.begin(), result.effects.end(),
                   [&](const NumberEffect& a, const NumberEffect& b) {
                     return Sensitivity::spread(a, result.cycles) >
                            Sensitivity::spread(b, result.cycles);
                   });
  return result;
}

}  // namespace tilewright
