// SPDX-License-Identifier: Apache-2.0
// Merging, export and import, layers.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "db/answers.h"
#include "db/layers.h"
#include "db/maintenance.h"
#include "db/store.h"
#include "tests/db/support.h"

namespace tilewright::test {
namespace {

namespace fs = std::filesystem;

std::string export_text(const std::string& path) {
  std::ostringstream out;
  need(export_json_lines(path, out));
  return out.str();
}

// A database with one answered question; `change` adjusts its trial.
void make_answered(const std::string& path, const std::function<void(TrialRecord&)>& change,
                   const std::string& stored_utc = kTime) {
  Filled f = open_filled(path);
  TrialRecord trial = sample_trial();
  change(trial);
  const auto ids = need(f.store.add_trials(f.run, std::vector{trial, sample_trial(1)}));
  need(f.store.put_best(question_of(trial), ids[0], sample_proof(), stored_utc));
  need(f.store.add_kernel(ids[0], sample_kernel()));
  need(f.store.add_verdict(ids[0], sample_verdict(), kTime));
}

std::string served(const std::string& path) {
  Store store = need(Store::open(path, OpenMode::read_only));
  const auto best = need(store.find_best(question_of(sample_trial())));
  return best ? best->trial.schedule : "none";
}

TEST(Merge, brings_everything_and_again_nothing) {
  const std::string folder = fresh_folder();
  make_answered(folder + "/a.db", [](TrialRecord&) {});
  const MergeReport first = need(merge_database(folder + "/new.db", folder + "/a.db"));
  EXPECT_EQ(first, (MergeReport{.devices = 1,
                                .runs = 1,
                                .trials = 2,
                                .proofs = 1,
                                .kernels = 1,
                                .verdicts = 1,
                                .bests_added = 1,
                                .bests_replaced = 0,
                                .bests_kept = 0,
                                .trials_there = 0}));
  EXPECT_EQ(export_text(folder + "/new.db"), export_text(folder + "/a.db"));
  MergeReport nothing;
  nothing.trials_there = 2;
  EXPECT_EQ(need(merge_database(folder + "/new.db", folder + "/a.db")), nothing);
  EXPECT_EQ(export_text(folder + "/new.db"), export_text(folder + "/a.db"));
}

TEST(Merge, the_better_answer_wins_in_either_order) {
  const std::string folder = fresh_folder();
  make_answered(folder + "/simulated.db", [](TrialRecord& t) { t.simulated_us = 1; });
  make_answered(folder + "/slow.db", [](TrialRecord& t) {
    t.schedule = "slow";
    t.measured = Measurement{90, 100, 3, 2, "cpu", ""};
  });
  make_answered(folder + "/fast.db", [](TrialRecord& t) {
    t.schedule = "fast";
    t.measured = Measurement{80, 95, 3, 2, "cpu", ""};
  });
  const auto merged = [&](const std::vector<const char*>& names) {
    const std::string path = folder + "/into.db";
    for (const char* end : {"", "-wal", "-shm"}) fs::remove(path + end);
    for (const char* name : names) need(merge_database(path, folder + "/" + name));
    return served(path);
  };
  EXPECT_EQ(merged({"simulated.db", "slow.db", "fast.db"}), "fast");
  EXPECT_EQ(merged({"fast.db", "slow.db", "simulated.db"}), "fast");
  EXPECT_EQ(merged({"simulated.db", "slow.db"}), "slow") << "measured before simulated";
}

// A copy is made while a run goes on, and both files get further trials of that run.
TEST(Merge, a_run_that_went_on_in_two_copies_loses_nothing) {
  const std::string folder = fresh_folder();
  {
    Filled f = open_filled(folder + "/a.db");
    need(f.store.add_trials(f.run, std::vector{sample_trial(0)}));
  }
  fs::copy_file(folder + "/a.db", folder + "/b.db");
  {
    Store a = need(Store::open(folder + "/a.db", OpenMode::read_write_create));
    need(a.add_trials(1, std::vector{sample_trial(1), sample_trial(3)}));
    Store b = need(Store::open(folder + "/b.db", OpenMode::read_write_create));
    const auto ids = need(b.add_trials(1, std::vector{sample_trial(2)}));
    need(b.put_best(question_of(sample_trial(2)), ids[0], sample_proof(), kTime));
    need(b.end_run(1, RunState::finished, "2026-01-31T13:00:00Z"));
  }
  EXPECT_EQ(need(merge_database(folder + "/a.db", folder + "/b.db")).trials, 1);
  EXPECT_EQ(need(merge_database(folder + "/a.db", folder + "/b.db")).trials, 0);
  Store a = need(Store::open(folder + "/a.db", OpenMode::read_only));
  const auto trials = need(a.list_trials({}));
  ASSERT_EQ(trials.size(), 4u);
  EXPECT_EQ(trials[0].number, 4) << "its own number 2 is taken";
  EXPECT_EQ(trials[0].schedule, sample_trial(2).schedule);
  EXPECT_EQ(served(folder + "/a.db"), sample_trial(2).schedule);
  const auto runs = need(a.list_runs(10));
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].state, RunState::finished);
}

TEST(Merge, refuses_a_file_with_itself_and_what_is_no_database) {
  const std::string folder = fresh_folder();
  make_answered(folder + "/a.db", [](TrialRecord&) {});
  fs::create_symlink("a.db", folder + "/same.db");
  EXPECT_FALSE(merge_database(folder + "/a.db", folder + "/same.db"));
  write_bytes(folder + "/text.db", std::string(5000, 'x'));
  EXPECT_FALSE(merge_database(folder + "/a.db", folder + "/text.db"));
  EXPECT_FALSE(merge_database(folder + "/b.db", folder + "/missing.db"));
  EXPECT_FALSE(fs::exists(folder + "/b.db")) << "nothing is made for a source that is missing";
}

TEST(Transfer, what_is_exported_is_imported) {
  const std::string folder = fresh_folder();
  make_answered(folder + "/a.db", [](TrialRecord& t) {
    t.measured = Measurement{0.1, 1e-300, 3, 2, "cpu", kHostile};
    t.message = std::string("bytes \xff\xfe and \0 zero", 19);
  });
  const std::string lines = export_text(folder + "/a.db");
  std::istringstream in(lines);
  const MergeReport report = need(import_json_lines(folder + "/b.db", in, "a.jsonl"));
  EXPECT_EQ(report.trials, 2);
  EXPECT_EQ(export_text(folder + "/b.db"), lines);
}

TEST(Transfer, a_line_that_is_wrong_is_named) {
  const std::string folder = fresh_folder();
  make_answered(folder + "/a.db", [](TrialRecord&) {});
  const std::string lines = export_text(folder + "/a.db");
  int n = 0;
  const auto message_of = [&](const std::string& from, const std::string& to) {
    std::string changed = lines;
    const std::size_t at = changed.find(from);
    if (at == std::string::npos) fail_test(from + " is not in the lines");
    changed.replace(at, from.size(), to);
    std::istringstream in(changed);
    const auto result =
        import_json_lines(folder + "/" + std::to_string(n++) + ".db", in, "x.jsonl");
    return result ? "no error" : result.error().message;
  };
  EXPECT_NE(message_of("\"type\":\"run\"", "\"type\":\"rum\"").find("x.jsonl:3: 'rum' is no type"),
            std::string::npos);
  EXPECT_NE(message_of("\"seed\":", "\"sead\":").find("x.jsonl:3: the field seed is missing"),
            std::string::npos);
  EXPECT_NE(
      message_of("\"number\":1", "\"number\":\"1\"").find("x.jsonl:4: the field number is no"),
      std::string::npos);
  EXPECT_NE(
      message_of("\"status\":\"ok\"", "\"status\":\"fine\"").find("x.jsonl:4: the field status"),
      std::string::npos);
  EXPECT_NE(message_of("{\"type\":\"trial\"", "{{").find("x.jsonl:4: "), std::string::npos);
  EXPECT_NE(message_of("\"schema_version\":1", "\"schema_version\":9").find("use tilewright"),
            std::string::npos);
  EXPECT_NE(
      message_of("\"started_utc\":\"2026", "\"started_utc\":\"May").find("started_utc is UTC"),
      std::string::npos);
  EXPECT_NE(message_of("\"run\":\"", "\"run\":\"f").find("is not there"), std::string::npos);
}

TEST(Answers, are_ordered_by_the_rule) {
  TrialRecord bound, simulated, measured, faster;
  bound.bound_us = 1;
  simulated.simulated_us = 50;
  measured.measured = Measurement{100, 110, 3, 2, "cpu A", ""};
  faster.measured = Measurement{90, 100, 3, 2, "cpu B", ""};
  const auto better = [](const TrialRecord& a, const TrialRecord& b, const char* host = "") {
    return is_better_answer(a, kTime, b, kTime, host) &&
           !is_better_answer(b, kTime, a, kTime, host);
  };
  EXPECT_TRUE(better(simulated, bound));
  EXPECT_TRUE(better(measured, simulated));
  EXPECT_TRUE(better(faster, measured));
  EXPECT_TRUE(better(measured, faster, "cpu A")) << "measured here";
  EXPECT_TRUE(better(simulated, faster, "cpu A")) << "elsewhere counts as not measured";
  EXPECT_TRUE(is_better_answer(measured, "2026-02-01T00:00:00Z", measured, kTime)) << "newer";
  EXPECT_FALSE(is_better_answer(measured, kTime, measured, kTime));
}

TEST(Layers, serve_the_better_of_user_and_base) {
  const std::string folder = fresh_folder();
  const std::string user = folder + "/user.db", base = folder + "/base.db";
  make_answered(base, [](TrialRecord& t) {
    t.schedule = "base";
    t.measured = Measurement{90, 100, 3, 2, "cpu A", ""};
  });
  fs::permissions(base, fs::perms::owner_read);
  const auto answer = [&](const std::string& host) {
    Layers layers = need(Layers::open(user, OpenMode::read_write_create, base, host));
    const auto best = need(layers.find_best(question_of(sample_trial())));
    const auto all = need(layers.list_best({}, {}));
    if (all.size() != 1 || !best || all[0].best != best->best ||
        all[0].from_base != best->from_base) {
      fail_test("find_best and list_best differ");
    }
    return std::string(best->from_base ? "base " : "user ") + best->best.trial.schedule;
  };
  EXPECT_EQ(answer("cpu A"), "base base") << "the user has none";
  make_answered(user, [](TrialRecord& t) {
    t.schedule = "user";
    t.simulated_us = 50;
  });
  EXPECT_EQ(answer("cpu A"), "base base") << "measured on this host";
  EXPECT_EQ(answer("cpu B"), "user user") << "the simulated time is the shorter of the two";
  Layers alone = need(Layers::open(user, OpenMode::read_only, {}, "cpu A"));
  EXPECT_FALSE(need(alone.find_best(question_of(sample_trial())))->from_base);
  Question other = question_of(sample_trial());
  other.grid = "full";
  EXPECT_FALSE(need(alone.find_best(other)));
}

TEST(Layers, list_respects_order_and_limit) {
  const std::string folder = fresh_folder();
  make_answered(
      folder + "/user.db", [](TrialRecord& t) { t.constraints = "a"; }, "2026-01-01T00:00:00Z");
  make_answered(
      folder + "/base.db", [](TrialRecord& t) { t.constraints = "b"; }, "2026-01-02T00:00:00Z");
  Layers layers =
      need(Layers::open(folder + "/user.db", OpenMode::read_only, folder + "/base.db", "cpu"));
  const auto both = need(layers.list_best({}, {}));
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].best.question.constraints, "b");
  EXPECT_TRUE(both[0].from_base);
  EXPECT_EQ(need(layers.list_best({}, {.limit = 1})).size(), 1u);
}

}  // namespace
}  // namespace tilewright::test
