// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <set>

#include "schedules/text.h"
#include "schedules/variants.h"
#include "tuner/report.h"
#include "tuner/verbs.h"

namespace tilewright {
namespace {

Json device_json(const Device& device, bool numbers) {
  Json json = Json::object()
                  .set("name", device.name)
                  .set("kind", kind_name(device.kind))
                  .set("hash", device.hash)
                  .set("description", device.description);
  if (!numbers) return json;
  Json list = Json::object();
  for (const auto& [key, number] : device.numbers) {
    list.set(key, Json::object()
                      .set("value", number.value)
                      .set("origin", origin_name(number.origin))
                      .set("note", number.note));
  }
  return json.set("numbers", std::move(list));
}

Result<Report> list(const Session& session) {
  auto devices = find_devices(session.installation);
  if (!devices) return pass_error(devices);
  Report report;
  report.json = Json::array();
  Table table({{"device"}, {"kind"}, {"hash"}, {"description"}});
  for (const Device& device : *devices) {
    report.json.push(device_json(device, false));
    table.row({device.name, std::string(kind_name(device.kind)), device.hash.substr(0, 12),
               device.description});
  }
  report.text = table.text();
  return report;
}

Result<Device> asked_device(const std::string& name, const Arguments& arguments,
                            const Session& session) {
  auto device = find_device(name, session.installation);
  if (!device) return device;
  return with_overrides(*std::move(device), arguments.texts("--set"));
}

Result<Report> show(const std::string& name, const Arguments& arguments, const Session& session) {
  auto device = asked_device(name, arguments, session);
  if (!device) return pass_error(device);
  Report report;
  report.json = device_json(*device, true);
  Table table({{"number"}, {"value", Align::right}, {"origin"}, {"note"}});
  for (const auto& [key, number] : device->numbers) {
    table.row({key, fmt::format("{}", number.value), std::string(origin_name(number.origin)),
               number.note});
  }
  const std::string dataflow = device->dataflow.empty() ? "" : ", dataflow " + device->dataflow;
  report.text = fmt::format("{} ({}{}), hash {}\n{}\n\n{}", device->name, kind_name(device->kind),
                            dataflow, device->hash, device->description, table.text());
  return report;
}

std::string number_text(const DeviceNumber* number) {
  return number == nullptr ? "-" : fmt::format("{}", number->value);
}

// The numbers that differ; those that only one of the two has (other kinds) differ too.
Result<Report> diff(const std::string& one, const std::string& other, const Session& session) {
  auto a = find_device(one, session.installation);
  if (!a) return pass_error(a);
  auto b = find_device(other, session.installation);
  if (!b) return pass_error(b);
  std::set<std::string_view> keys;
  for (const auto& [key, number] : a->numbers) keys.insert(key);
  for (const auto& [key, number] : b->numbers) keys.insert(key);
  const auto find = [](const Device& device, std::string_view key) {
    const auto found = device.numbers.find(key);
    return found == device.numbers.end() ? nullptr : &found->second;
  };
  Table table({{"number"}, {a->name, Align::right}, {b->name, Align::right}, {"origins"}});
  Json numbers = Json::object();
  std::size_t count = 0;
  for (const std::string_view key : keys) {
    const DeviceNumber* left = find(*a, key);
    const DeviceNumber* right = find(*b, key);
    if (left != nullptr && right != nullptr && left->value == right->value) continue;
    ++count;
    std::string origins(left == nullptr ? "-" : origin_name(left->origin));
    origins += fmt::format(", {}", right == nullptr ? "-" : origin_name(right->origin));
    table.row({std::string(key), number_text(left), number_text(right), origins});
    Json pair = Json::object();
    if (left != nullptr) pair.set("a", left->value);
    if (right != nullptr) pair.set("b", right->value);
    numbers.set(std::string(key), std::move(pair));
  }
  Report report;
  report.json = Json::object()
                    .set("a", device_json(*a, false))
                    .set("b", device_json(*b, false))
                    .set("numbers", std::move(numbers));
  report.text = count == 0 ? fmt::format("{} and {} have the same numbers\n", a->name, b->name)
                           : table.text();
  return report;
}

Result<Report> run(const Arguments& arguments, Session& session) {
  const auto action = arguments.text("ACTION");
  if (!action) return list(session);
  const auto name = arguments.text("NAME");
  const auto other = arguments.text("OTHER");
  if (*action == "show") {
    if (!name || other)
      return usage_error("devices show wants one NAME; tilewright devices lists them");
    return show(*name, arguments, session);
  }
  if (*action == "diff") {
    if (!name || !other)
      return usage_error("devices diff wants two names; tilewright devices lists them");
    if (arguments.flag("--set"))
      return usage_error("--set changes one device: use it with devices show");
    return diff(*name, *other, session);
  }
  constexpr std::array<std::string_view, 2> kActions{"show", "diff"};
  return usage_error(
      fmt::format("unknown action '{}'; nearest: {}", *action, nearest_name(*action, kActions)));
}

}  // namespace

Verb devices_verb() {
  return {{"devices",
           "List devices, show the numbers of one with their origin, or what differs between two.",
           {{"ACTION", "show NAME or diff NAME OTHER", false},
            {"NAME", "a device of the list, or a TOML file", false},
            {"OTHER", "the device to compare with", false}},
           {kSetOption},
           "tilewright devices show ascend_910b4"},
          run};
}

}  // namespace tilewright
