// SPDX-License-Identifier: Apache-2.0
#include "tuner/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "db/answers.h"
#include "device_model/model.h"
#include "schedules/space.h"
#include "tuner/clock.h"

namespace tilewright {
namespace {

constexpr double kCommitSeconds = 0.5;  // results are committed at least this often

// One search from its first question to the stored answer.
class Tuning {
 public:
  Tuning(const TuneRequest& request, const TuneTools& tools, Question question,
         const StrategyRow& row)
      : request_(request),
        tools_(tools),
        question_(std::move(question)),
        row_(row),
        target_{request.workload, request.device, question_.constraints},
        builder_(tools.installation, tools.work_folder, tools.stop) {}

  Result<TuneResult> run() {
    auto variants = chosen_variants(request_.workload, request_.device, request_.variant);
    if (!variants) return pass_error(variants);
    Versions versions = own_versions();
    versions.generator = question_.generator_version;
    if (is_measured(request_.device)) {
      if (auto known = emitter_versions(tools_.installation, request_.workload)) versions = *known;
    }
    auto run_id = tools_.store.begin_run(new_run(request_.command_line, versions, request_.seed));
    if (!run_id) return pass_error(run_id);
    run_id_ = *run_id;
    auto result = search(*variants);
    const RunState state = !result               ? RunState::failed
                           : result->interrupted ? RunState::interrupted
                                                 : RunState::finished;
    if (auto ended = tools_.store.end_run(run_id_, state, utc_now()); !ended && result)
      return pass_error(ended);
    return result;
  }

 private:
  bool out_of_time() const {
    return request_.time_limit && watch_.seconds() > *request_.time_limit;
  }
  bool stopped() const { return (tools_.stop && tools_.stop()) || out_of_time(); }

  Result<TuneResult> search(const std::vector<Variant>& variants) {
    auto device = tools_.store.put_device(
        {request_.device.name, request_.device.hash, canonical_text(request_.device)});
    if (!device) return pass_error(device);
    const SearchProblem problem = search_problem(target_, variants, [this] { return stopped(); });
    const auto strategy = row_.make(problem);
    make_evaluator();
    if (auto done = loop(*strategy); !done) return pass_error(done);
    return finish(strategy->result());
  }

  void make_evaluator() {
    const auto stop = [this] { return stopped(); };
    if (is_measured(request_.device)) {
      MeasuringOptions options;
      options.threads = request_.threads;
      options.seed = request_.seed;
      options.reference_cache = tools_.work_folder;
      auto measuring = std::make_unique<MeasuringEvaluator>(target_, tools_.installation, builder_,
                                                            options, tools_.progress, stop);
      measuring_ = measuring.get();
      evaluator_ = std::move(measuring);
    } else {
      evaluator_ = make_simulating_evaluator(target_, hardware_threads(), stop);
    }
  }

  Result<void> loop(Strategy& strategy) {
    if (!measuring_) tools_.progress.begin("bounding the grid", 0);
    for (;;) {
      Batch batch = strategy.ask();
      if (batch.schedules.empty()) break;
      const bool enough = cut_to_budget(batch);
      std::vector<TrialRecord> trials = evaluator_->evaluate(batch);
      std::vector<Answer> answers;
      for (std::size_t i = 0; i < trials.size(); ++i) {
        answers.push_back({batch.schedules[i], evaluator_->cost_of(trials[i])});
      }
      evaluations_ += std::ssize(trials);
      strategy.tell(answers);
      if (!measuring_) tools_.progress.at(evaluations_, "simulated");
      const bool whole = trials.size() == batch.schedules.size();
      std::move(trials.begin(), trials.end(), std::back_inserter(uncommitted_));
      if (since_commit_.seconds() > kCommitSeconds) {
        if (auto stored = commit(); !stored) return stored;
      }
      if (enough || !whole) break;
    }
    tools_.progress.end();
    return commit();
  }

  // True if the budget ends with this batch.
  bool cut_to_budget(Batch& batch) const {
    if (!request_.budget) return false;
    const std::int64_t left = std::max<std::int64_t>(0, *request_.budget - evaluations_);
    if (std::ssize(batch.schedules) <= left) return false;
    batch.schedules.resize(static_cast<std::size_t>(left));
    return true;
  }

  Result<void> commit() {
    since_commit_ = Stopwatch();
    if (uncommitted_.empty()) return {};
    auto ids = tools_.store.add_trials(run_id_, uncommitted_);
    if (!ids) return pass_error(ids);
    for (std::size_t i = 0; i < uncommitted_.size(); ++i) {
      if (uncommitted_[i].status == TrialStatus::ok) {
        stored_ok_[uncommitted_[i].schedule] =
            uncommitted_[i];  // the last one counts: it has the most repetitions
        stored_ok_[uncommitted_[i].schedule].id = (*ids)[i];
      } else if (first_failure_.empty()) {
        first_failure_ = uncommitted_[i].message;
      }
    }
    uncommitted_.clear();
    return {};
  }

  Result<TuneResult> finish(SearchResult found) {
    if (!found.best) return nothing_found(found.proof);
    // The winner must pass the checker that explains, which shares no code path with the search's
    // quick test.
    const auto reasons =
        infeasible_reasons(request_.workload, *found.best, limits_of(request_.device));
    if (!reasons.empty()) {
      return failure(fmt::format("the search's winner is infeasible, nothing stored: {}",
                                 reasons.front().message));
    }
    found.proof.strategy = row_.name;
    found.proof.grid = question_.grid;
    found.proof.seconds = watch_.seconds();
    TuneResult result;
    const std::string text = to_text(*found.best, request_.workload, request_.device.kind);
    result.best.question = question_;
    result.best.trial = stored_ok_.at(text);
    result.best.proof = found.proof;
    result.best.stored_utc = utc_now();
    if (!is_complete(found.proof)) {
      auto stored = tools_.store.find_best(question_);
      if (!stored) return pass_error(stored);
      if (*stored && outranks(**stored, result.best)) return kept(std::move(**stored));
    }
    const std::int64_t trial_id = result.best.trial.id;
    auto best = tools_.store.put_best(question_, trial_id, found.proof, result.best.stored_utc);
    if (!best) return pass_error(best);
    if (const CheckedKernel* kernel = measuring_ ? measuring_->kernel_of(text) : nullptr) {
      result.kernel = *kernel;
      result.best.kernel = kernel->manifest.record();
      result.best.verdict = kernel->verdict;
      if (auto added = tools_.store.add_kernel(trial_id, *result.best.kernel); !added)
        return pass_error(added);
      auto added = tools_.store.add_verdict(trial_id, kernel->verdict, result.best.stored_utc);
      if (!added) return pass_error(added);
    }
    return counted(std::move(result));
  }

  TuneResult counted(TuneResult result) const {
    result.interrupted = tools_.stop && tools_.stop();
    result.evaluations = evaluations_;
    result.compilations = builder_.built();
    result.seconds = watch_.seconds();
    return result;
  }

  // A search that was cut short has ruled nothing out: it does not replace a finished one, nor a
  // better schedule.
  bool outranks(const BestRecord& stored, const BestRecord& found) const {
    return is_complete(stored.proof) ||
           is_better_answer(stored.trial, stored.stored_utc, found.trial, found.stored_utc,
                            question_.host);
  }

  TuneResult kept(BestRecord stored) const {
    tools_.progress.line(fmt::format(
        "the stored answer is better than what {} evaluations found, and stays", evaluations_));
    TuneResult result;
    result.best = std::move(stored);
    return counted(std::move(result));
  }

  Result<TuneResult> nothing_found(const ProofRecord& proof) const {
    if (tools_.stop && tools_.stop()) return failure("interrupted before anything was evaluated");
    if (out_of_time())
      return failure("the time limit ended the search before anything was evaluated");
    if (!first_failure_.empty()) {
      return failure(
          fmt::format("all {} schedules failed; the first: {}", evaluations_, first_failure_));
    }
    std::string limits;
    for (const auto& [limit, count] : proof.by_limit)
      limits += fmt::format("{}{} {}", limits.empty() ? "" : ", ", count, limit);
    return failure(fmt::format("no feasible schedule among {} points ({}); see tilewright explain",
                               proof.points, limits));
  }

  const TuneRequest& request_;
  const TuneTools& tools_;
  const Question question_;
  const StrategyRow& row_;
  const Target target_;
  KernelBuilder builder_;
  std::unique_ptr<Evaluator> evaluator_;
  MeasuringEvaluator* measuring_ = nullptr;  // evaluator_, if it measures
  Stopwatch watch_, since_commit_;
  std::int64_t run_id_ = 0;
  std::int64_t evaluations_ = 0;
  std::vector<TrialRecord> uncommitted_;
  std::map<std::string, TrialRecord> stored_ok_;  // by schedule text
  std::string first_failure_;
};

}  // namespace

bool is_complete(const ProofRecord& proof) { return !proof.best_remaining_bound_us; }

std::vector<BestRecord> fresh_best_first(std::vector<BestRecord> rows) {
  const auto stale = [](const BestRecord& best) { return !best.stale_because.empty(); };
  rows.erase(std::remove_if(rows.begin(), rows.end(), stale), rows.end());
  const std::string host = cpu_model();
  std::stable_sort(rows.begin(), rows.end(), [&](const BestRecord& a, const BestRecord& b) {
    return is_better_answer(a.trial, a.stored_utc, b.trial, b.stored_utc, host);
  });
  return rows;
}

RunRecord new_run(const std::string& command_line, const Versions& versions, std::uint64_t seed) {
  RunRecord run;
  run.versions = versions;
  run.command_line = command_line;
  run.seed = seed;
  run.host = cpu_model();
  run.started_utc = utc_now();
  return run;
}

Result<TuneResult> tune(const TuneRequest& request, const TuneTools& tools) {
  const Stopwatch watch;
  auto row = chosen_strategy(request);
  if (!row) return pass_error(row);
  if (auto variants = chosen_variants(request.workload, request.device, request.variant);
      !variants) {
    return pass_error(variants);
  }
  auto question = question_of(request, tools.installation);
  if (!question) return pass_error(question);
  if (!request.again) {
    auto stored = tools.store.find_best(*question);
    if (!stored) return pass_error(stored);
    if (*stored && is_complete((*stored)->proof)) {
      TuneResult result;
      result.best = **stored;
      result.served_from_db = true;
      result.seconds = watch.seconds();
      return result;
    }
  }
  return Tuning(request, tools, *question, **row).run();
}

}  // namespace tilewright
