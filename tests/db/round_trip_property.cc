// SPDX-License-Identifier: Apache-2.0
// Whatever records hold, the store gives back the same.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "db/store.h"
#include "tests/db/support.h"

namespace tilewright::test {
namespace {

// Of full size from the first case on: rapidcheck's own numbers start small and repeat.
Random any_random() {
  return Random(
      *rc::gen::noShrink(rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>())));
}

struct Database {
  Store store;
  DeviceRecord device;
  std::int64_t run = 0;
};

// One file for all cases of a property (which begin with the same seeds), with a new device and run
// for each.
Database& random_database(const std::string& property, Random& random) {
  const std::string path = memory_folder() + "/" + property + ".db";
  static std::map<std::string, Database> files;
  if (!files.contains(property)) {
    files.emplace(property, Database{need(Store::open(path, OpenMode::read_write_create)), {}, 0});
  }
  Database& d = files.at(property);
  d.device = random_device(random);
  need(d.store.put_device(d.device));
  d.run = need(d.store.begin_run(random_run(random)));
  return d;
}

RC_GTEST_PROP(RoundTrip, trials, ()) {
  Random random = any_random();
  Database& d = random_database("trials", random);
  std::vector<TrialRecord> trials;
  trials.reserve(20);
  for (int i = 0; i < 20; ++i) trials.push_back(random_trial(random, d.device));
  const auto ids = need(d.store.add_trials(d.run, trials));
  const auto found = need(d.store.list_trials({.run_id = d.run}));
  RC_ASSERT(found.size() == trials.size());
  for (std::size_t i = 0; i < trials.size(); ++i) {
    TrialRecord& expected = trials[i];
    expected.id = ids[i];
    expected.run_id = d.run;
    expected.number = static_cast<std::int64_t>(i) + 1;
    RC_ASSERT(found[trials.size() - 1 - i] == expected);
  }
}

RC_GTEST_PROP(RoundTrip, runs, ()) {
  Random random = any_random();
  Database& d = random_database("runs", random);
  RunRecord run = random_run(random);
  run.id = need(d.store.begin_run(run));
  run.state = static_cast<RunState>(random() % 4);
  run.ended_utc = random_time(random);
  need(d.store.end_run(run.id, run.state, run.ended_utc));
  const RunRecord found = need(d.store.list_runs(1)).at(0);
  if (run.uid.empty()) run.uid = found.uid;
  RC_ASSERT(found == run);
}

RC_GTEST_PROP(RoundTrip, answers, ()) {
  Random random = any_random();
  Database& d = random_database("answers", random);
  TrialRecord trial = random_trial(random, d.device);
  trial.status = TrialStatus::ok;
  BestRecord best;
  best.trial = trial;
  best.trial.id = need(d.store.add_trials(d.run, std::vector{trial})).at(0);
  best.trial.run_id = d.run;
  best.trial.number = 1;
  best.question = question_of(trial);
  best.question.generator_version = random_text(random);
  best.question.variant_filter = random_text(random);
  best.question.grid = random_text(random);
  best.question.host = random_text(random);
  best.proof = random_proof(random);
  best.stored_utc = random_time(random);
  need(d.store.put_best(best.question, best.trial.id, best.proof, best.stored_utc));
  if (random() % 2 == 0) {
    best.kernel = random_kernel(random);
    need(d.store.add_kernel(best.trial.id, *best.kernel));
  }
  if (random() % 2 == 0) {
    best.verdict = random_verdict(random);
    need(d.store.add_verdict(best.trial.id, *best.verdict, random_time(random)));
  }
  const auto found = need(d.store.find_best(best.question));
  RC_ASSERT(found.has_value());
  RC_ASSERT(*found == best);
  const auto all =
      need(d.store.list_best({}, BestFilter{.workload_key = trial.workload_key, .limit = 100'000}));
  RC_ASSERT(std::count(all.begin(), all.end(), best) == 1);
}

}  // namespace
}  // namespace tilewright::test
