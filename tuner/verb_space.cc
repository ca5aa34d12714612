// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "schedules/space.h"
#include "schedules/text.h"
#include "tuner/report.h"
#include "tuner/tune.h"
#include "tuner/verbs.h"

namespace tilewright {
namespace {

Result<Report> run(const Arguments& arguments, Session& session) {
  auto layer = layer_on_device(arguments, session);
  if (!layer) return pass_error(layer);
  auto variants =
      chosen_variants(layer->workload, layer->device, arguments.text("--variant").value_or(""));
  if (!variants) return pass_error(variants);

  const Limits limits = limits_of(layer->device);
  SpaceSize total;
  Json by_variant = Json::object();
  Table table({{"variant"}, {"points", Align::right}, {"feasible", Align::right}, {"refused by"}});
  for (const Variant variant : *variants) {
    const SpaceSize size = space_size(layer->workload, variant, limits, Grid::coarse);
    std::string refused;
    for (const auto& [limit, count] : size.by_limit) {
      refused += fmt::format("{}{} {}", refused.empty() ? "" : ", ", limit, with_commas(count));
      total.by_limit[limit] += count;
    }
    total.points += size.points;
    total.feasible += size.feasible;
    const std::string name(variant_name(variant));
    table.row({name, with_commas(size.points), with_commas(size.feasible), refused});
    by_variant.set(name, Json::object()
                             .set("points", size.points)
                             .set("feasible", size.feasible)
                             .set("by_limit", Json::object_of(size.by_limit)));
  }
  Report report;
  report.json = Json::object()
                    .set("workload", to_key(layer->workload))
                    .set("device", layer->device.name)
                    .set("grid", "coarse")
                    .set("points", total.points)
                    .set("feasible", total.feasible)
                    .set("by_limit", Json::object_of(total.by_limit))
                    .set("variants", std::move(by_variant));
  report.text = fmt::format("{} on {}, coarse grid\n\n{}", to_key(layer->workload),
                            layer->device.name, table.text());
  return report;
}

}  // namespace

Verb space_verb() {
  return {{"space",
           "Count the schedules of a layer on a device, and what refuses the others.",
           {kWorkloadArgument},
           {kDeviceOption, kSetOption, {"--variant", "NAME", "only this variant"}},
           "tilewright space large-fp16-p2 --device ascend_910b4"},
          run};
}

}  // namespace tilewright
