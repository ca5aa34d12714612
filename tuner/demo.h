// SPDX-License-Identifier: Apache-2.0
// The main job on the two reference layers: tune, generate, check, compare, store. Everything it
// does goes through the same functions as the other verbs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tuner/tune.h"

namespace tilewright {

struct DemoItem {
  std::string workload, device;  // names
};

struct DemoRow {
  DemoItem item;
  TuneResult tuned;
  std::string short_schedule;
  std::optional<double> peak_share;  // of the FMA peak measured in the same run; host only
  std::optional<double> speedup;  // against the unscheduled kernel, on a cropped size, one thread
  VerdictRecord verdict;
  std::string kernel;  // path of the manifest
};

struct DemoOptions {
  std::string folder = "out";
  std::int64_t threads = 1;
  std::string command_line;
};

struct DemoResult {
  std::vector<DemoRow> rows;
  std::map<std::string, double> seconds;  // of phases
  std::int64_t evaluations = 0, compilations = 0;
  std::vector<std::string> notes;  // what was unusual
};

std::vector<DemoItem> demo_items();
Result<DemoResult> run_demo(const DemoOptions& options, const TuneTools& tools);

}  // namespace tilewright
