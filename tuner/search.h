// SPDX-License-Identifier: Apache-2.0
// Search strategies behind one ask/tell interface: a strategy says which schedules to evaluate
// next, whoever evaluates them (simulator, or kernels built and timed) tells it the costs.
// Strategies know no device and no file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedules/records.h"
#include "schedules/schedule.h"

namespace tilewright {

// What a strategy may ask about points at no cost worth counting. Costs are whole numbers of one
// unit: cycles where the device has a clock, nanoseconds on the host. All functions are pure.
struct SearchProblem {
  std::int64_t points = 0;                       // of the grid, feasible or not
  std::map<std::string, std::int64_t> by_limit;  // points refused
  // Every feasible point of the grid, in any order.
  std::function<void(const std::function<void(const Schedule&)>&)> for_each_point;
  std::function<std::int64_t(const Schedule&)> bound;  // of feasible points: never above their cost
  std::function<std::int64_t(const Schedule&)>
      traffic_bytes;  // of feasible points: second in the order of ties
  std::function<std::string(const Schedule&)> text;  // last in the order of ties
  std::function<double(std::int64_t)> microseconds;  // of a cost
  std::vector<Schedule> hand;  // feasible hand schedules; may lie off the grid
  std::function<bool()> stop;  // asked often; true ends the search early
};

struct Batch {
  std::vector<Schedule> schedules;
  std::int64_t repetitions = 3;  // of timed runs
};

// What became of one schedule of a batch: a cost, or none because it failed.
struct Answer {
  Schedule schedule;
  std::optional<std::int64_t> cost;
};

struct SearchResult {
  std::optional<Schedule> best;
  std::int64_t best_cost = 0;
  ProofRecord proof;  // strategy, grid and seconds are filled by the caller
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  // The next schedules, to be answered together; empty: finished.
  virtual Batch ask() = 0;
  // Answers may be fewer than asked (a budget ran out): then result() reports the gap.
  virtual void tell(std::span<const Answer> answers) = 0;
  virtual SearchResult result() const = 0;
};

struct StrategyRow {
  std::string_view name;
  std::string_view help;
  bool needs_simulator;  // else it also works with measurements
  std::unique_ptr<Strategy> (*make)(const SearchProblem&);
};

std::span<const StrategyRow> strategies();
const StrategyRow* find_strategy(std::string_view name);

inline constexpr const char* kTieRule = "cost, then bytes moved, then text";
// Whether a is better than b in the total order of the tie rule.
bool better(const SearchProblem& problem, const Answer& a, const Answer& b);

std::unique_ptr<Strategy> make_best_first(const SearchProblem& problem);
std::unique_ptr<Strategy> make_measured_grid(const SearchProblem& problem);
std::unique_ptr<Strategy> make_hand_rules(const SearchProblem& problem);

}  // namespace tilewright
