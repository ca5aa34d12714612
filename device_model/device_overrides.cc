// SPDX-License-Identifier: Apache-2.0
// Numbers replaced for what-if questions.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "device_model/device.h"
#include "device_model/device_keys.h"
#include "schedules/text.h"

namespace tilewright {
namespace {

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

const DeviceKey* find_key(DeviceKind kind, std::string_view name) {
  const auto keys = device_keys(kind);
  const auto found = std::find_if(keys.begin(), keys.end(),
                                  [&](const DeviceKey& key) { return key.name == name; });
  return found == keys.end() ? nullptr : &*found;
}

std::string unknown_number(const Device& device, std::string_view name) {
  std::vector<std::string_view> names;
  for (const DeviceKey& key : device_keys(device.kind)) names.push_back(key.name);
  return fmt::format("{} has no number '{}'; nearest is '{}'", device.name, name,
                     nearest_name(name, names));
}

// Empty if done, else what is wrong.
std::optional<std::string> assign(Device& device, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return "write key=value, for example clock_mhz=1800";
  const std::string_view name = text.substr(0, equals);
  const DeviceKey* key = find_key(device.kind, name);
  if (key == nullptr) return unknown_number(device, name);
  const std::string_view value_text = text.substr(equals + 1);
  const auto value = number_of(value_text);
  if (!value) return fmt::format("{} must be a number, not '{}'", name, value_text);
  if (const auto problem = number_problem(key->rule, *value))
    return fmt::format("{} {}", name, *problem);
  DeviceNumber& number = device.numbers.find(name)->second;
  number.note = fmt::format("set for this question; the device has {} ({})", number.value,
                            origin_name(number.origin));
  number.origin = Origin::assumed;
  number.value = *value;
  return std::nullopt;
}

}  // namespace

Result<Device> with_overrides(Device device, std::span<const std::string> assignments) {
  std::vector<std::string_view> given;
  for (const std::string& text : assignments) {
    if (const auto problem = assign(device, text))
      return usage_error(fmt::format("--set {}: {}", text, *problem));
    const std::string_view name = std::string_view(text).substr(0, text.find('='));
    if (std::find(given.begin(), given.end(), name) != given.end())
      return usage_error(fmt::format("--set {}: {} is given twice; keep one", text, name));
    given.push_back(name);
  }
  if (const auto problem = relation_problem(device)) {
    return usage_error(
        fmt::format("--set {}: {} {}", join(given, " "), problem->key, problem->text));
  }
  set_hash(device);
  return device;
}

}  // namespace tilewright
