// SPDX-License-Identifier: Apache-2.0
// The two strategies that start from the hand schedules: `hand_rules` evaluates them and nothing
// else; `measured_grid` builds and times every point of a small grid, for devices without
// simulator.
#include <algorithm>
#include <set>

#include "tuner/search.h"

namespace tilewright {
namespace {

constexpr std::size_t kFinalists = 3;
constexpr std::int64_t kFirstRepetitions = 2;
constexpr std::int64_t kFinalRepetitions = 7;

class HandRules : public Strategy {
 public:
  explicit HandRules(const SearchProblem& problem) : problem_(problem) {}

  Batch ask() override {
    Batch batch;
    if (!asked_) batch.schedules = problem_.hand;
    asked_ = true;
    return batch;
  }

  void tell(std::span<const Answer> answers) override {
    for (const Answer& answer : answers) {
      ++evaluated_;
      if (answer.cost && (!best_ || better(problem_, answer, *best_))) best_ = answer;
    }
  }

  SearchResult result() const override {
    SearchResult result;
    result.proof.points = result.proof.feasible = static_cast<std::int64_t>(problem_.hand.size());
    result.proof.simulated = evaluated_;
    result.proof.tie_rule = kTieRule;
    if (best_) {
      result.best = best_->schedule;
      result.best_cost = *best_->cost;
    }
    return result;
  }

 private:
  const SearchProblem problem_;
  bool asked_ = false;
  std::int64_t evaluated_ = 0;
  std::optional<Answer> best_;
};

// Two rounds: every point with few repetitions, then the fastest and the hand schedule again,
// interleaved, with more. Only the second round decides; the first one if none of the second gave a
// time.
class MeasuredGrid : public Strategy {
 public:
  explicit MeasuredGrid(const SearchProblem& problem) : problem_(problem) {
    counts_.points = problem.points;
    counts_.by_limit = problem.by_limit;
  }

  Batch ask() override {
    Batch batch;
    if (round_ == 0) {
      batch = everything();
    } else if (round_ == 1 && !first_.empty()) {
      batch = finalists();
    }
    ++round_;
    return batch;
  }

  void tell(std::span<const Answer> answers) override {
    auto& answered = round_ == 1 ? first_ : final_;
    answered_ += round_ == 1 ? static_cast<std::int64_t>(answers.size()) : 0;
    for (const Answer& answer : answers) {
      if (answer.cost) answered.push_back(answer);
    }
    const auto order = [&](const Answer& a, const Answer& b) { return better(problem_, a, b); };
    std::sort(answered.begin(), answered.end(), order);
  }

  SearchResult result() const override {
    SearchResult result;
    result.proof = counts_;
    result.proof.measured = answered_;
    result.proof.tie_rule = kTieRule;
    if (lowest_unmeasured_bound()) {
      result.proof.best_remaining_bound_us = problem_.microseconds(*lowest_unmeasured_bound());
    }
    const auto& decided = final_.empty() ? first_ : final_;
    if (decided.empty()) return result;
    result.best = decided.front().schedule;
    result.best_cost = *decided.front().cost;
    return result;
  }

 private:
  // Hand schedules first, then the grid by bound, so that a budget is spent on what promises most.
  Batch everything() {
    std::vector<std::pair<std::int64_t, Schedule>> points;
    std::set<Schedule> known(problem_.hand.begin(), problem_.hand.end());
    problem_.for_each_point([&](const Schedule& schedule) {
      ++counts_.feasible;
      if (known.insert(schedule).second) points.emplace_back(problem_.bound(schedule), schedule);
    });
    std::sort(points.begin(), points.end());
    Batch batch;
    batch.repetitions = kFirstRepetitions;
    for (const Schedule& schedule : problem_.hand) {
      batch.schedules.push_back(schedule);
      bounds_.push_back(problem_.bound(schedule));
    }
    for (const auto& [bound, schedule] : points) {
      batch.schedules.push_back(schedule);
      bounds_.push_back(bound);
    }
    return batch;
  }

  Batch finalists() const {
    Batch batch;
    batch.repetitions = kFinalRepetitions;
    for (const Answer& answer : first_) {
      const bool hand = std::find(problem_.hand.begin(), problem_.hand.end(), answer.schedule) !=
                        problem_.hand.end();
      if (hand || batch.schedules.size() < kFinalists) batch.schedules.push_back(answer.schedule);
    }
    return batch;
  }

  std::optional<std::int64_t> lowest_unmeasured_bound() const {
    const auto begin = bounds_.begin() + std::min<std::ptrdiff_t>(answered_, std::ssize(bounds_));
    if (begin == bounds_.end()) return std::nullopt;
    return *std::min_element(begin, bounds_.end());
  }

  const SearchProblem problem_;
  int round_ = 0;  // batches asked for
  ProofRecord counts_;
  std::vector<std::int64_t> bounds_;   // of the first batch, in its order
  std::int64_t answered_ = 0;          // of the first batch
  std::vector<Answer> first_, final_;  // those with a time, best first
};

}  // namespace

std::unique_ptr<Strategy> make_hand_rules(const SearchProblem& problem) {
  return std::make_unique<HandRules>(problem);
}
std::unique_ptr<Strategy> make_measured_grid(const SearchProblem& problem) {
  return std::make_unique<MeasuredGrid>(problem);
}

}  // namespace tilewright
