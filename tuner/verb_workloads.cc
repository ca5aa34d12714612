// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "schedules/text.h"
#include "tuner/report.h"
#include "tuner/verbs.h"

namespace tilewright {
namespace {

std::string shape_text(const ArrayShape& shape) {
  std::string text;
  for (const std::int64_t extent : shape.extents)
    text += fmt::format("{}{}", text.empty() ? "" : " x ", extent);
  return text;
}

Json shape_json(const ArrayShape& shape) {
  Json extents = Json::array();
  for (const std::int64_t extent : shape.extents) extents.push(extent);
  return Json::object().set("name", shape.name).set("extents", std::move(extents));
}

Json workload_json(const std::string& name, const Workload& workload) {
  return Json::object()
      .set("name", name)
      .set("key", to_key(workload))
      .set("operator", operator_name(workload))
      .set("macs", direct_macs(workload))
      .set("outputs", output_count(workload));
}

Result<Report> list(const Session& session) {
  auto workloads = list_workloads(session.installation.workloads_dir);
  if (!workloads) return pass_error(workloads);
  Report report;
  report.json = Json::array();
  Table table({{"workload"}, {"multiply-adds", Align::right}, {"outputs", Align::right}, {"key"}});
  for (const NamedWorkload& named : *workloads) {
    report.json.push(workload_json(named.name, named.workload).set("file", named.file));
    table.row({named.name, with_commas(direct_macs(named.workload)),
               with_commas(output_count(named.workload)), to_key(named.workload)});
  }
  report.text = table.text();
  return report;
}

Result<Report> show(const std::string& name, const Session& session) {
  auto workload = find_workload(name, session.installation.workloads_dir);
  if (!workload) return pass_error(workload);
  Report report;
  Json inputs = Json::array();
  Table table({{"array"}, {"shape"}, {"bytes", Align::right}});
  const auto add = [&](const ArrayShape& shape) {
    std::int64_t bytes = bytes_of(dtype_of(*workload));
    for (const std::int64_t extent : shape.extents) bytes *= extent;
    table.row({shape.name, shape_text(shape), bytes_text(bytes)});
  };
  for (const ArrayShape& shape : input_shapes(*workload)) {
    inputs.push(shape_json(shape));
    add(shape);
  }
  add(output_shape(*workload));
  report.json = workload_json(name, *workload);
  report.json.set("inputs", std::move(inputs)).set("output", shape_json(output_shape(*workload)));
  report.text = fmt::format("{}\n{} multiply-adds\n\n{}", to_key(*workload),
                            with_commas(direct_macs(*workload)), table.text());
  return report;
}

Result<Report> run(const Arguments& arguments, Session& session) {
  const auto action = arguments.text("ACTION");
  if (!action) return list(session);
  if (*action != "show")
    return usage_error(fmt::format("unknown action '{}'; nearest: show", *action));
  const auto name = arguments.text("NAME");
  if (!name) return usage_error("workloads show wants a NAME; tilewright workloads lists them");
  return show(*name, session);
}

}  // namespace

Verb workloads_verb() {
  return {{"workloads",
           "List the layers of the repository, or show one.",
           {{"ACTION", "show", false},
            {"NAME", "a workload of the list, a TOML file, or a canonical key", false}},
           {},
           "tilewright workloads show large-fp16-p2"},
          run};
}

}  // namespace tilewright
