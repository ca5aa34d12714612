// SPDX-License-Identifier: Apache-2.0
// Searches on made-up spaces with made-up costs: equal to brute force, whatever the order; honest
// about what is left.
#include "tuner/search.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

namespace tilewright {
namespace {

struct Point {
  std::int64_t bound = 0, cost = 0, traffic = 0;
  bool operator==(const Point&) const = default;
};

Schedule schedule_of(std::size_t index) {
  Schedule schedule;
  schedule[Knob::base_m] = static_cast<std::int32_t>(index);
  return schedule;
}

// A space of points with given costs; `hand` are indices.
struct FakeSpace {
  std::vector<Point> points;
  std::vector<std::size_t> order;  // of enumeration
  std::vector<std::size_t> hand;

  const Point& of(const Schedule& schedule) const {
    return points.at(static_cast<std::size_t>(schedule[Knob::base_m]));
  }
  SearchProblem problem() const {
    SearchProblem problem;
    problem.points = std::ssize(points) + 5;
    problem.by_limit = {{"L1", 5}};
    problem.for_each_point = [this](const std::function<void(const Schedule&)>& visit) {
      for (const std::size_t i : order) visit(schedule_of(i));
    };
    problem.bound = [this](const Schedule& s) { return of(s).bound; };
    problem.traffic_bytes = [this](const Schedule& s) { return of(s).traffic; };
    problem.text = [](const Schedule& s) { return std::to_string(100000 + s[Knob::base_m]); };
    problem.microseconds = [](std::int64_t cost) { return static_cast<double>(cost); };
    for (const std::size_t i : hand) problem.hand.push_back(schedule_of(i));
    return problem;
  }
};

// Evaluates until the strategy is done or `budget` evaluations are spent. Failing points have cost
// < 0.
SearchResult run(const FakeSpace& space, const char* name, std::int64_t budget = 1'000'000,
                 std::int64_t* evaluated = nullptr) {
  const SearchProblem problem = space.problem();
  const auto strategy = find_strategy(name)->make(problem);
  std::int64_t count = 0;
  for (;;) {
    const Batch batch = strategy->ask();
    if (batch.schedules.empty()) break;
    std::vector<Answer> answers;
    for (const Schedule& schedule : batch.schedules) {
      if (count == budget) break;
      ++count;
      const std::int64_t cost = space.of(schedule).cost;
      answers.push_back({schedule, cost < 0 ? std::nullopt : std::optional(cost)});
    }
    strategy->tell(answers);
    if (answers.size() < batch.schedules.size()) break;
  }
  if (evaluated) *evaluated = count;
  return strategy->result();
}

std::size_t brute_force(const FakeSpace& space) {
  const SearchProblem problem = space.problem();
  std::size_t best = space.order.front();
  for (const std::size_t i : space.order) {
    if (better(problem, {schedule_of(i), space.points[i].cost},
               {schedule_of(best), space.points[best].cost}))
      best = i;
  }
  return best;
}

FakeSpace random_space(bool fine) {
  FakeSpace space;
  const auto size = *rc::gen::inRange<std::size_t>(1, 400);
  for (std::size_t i = 0; i < size; ++i) {
    Point point;
    // Few different values, so that there are many ties.
    point.bound = *rc::gen::inRange<std::int64_t>(1, fine ? 100'000 : 12);
    point.cost = point.bound + *rc::gen::inRange<std::int64_t>(0, fine ? 50'000 : 6);
    point.traffic = *rc::gen::inRange<std::int64_t>(0, 3);
    space.points.push_back(point);
    space.order.push_back(i);
  }
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    const auto index = *rc::gen::inRange<std::size_t>(0, size);
    if (std::find(space.hand.begin(), space.hand.end(), index) == space.hand.end())
      space.hand.push_back(index);
  }
  return space;
}

RC_GTEST_PROP(BestFirst, EqualsBruteForce, ()) {
  const FakeSpace space = random_space(*rc::gen::arbitrary<bool>());
  const SearchResult result = run(space, "best_first");
  RC_ASSERT(result.best == schedule_of(brute_force(space)));
  RC_ASSERT(result.proof.proved_optimal);
  RC_ASSERT(result.proof.gap == 0.0);
  RC_ASSERT(!result.proof.best_remaining_bound_us);
  RC_ASSERT(result.proof.feasible == std::ssize(space.points));
  RC_ASSERT(result.proof.points == result.proof.feasible + 5);
  RC_ASSERT(result.proof.cut + result.proof.simulated == result.proof.feasible);
}

RC_GTEST_PROP(BestFirst, DoesNotDependOnTheOrderOfEnumeration, ()) {
  FakeSpace space = random_space(false);
  const SearchResult one = run(space, "best_first");
  std::reverse(space.order.begin(), space.order.end());
  const SearchResult other = run(space, "best_first");
  RC_ASSERT(one.best == other.best);
  RC_ASSERT(one.proof == other.proof);
}

// Whatever the budget: the gap is a true statement about the optimum.
RC_GTEST_PROP(BestFirst, GapIsHonestUnderABudget, ()) {
  const FakeSpace space = random_space(*rc::gen::arbitrary<bool>());
  const auto budget = *rc::gen::inRange<std::int64_t>(1, 80);
  const SearchResult result = run(space, "best_first", budget);
  const std::int64_t optimum = space.points[brute_force(space)].cost;
  RC_ASSERT(result.best.has_value());
  RC_ASSERT(result.best_cost >= optimum);
  if (result.proof.proved_optimal) {
    RC_ASSERT(result.best == schedule_of(brute_force(space)));
  } else {
    RC_ASSERT(result.proof.gap.has_value());
    const auto best = static_cast<double>(result.best_cost);
    RC_ASSERT(*result.proof.best_remaining_bound_us <= best);
    RC_ASSERT(best * (1 - *result.proof.gap) <= static_cast<double>(optimum) + 1e-6);
  }
}

TEST(BestFirst, CutsWhatCanNotBeBetter) {
  FakeSpace space;
  for (std::size_t i = 0; i < 10'000; ++i) {
    const auto bound = static_cast<std::int64_t>(1000 + i);
    space.points.push_back({bound, bound + 3, 0});
    space.order.push_back(9'999 - i);
  }
  const SearchResult result = run(space, "best_first");
  EXPECT_EQ(result.best, schedule_of(0));
  EXPECT_LE(result.proof.simulated, 32);
  EXPECT_EQ(result.proof.cut + result.proof.simulated, 10'000);
}

// More candidates below the best cost than one pass keeps.
TEST(BestFirst, TakesAsManyPassesAsItNeeds) {
  FakeSpace space;
  constexpr std::size_t kSize = 150'000;
  for (std::size_t i = 0; i < kSize; ++i) {
    space.points.push_back(
        {static_cast<std::int64_t>(i), static_cast<std::int64_t>(2 * kSize - i), 0});
    space.order.push_back(i);
  }
  const SearchResult result = run(space, "best_first");
  EXPECT_EQ(result.best, schedule_of(kSize - 1));
  EXPECT_TRUE(result.proof.proved_optimal);
  EXPECT_EQ(result.proof.simulated, std::ssize(space.points));
}

TEST(BestFirst, HandScheduleOffTheGridCounts) {
  FakeSpace space;
  space.points = {{10, 20, 0}, {5, 8, 0}};
  space.order = {0};
  space.hand = {1};  // better than the grid
  const SearchResult result = run(space, "best_first");
  EXPECT_EQ(result.best, schedule_of(1));
  EXPECT_EQ(result.proof.feasible, 1);
  EXPECT_TRUE(result.proof.proved_optimal);
  EXPECT_GE(result.proof.cut, 0);
}

TEST(BestFirst, FailedPointsAreNeverBest) {
  FakeSpace space;
  space.points = {{1, -1, 0}, {2, 9, 0}, {3, 7, 0}};
  space.order = {0, 1, 2};
  const SearchResult result = run(space, "best_first");
  EXPECT_EQ(result.best, schedule_of(2));
}

TEST(BestFirst, EmptySpaceHasNoBest) {
  const SearchResult result = run(FakeSpace(), "best_first");
  EXPECT_FALSE(result.best);
  EXPECT_FALSE(result.proof.proved_optimal);
  EXPECT_EQ(result.proof.by_limit.at("L1"), 5);
}

// Stopped in the middle of the first enumeration: nothing is known about the rest.
TEST(BestFirst, StoppedWhileEnumeratingClaimsNothing) {
  FakeSpace space;
  for (std::size_t i = 0; i < 1000; ++i) {
    space.points.push_back({100, 100, 0});
    space.order.push_back(i);
  }
  space.hand = {3};
  SearchProblem problem = space.problem();
  problem.stop = [] { return true; };
  const auto strategy = make_best_first(problem);
  const Batch batch = strategy->ask();
  ASSERT_FALSE(batch.schedules.empty());
  std::vector<Answer> answers;
  for (const Schedule& schedule : batch.schedules) answers.push_back({schedule, 100});
  strategy->tell(answers);
  EXPECT_TRUE(strategy->ask().schedules.empty());
  const SearchResult result = strategy->result();
  EXPECT_FALSE(result.proof.proved_optimal);
  EXPECT_EQ(result.proof.best_remaining_bound_us, 0.0);
  EXPECT_EQ(result.proof.gap, 1.0);
}

FakeSpace measured_space() {
  FakeSpace space;
  for (std::size_t i = 0; i < 10; ++i) {
    space.points.push_back({1, static_cast<std::int64_t>(100 - i), 0});
    space.order.push_back(i);
  }
  space.hand = {0};
  return space;
}

TEST(MeasuredGrid, TimesEverythingThenTheFastestAndTheHandScheduleAgain) {
  const FakeSpace space = measured_space();
  const auto strategy = make_measured_grid(space.problem());
  std::vector<Schedule> asked;
  Batch batch = strategy->ask();
  const std::int64_t repetitions = batch.repetitions;
  EXPECT_EQ(batch.schedules.front(), schedule_of(0)) << "the hand schedule comes first";
  for (; asked.size() < 10; batch = strategy->ask()) {
    ASSERT_FALSE(batch.schedules.empty());
    std::vector<Answer> answers;
    for (const Schedule& schedule : batch.schedules) {
      asked.push_back(schedule);
      answers.push_back({schedule, space.of(schedule).cost});
    }
    strategy->tell(answers);
  }
  const Batch& second = batch;
  EXPECT_EQ(second.schedules, (std::vector<Schedule>{schedule_of(9), schedule_of(8), schedule_of(7),
                                                     schedule_of(0)}));
  EXPECT_GT(second.repetitions, repetitions);
  // The second round decides, here against the first.
  strategy->tell(std::vector<Answer>{{schedule_of(9), 95},
                                     {schedule_of(8), 90},
                                     {schedule_of(7), std::nullopt},
                                     {schedule_of(0), 99}});
  EXPECT_TRUE(strategy->ask().schedules.empty());
  const SearchResult result = strategy->result();
  EXPECT_EQ(result.best, schedule_of(8));
  EXPECT_EQ(result.proof.measured, 10);
  EXPECT_FALSE(result.proof.proved_optimal);
  EXPECT_FALSE(result.proof.best_remaining_bound_us);
}

TEST(MeasuredGrid, BudgetLeavesABoundBehind) {
  std::int64_t evaluated = 0;
  const SearchResult result = run(measured_space(), "measured_grid", 4, &evaluated);
  EXPECT_EQ(evaluated, 4);
  EXPECT_TRUE(result.best.has_value());
  EXPECT_EQ(result.proof.best_remaining_bound_us, 1.0);
}

TEST(HandRules, EvaluatesOnlyTheHandSchedules) {
  std::int64_t evaluated = 0;
  FakeSpace space = measured_space();
  space.hand = {0, 4};
  const SearchResult result = run(space, "hand_rules", 100, &evaluated);
  EXPECT_EQ(evaluated, 2);
  EXPECT_EQ(result.best, schedule_of(4));
  EXPECT_FALSE(result.proof.proved_optimal);
}

TEST(Strategies, TableHasUniqueNames) {
  std::map<std::string_view, int> names;
  for (const StrategyRow& row : strategies()) ++names[row.name];
  for (const auto& [name, count] : names) EXPECT_EQ(count, 1) << name;
  EXPECT_EQ(find_strategy("nothing"), nullptr);
}

}  // namespace
}  // namespace tilewright
