// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "tuner/search.h"

namespace tilewright {
namespace {

constexpr std::array<StrategyRow, 3> kRows = {{
    {"best_first",
     "simulate in the order of the bound until nothing can be better: the proven optimum of the "
     "grid",
     true, make_best_first},
    {"measured_grid",
     "build, check and time every point of the hand grid, then the fastest once more", false,
     make_measured_grid},
    {"hand_rules", "only the published hand schedules", false, make_hand_rules},
}};

}  // namespace

std::span<const StrategyRow> strategies() { return kRows; }

const StrategyRow* find_strategy(std::string_view name) {
  for (const StrategyRow& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

bool better(const SearchProblem& problem, const Answer& a, const Answer& b) {
  if (!a.cost || !b.cost) return a.cost.has_value();
  if (*a.cost != *b.cost) return *a.cost < *b.cost;
  const std::int64_t bytes_a = problem.traffic_bytes(a.schedule);
  const std::int64_t bytes_b = problem.traffic_bytes(b.schedule);
  if (bytes_a != bytes_b) return bytes_a < bytes_b;
  return problem.text(a.schedule) < problem.text(b.schedule);
}

}  // namespace tilewright
