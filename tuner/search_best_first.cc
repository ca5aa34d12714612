// SPDX-License-Identifier: Apache-2.0
// The certified search. Since bound <= cost for every point, a point whose bound exceeds the best
// cost so far can not be the best: points are taken in the order of their bound, and the search is
// over when the next one is beyond that. Points whose bound *equals* the best cost are still
// simulated, so that the tie rule decides among all equals and the result does not depend on the
// order of enumeration.
//
// The grid is enumerated several times instead of being kept: each pass keeps only the lowest
// bounds that were not handed out yet. The first, small pass gives good incumbents, so that the
// second rarely meets its limit.
#include <algorithm>
#include <set>
#include <utility>

#include "tuner/search.h"

namespace tilewright {
namespace {

constexpr std::size_t kFirstPass = 32;     // points of the first batch, beside the hand schedules
constexpr std::size_t kLaterPass = 65536;  // 10 MB
constexpr std::size_t kBatch = 64;

using Candidate =
    std::pair<std::int64_t, Schedule>;  // bound; ordered by it, then by the schedule's values

class BestFirst : public Strategy {
 public:
  explicit BestFirst(const SearchProblem& problem)
      : problem_(problem), hand_(problem.hand.begin(), problem.hand.end()) {
    counts_.points = problem.points;
    counts_.by_limit = problem.by_limit;
  }

  Batch ask() override {
    Batch batch;
    if (stopped() && started_) return batch;
    if (!started_) {
      started_ = true;
      for (const Schedule& schedule : hand_) add(batch, {problem_.bound(schedule), schedule});
      enumerate(kFirstPass);
      take(batch, kFirstPass);
    } else {
      if (next_ == candidates_.size() && !nothing_left_) enumerate(kLaterPass);
      take(batch, kBatch);
    }
    return batch;
  }

  void tell(std::span<const Answer> answers) override {
    for (const Answer& answer : answers) {
      ++evaluated_;
      if (answer.cost && (!best_ || better(problem_, answer, *best_))) best_ = answer;
    }
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                            answers.size(), pending_.size())));
  }

  SearchResult result() const override {
    SearchResult result;
    result.proof = counts_;
    ProofRecord& proof = result.proof;
    proof.simulated = evaluated_;
    proof.tie_rule = kTieRule;
    if (!best_) return result;
    result.best = best_->schedule;
    result.best_cost = *best_->cost;
    const std::optional<std::int64_t> left = best_remaining_bound();
    if (!left) {
      proof.proved_optimal = true;
      proof.gap = 0.0;
      const auto off_grid = static_cast<std::int64_t>(hand_.size()) - hand_on_grid_;
      proof.cut = proof.feasible - (evaluated_ - off_grid);
      return result;
    }
    // An unfinished search has ruled nothing out: cut stays 0.
    proof.best_remaining_bound_us = problem_.microseconds(*left);
    const auto best = static_cast<double>(result.best_cost);
    proof.gap = (best - static_cast<double>(*left)) / best;
    return result;
  }

 private:
  bool stopped() const { return problem_.stop && problem_.stop(); }

  // Keeps the `limit` lowest candidates that come after all those handed out so far.
  void enumerate(std::size_t limit) {
    candidates_.clear();
    next_ = 0;
    const bool first = !seen_whole_grid_;
    bool complete = true;
    std::size_t dropped = 0;
    std::uint64_t visits = 0;
    problem_.for_each_point([&](const Schedule& schedule) {
      if ((++visits & 0xff) == 0 && stopped()) complete = false;
      if (!complete) return;
      if (first) {
        ++counts_.feasible;
        hand_on_grid_ += static_cast<std::int64_t>(hand_.count(schedule));
      }
      keep({problem_.bound(schedule), schedule}, limit, dropped);
    });
    seen_whole_grid_ = seen_whole_grid_ || complete;
    nothing_left_ = complete && dropped == 0;
    std::sort(candidates_.begin(), candidates_.end());
  }

  // A heap with the worst kept candidate on top.
  void keep(Candidate candidate, std::size_t limit, std::size_t& dropped) {
    if (best_ && candidate.first > *best_->cost) return;  // can not be the best
    if (last_ && candidate <= *last_) return;             // handed out before
    candidates_.push_back(std::move(candidate));
    std::push_heap(candidates_.begin(), candidates_.end());
    if (candidates_.size() <= limit) return;
    std::pop_heap(candidates_.begin(), candidates_.end());
    candidates_.pop_back();
    ++dropped;
  }

  void take(Batch& batch, std::size_t count) {
    while (count > 0 && next_ < candidates_.size()) {
      const Candidate& candidate = candidates_[next_];
      if (best_ && candidate.first > *best_->cost) {
        // Neither this one nor any later one, kept or dropped, can be the best.
        candidates_.resize(next_);
        nothing_left_ = true;
        return;
      }
      last_ = candidate;
      ++next_;
      if (hand_.count(candidate.second) > 0) continue;  // was in the first batch
      add(batch, candidate);
      --count;
    }
  }

  void add(Batch& batch, const Candidate& candidate) {
    batch.schedules.push_back(candidate.second);
    pending_.push_back(candidate.first);
  }

  // The lowest bound of what was not evaluated and could still be better; nothing if there is none.
  std::optional<std::int64_t> best_remaining_bound() const {
    if (!seen_whole_grid_) return 0;  // all that is known of the rest is that no time is negative
    std::int64_t left = *best_->cost + 1;
    for (const std::int64_t bound : pending_) left = std::min(left, bound);
    if (next_ < candidates_.size())
      left = std::min(left, candidates_[next_].first);
    else if (!nothing_left_)
      left = std::min(left, last_ ? last_->first : 0);
    if (left > *best_->cost) return std::nullopt;
    return left;
  }

  const SearchProblem problem_;
  const std::set<Schedule> hand_;
  std::int64_t hand_on_grid_ = 0;
  bool started_ = false;
  bool seen_whole_grid_ = false;
  bool nothing_left_ = false;  // no point outside candidates_ can be the best
  ProofRecord counts_;
  std::vector<Candidate> candidates_;  // sorted; from next_ on not handed out yet
  std::size_t next_ = 0;
  std::optional<Candidate> last_;      // the greatest one handed out
  std::vector<std::int64_t> pending_;  // bounds of what was handed out and not answered
  std::int64_t evaluated_ = 0;
  std::optional<Answer> best_;
};

}  // namespace

std::unique_ptr<Strategy> make_best_first(const SearchProblem& problem) {
  return std::make_unique<BestFirst>(problem);
}

}  // namespace tilewright
