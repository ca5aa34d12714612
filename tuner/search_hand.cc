// SPDX-License-Identifier: Apache-2.0
// The two strategies that start from the hand schedules: `hand_rules` evaluates them and nothing
// else; `measured_grid` builds and times every point of a small grid, for devices without
// simulator.
#include <algorithm>
#include <set>

#include "tuner/search.h"

namespace tilewright {
namespace {

constexpr std::size_t kTogether = 8;
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

// Two rounds: every point with few repetitions, a handful at a time so that an early end loses
// little; then the fastest and the hand schedule again, all interleaved, with more. Only the second
// round decides; the first one if none of the second gave a time.
class MeasuredGrid : public Strategy {
 public:
  explicit MeasuredGrid(const SearchProblem& problem) : problem_(problem) {
    counts_.points = problem.points;
    counts_.by_limit = problem.by_limit;
  }

  Batch ask() override {
    if (!listed_) list_points();
    Batch batch;
    if (problem_.stop && problem_.stop()) return batch;
    if (next_ < points_.size()) {
      batch.repetitions = kFirstRepetitions;
      for (; next_ < points_.size() && batch.schedules.size() < kTogether; ++next_) {
        batch.schedules.push_back(points_[next_].second);
      }
    } else if (!final_round_ && !first_.empty()) {
      final_round_ = true;
      batch = finalists();
    }
    return batch;
  }

  void tell(std::span<const Answer> answers) override {
    auto& answered = final_round_ ? final_ : first_;
    if (!final_round_) answered_ += answers.size();
    for (const Answer& answer : answers) {
      if (answer.cost) answered.push_back(answer);
    }
    const auto order = [&](const Answer& a, const Answer& b) { return better(problem_, a, b); };
    std::sort(answered.begin(), answered.end(), order);
  }

  SearchResult result() const override {
    SearchResult result;
    result.proof = counts_;
    result.proof.measured = static_cast<std::int64_t>(answered_);
    result.proof.tie_rule = kTieRule;
    if (const auto left = lowest_unmeasured_bound()) {
      result.proof.best_remaining_bound_us = problem_.microseconds(*left);
    }
    const auto& decided = final_.empty() ? first_ : final_;
    if (decided.empty()) return result;
    result.best = decided.front().schedule;
    result.best_cost = *decided.front().cost;
    return result;
  }

 private:
  // Hand schedules first, then the grid by bound, so that a budget is spent on what promises most.
  void list_points() {
    listed_ = true;
    for (const Schedule& schedule : problem_.hand)
      points_.emplace_back(problem_.bound(schedule), schedule);
    const auto hand = std::ssize(points_);
    const std::set<Schedule> known(problem_.hand.begin(), problem_.hand.end());
    problem_.for_each_point([&](const Schedule& schedule) {
      ++counts_.feasible;
      if (known.count(schedule) == 0) points_.emplace_back(problem_.bound(schedule), schedule);
    });
    std::sort(points_.begin() + hand, points_.end());
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
    std::optional<std::int64_t> lowest;
    for (std::size_t i = answered_; i < points_.size(); ++i) {
      if (!lowest || points_[i].first < *lowest) lowest = points_[i].first;
    }
    return lowest;
  }

  const SearchProblem problem_;
  ProofRecord counts_;
  bool listed_ = false, final_round_ = false;
  std::vector<std::pair<std::int64_t, Schedule>> points_;  // bound; in the order of asking
  std::size_t next_ = 0;                                   // of points_, to be asked
  std::size_t answered_ = 0;                               // of points_
  std::vector<Answer> first_, final_;                      // those with a time, best first
};

}  // namespace

std::unique_ptr<Strategy> make_hand_rules(const SearchProblem& problem) {
  return std::make_unique<HandRules>(problem);
}
std::unique_ptr<Strategy> make_measured_grid(const SearchProblem& problem) {
  return std::make_unique<MeasuredGrid>(problem);
}

}  // namespace tilewright
