// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

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

Result<Report> show(const std::string& name, const Session& session) {
  auto device = find_device(name, session.installation);
  if (!device) return pass_error(device);
  Report report;
  report.json = device_json(*device, true);
  Table table({{"number"}, {"value", Align::right}, {"origin"}, {"note"}});
  for (const auto& [key, number] : device->numbers) {
    table.row({key, fmt::format("{}", number.value), std::string(origin_name(number.origin)),
               number.note});
  }
  report.text = fmt::format("{} ({}), hash {}\n{}\n\n{}", device->name, kind_name(device->kind),
                            device->hash, device->description, table.text());
  return report;
}

Result<Report> run(const Arguments& arguments, Session& session) {
  const auto action = arguments.text("ACTION");
  if (!action) return list(session);
  if (*action != "show")
    return usage_error(fmt::format("unknown action '{}'; nearest: show", *action));
  const auto name = arguments.text("NAME");
  if (!name) return usage_error("devices show wants a NAME; tilewright devices lists them");
  return show(*name, session);
}

}  // namespace

Verb devices_verb() {
  return {{"devices",
           "List devices, or show the numbers of one with their origin.",
           {{"ACTION", "show", false}, {"NAME", "a device of the list, or a TOML file", false}},
           {},
           "tilewright devices show ascend_910b4"},
          run};
}

}  // namespace tilewright
