// SPDX-License-Identifier: Apache-2.0
#include "db/store.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/db/support.h"

namespace tilewright::test {
namespace {

TEST(Store, gives_back_a_run) {
  const std::string path = fresh_folder() + "/a.db";
  Store store = need(Store::open(path, OpenMode::read_write_create));
  RunRecord run = sample_run();
  run.id = need(store.begin_run(run));
  need(store.end_run(run.id, RunState::finished, "2026-01-31T12:00:09Z"));
  run.state = RunState::finished;
  run.ended_utc = "2026-01-31T12:00:09Z";
  const auto runs = need(store.list_runs(10));
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].uid.size(), 32u) << "the store draws an identity";
  run.uid = runs[0].uid;
  EXPECT_EQ(runs[0], run);
}

TEST(Store, gives_back_trials_newest_first_and_numbers_them) {
  Filled f = open_filled(fresh_folder() + "/a.db");
  std::vector<TrialRecord> trials{sample_trial(0), sample_trial(1)};
  trials[1].measured = Measurement{10.5, 11.0, 7, 2, "cpu", "alone"};
  trials[1].status = TrialStatus::mismatch;
  trials[1].message = "first at 3";
  const auto ids = need(f.store.add_trials(f.run, trials));
  const auto more = need(f.store.add_trials(f.run, std::vector{sample_trial(2)}));
  const auto found = need(f.store.list_trials({}));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].number, 3);
  EXPECT_EQ(found[0].id, more.at(0));
  for (int i : {0, 1}) {
    TrialRecord& expected = trials.at(static_cast<std::size_t>(i));
    expected.id = ids.at(static_cast<std::size_t>(i));
    expected.run_id = f.run;
    expected.number = i + 1;
    EXPECT_EQ(found.at(static_cast<std::size_t>(2 - i)), expected);
  }
}

TEST(Store, serves_a_best_only_for_the_same_question) {
  Filled f = open_filled(fresh_folder() + "/a.db");
  const auto ids = need(f.store.add_trials(f.run, std::vector{sample_trial()}));
  const Question question = question_of(sample_trial());
  EXPECT_FALSE(need(f.store.find_best(question)));
  need(f.store.put_best(question, ids[0], sample_proof(), kTime));
  const auto best = need(f.store.find_best(question));
  ASSERT_TRUE(best);
  EXPECT_EQ(best->proof, sample_proof());
  EXPECT_EQ(best->question, question);
  EXPECT_EQ(best->trial.schedule, sample_trial().schedule);
  EXPECT_EQ(best->stored_utc, kTime);
  EXPECT_FALSE(best->kernel);
  EXPECT_FALSE(best->verdict);

  for (std::string Question::*field :
       {&Question::workload_key, &Question::device_hash, &Question::model_version,
        &Question::generator_version, &Question::variant_filter, &Question::objective,
        &Question::constraints, &Question::grid, &Question::host}) {
    Question other = question;
    other.*field += "x";
    EXPECT_FALSE(need(f.store.find_best(other)));
  }
}

TEST(Store, refuses_a_best_whose_trial_answers_another_question) {
  Filled f = open_filled(fresh_folder() + "/a.db");
  TrialRecord bad = sample_trial(1);
  bad.status = TrialStatus::timed_out;
  const auto ids = need(f.store.add_trials(f.run, std::vector{sample_trial(), bad}));
  Question question = question_of(sample_trial());
  EXPECT_FALSE(f.store.put_best(question, ids[1], sample_proof(), kTime)) << "its status is not ok";
  question.model_version = "2";
  const auto result = f.store.put_best(question, ids[0], sample_proof(), kTime);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("its model version is '1', asked is '2'"),
            std::string::npos)
      << result.error().message;
  EXPECT_TRUE(raw_sql("Store.refuses_a_best_whose_trial_answers_another_question.d/a.db",
                      "SELECT id FROM proofs")
                  .empty())
      << "nothing of a failed call is stored";
  EXPECT_FALSE(f.store.put_best(question, 12345, sample_proof(), kTime)) << "no such trial";
}

TEST(Store, replaces_the_answer_even_when_the_clock_went_backwards) {
  Filled f = open_filled(fresh_folder() + "/a.db");
  const auto ids = need(f.store.add_trials(f.run, std::vector{sample_trial(0), sample_trial(1)}));
  const Question question = question_of(sample_trial());
  need(f.store.put_best(question, ids[0], sample_proof(), "2026-01-31T12:00:00Z"));
  ProofRecord proof = sample_proof();
  proof.proved_optimal = false;
  proof.gap = 0.125;
  proof.best_remaining_bound_us = 800;
  need(f.store.put_best(question, ids[1], proof, "2020-01-01T00:00:00Z"));
  const auto best = need(f.store.find_best(question));
  ASSERT_TRUE(best);
  EXPECT_EQ(best->trial.id, ids[1]);
  EXPECT_EQ(best->proof, proof);
  EXPECT_EQ(need(f.store.list_best({}, 10)).size(), 1u);
}

TEST(Store, shows_the_newest_kernel_and_verdict) {
  Filled f = open_filled(fresh_folder() + "/a.db");
  const auto ids = need(f.store.add_trials(f.run, std::vector{sample_trial()}));
  const Question question = question_of(sample_trial());
  need(f.store.put_best(question, ids[0], sample_proof(), kTime));
  KernelRecord kernel = sample_kernel();
  need(f.store.add_kernel(ids[0], kernel));
  kernel.artefact_hashes = {{"out/large.a", "22"}, {"out/large.h", "33"}};
  need(f.store.add_kernel(ids[0], kernel));  // emitted again: replaces
  VerdictRecord verdict = sample_verdict();
  need(f.store.add_verdict(ids[0], verdict, "2026-01-31T12:00:00Z"));
  verdict.verdict = "mismatch";
  verdict.worst_ratio = std::numeric_limits<double>::quiet_NaN();
  need(f.store.add_verdict(ids[0], verdict, "2026-01-31T12:00:01Z"));
  const auto best = need(f.store.find_best(question));
  ASSERT_TRUE(best && best->kernel && best->verdict);
  EXPECT_EQ(*best->kernel, kernel);
  EXPECT_EQ(best->verdict->verdict, "mismatch");
  EXPECT_TRUE(std::isnan(best->verdict->worst_ratio));
}

TEST(Store, says_why_a_best_is_stale) {
  Filled f = open_filled(fresh_folder() + "/a.db");
  const auto ids = need(f.store.add_trials(f.run, std::vector{sample_trial()}));
  need(f.store.put_best(question_of(sample_trial()), ids[0], sample_proof(), kTime));
  const auto because = [&](std::vector<Store::Current> current) {
    return need(f.store.list_best(current, 10)).at(0).stale_because;
  };
  const DeviceRecord device = sample_device();
  EXPECT_EQ(because({}), "");
  EXPECT_EQ(because({{device.name, device.hash, "1"}}), "");
  EXPECT_NE(because({{device.name, device.hash, "2"}}).find("model"), std::string::npos);
  EXPECT_NE(because({{device.name, "other", "1"}}).find("device ascend_910b4 has changed"),
            std::string::npos);
  EXPECT_NE(because({{"host", device.hash, "1"}}).find("no device ascend_910b4"),
            std::string::npos);
}

TEST(Store, takes_a_batch_whole_or_not_at_all) {
  Filled f = open_filled(fresh_folder() + "/a.db");
  std::vector<TrialRecord> trials{sample_trial(0), sample_trial(1)};
  trials[1].bound_us = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(f.store.add_trials(f.run, trials));
  trials[1] = sample_trial(1);
  trials[1].device_hash = "unknown";
  EXPECT_FALSE(f.store.add_trials(f.run, trials));
  trials[1] = sample_trial(1);
  trials[1].simulated_us = -1;
  EXPECT_FALSE(f.store.add_trials(f.run, trials));
  EXPECT_TRUE(need(f.store.list_trials({})).empty());
  const auto unknown_run = f.store.add_trials(99, trials);
  ASSERT_FALSE(unknown_run);
  EXPECT_NE(unknown_run.error().message.find("no run 99"), std::string::npos);
  trials[1] = sample_trial(1);
  EXPECT_EQ(need(f.store.add_trials(f.run, trials)).size(), 2u) << "the store goes on working";
}

TEST(Store, names_statement_code_and_file_in_errors) {
  Filled f = open_filled(fresh_folder() + "/a.db");
  RunRecord run = sample_run();
  run.started_utc = "yesterday";
  const auto result = f.store.begin_run(run);
  ASSERT_FALSE(result);
  const std::string& message = result.error().message;
  for (const char* part : {"a.db: insert run: ", "started_utc is UTC", "SQLITE_CONSTRAINT_CHECK"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(Store, refuses_absolute_artefact_paths) {
  Filled f = open_filled(fresh_folder() + "/a.db");
  const auto ids = need(f.store.add_trials(f.run, std::vector{sample_trial()}));
  KernelRecord kernel = sample_kernel();
  kernel.artefact_hashes = {{"/tmp/large.a", "1"}};
  EXPECT_FALSE(f.store.add_kernel(ids[0], kernel));
}

TEST(Store, keeps_hostile_texts_as_texts) {
  const std::string path = fresh_folder() + "/a.db";
  Store store = need(Store::open(path, OpenMode::read_write_create));
  const DeviceRecord device{kHostile, kHostile, kHostile};
  need(store.put_device(device));
  RunRecord run = sample_run();
  run.command_line = run.host = run.versions.tool = kHostile;
  const auto run_id = need(store.begin_run(run));
  TrialRecord trial = sample_trial();
  trial.workload_key = trial.device_name = trial.device_hash = trial.schedule = trial.variant =
      trial.objective = trial.constraints = trial.model_version = trial.message = kHostile;
  trial.knobs = {{kHostile, kHostile}};
  trial.traffic_bytes = {{kHostile, 1}};
  const auto ids = need(store.add_trials(run_id, std::vector{trial}));
  Question question = question_of(trial);
  question.grid = question.host = question.variant_filter = kHostile;
  ProofRecord proof = sample_proof();
  proof.by_limit = {{kHostile, 1}};
  need(store.put_best(question, ids[0], proof, kTime));
  need(store.add_kernel(ids[0], {kHostile, kHostile, kHostile, kHostile, {{kHostile, kHostile}}}));
  need(store.add_verdict(
      ids[0], {kHostile, 1, 1, 1, kHostile, kHostile, kHostile, kHostile, kHostile}, kTime));
  const auto best = need(store.find_best(question));
  ASSERT_TRUE(best);
  EXPECT_EQ(best->trial.knobs, trial.knobs);
  EXPECT_EQ(best->kernel->name, kHostile);
  EXPECT_EQ(best->verdict->verdict, kHostile);
  EXPECT_EQ(need(store.list_trials({.workload_key = kHostile,
                                    .device_name = kHostile,
                                    .variant = kHostile,
                                    .since_utc = "2026",
                                    .where = {{kHostile, Comparison::equal, kHostile}}}))
                .size(),
            1u);
  EXPECT_EQ(raw_sql(path, "SELECT count(*) FROM trials"), std::vector<std::string>{"1"});
}

TEST(Store, keeps_a_device_under_several_contents) {
  const std::string path = fresh_folder() + "/a.db";
  Store store = need(Store::open(path, OpenMode::read_write_create));
  DeviceRecord device = sample_device();
  const auto current = [&] { return raw_sql(path, "SELECT hash FROM current_devices").at(0); };
  need(store.put_device(device));
  EXPECT_EQ(current(), device.hash);
  DeviceRecord changed = device;
  changed.hash = "ffff6789abcdef000123456789abcdef";
  changed.content = "kind npu\nclock_mhz 1600\n";
  need(store.put_device(changed));
  EXPECT_EQ(current(), changed.hash);
  need(store.put_device(device));
  EXPECT_EQ(current(), device.hash) << "changed back";
  EXPECT_EQ(raw_sql(path, "SELECT name FROM devices").size(), 2u);
  changed.content = "other";
  EXPECT_FALSE(store.put_device(changed)) << "one hash, two contents";
  // A clock that is behind does not make an older content current.
  raw_sql(path, "UPDATE devices SET stored_utc = '2990-01-01T00:00:00.000Z' WHERE hash = '" +
                    device.hash + "'");
  changed.content = "kind npu\nclock_mhz 1600\n";
  need(store.put_device(changed));
  EXPECT_EQ(current(), changed.hash);
}

TEST(Store, is_readable_in_the_shell) {
  const std::string path = fresh_folder() + "/a.db";
  Filled f = open_filled(path);
  std::vector<TrialRecord> trials{sample_trial(0), sample_trial(1), sample_trial(2),
                                  sample_trial(3)};
  for (int i : {0, 1}) {
    trials.at(static_cast<std::size_t>(i)).measured =
        Measurement{10.0 - i, 20.0 - i, 5, 2, "cpu", "alone"};
  }
  trials[2].status = TrialStatus::infeasible;
  trials[2].message = "L1: needs 600000 bytes, has 524288";
  const auto ids = need(f.store.add_trials(f.run, trials));
  need(f.store.put_best(question_of(trials[0]), ids[3], sample_proof(), kTime));
  need(f.store.add_verdict(ids[3], sample_verdict(), kTime));

  using Rows = std::vector<std::string>;
  EXPECT_EQ(raw_sql(path, "SELECT schedule FROM best"), Rows{trials[3].schedule});
  EXPECT_EQ(raw_sql(path, "SELECT verdict FROM best"), Rows{"ok"});
  EXPECT_EQ(raw_sql(path, "SELECT schedule FROM best_measured"), Rows{trials[1].schedule});
  EXPECT_EQ(raw_sql(path, "SELECT message FROM failures"), Rows{trials[2].message});
  EXPECT_EQ(raw_sql(path, "SELECT trials || ' ' || failed_trials FROM per_layer"), Rows{"4 1"});
  EXPECT_EQ(raw_sql(path, "SELECT value FROM workload_fields WHERE field = 'cout'"), Rows{"256"});
  EXPECT_EQ(raw_sql(path, "SELECT operator FROM workloads"), Rows{"conv2d_pool"});
  EXPECT_EQ(raw_sql(path, "SELECT count(*) FROM trial_knobs WHERE knob = 'base_n' AND value > 65"),
            Rows{"2"});
  EXPECT_EQ(raw_sql(path, "SELECT * FROM stale"), Rows{});
  DeviceRecord changed = sample_device();
  changed.hash = "ffff6789abcdef000123456789abcdef";
  need(f.store.put_device(changed));
  EXPECT_EQ(raw_sql(path, "SELECT schedule FROM stale"), Rows{trials[3].schedule});
  EXPECT_EQ(raw_sql(path, "PRAGMA journal_mode"), Rows{"wal"});
  EXPECT_EQ(raw_sql(path, "PRAGMA user_version"), Rows{"1"});
}

}  // namespace
}  // namespace tilewright::test
