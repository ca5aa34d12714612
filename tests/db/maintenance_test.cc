// SPDX-License-Identifier: Apache-2.0
// Check, statistics, copies; SQL of strangers.
#include "db/maintenance.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "db/query.h"
#include "db/store.h"
#include "tests/db/support.h"

namespace tilewright::test {
namespace {

namespace fs = std::filesystem;

std::string make_database(const std::string& path) {
  Filled f = open_filled(path);
  std::vector<TrialRecord> trials = sample_trials(50);
  trials[1].status = TrialStatus::timed_out;
  const auto ids = need(f.store.add_trials(f.run, trials));
  need(f.store.put_best(question_of(trials[0]), ids[0], sample_proof(), kTime));
  return path;
}

std::string findings_of(const std::string& path) {
  std::string all;
  for (const std::string& finding : need(check_database(path)).findings) all += finding + "\n";
  return all;
}

TEST(Check, finds_nothing_in_what_the_store_wrote) {
  EXPECT_EQ(findings_of(make_database(fresh_folder() + "/a.db")), "");
}

TEST(Check, finds_rows_that_break_a_rule) {
  const std::string path = make_database(fresh_folder() + "/a.db");
  const auto expect_finding = [&](const std::string& change, const std::string& part) {
    fs::copy_file(path, "broken.db", fs::copy_options::overwrite_existing);
    raw_sql("broken.db", "PRAGMA foreign_keys = OFF; " + change);
    EXPECT_NE(findings_of("broken.db").find(part), std::string::npos)
        << change << ": " << findings_of("broken.db");
  };
  expect_finding("UPDATE trials SET bound_cycles = simulated_cycles + 1 WHERE id = 7",
                 "trial 7: its bound of");
  expect_finding("UPDATE bests SET trial_id = 2", "trial 2 is of another question");
  expect_finding("UPDATE bests SET trial_id = 3", "its proof is of another trial");
  expect_finding("UPDATE trial_knobs SET value = 65 WHERE trial_id = 1 AND knob = 'base_n'",
                 "trial 1: knob base_n:65 is not in its schedule");
  expect_finding("UPDATE runs SET command_line = 'tune --db /tmp/x.db'", "absolute path");
  expect_finding("DELETE FROM workloads", "reference: a row of");
}

TEST(Check, finds_damaged_pages) {
  const std::string path = make_database(fresh_folder() + "/a.db");
  const std::string whole = read_bytes(path);
  int found = 0;
  const std::size_t pages = whole.size() / 4096;
  for (std::size_t page = 1; page < pages; ++page) {
    std::string bytes = whole;
    for (std::size_t i = 0; i < 16; ++i) bytes[page * 4096 + i] = '\x5a';
    write_bytes(path, bytes);
    const auto report = check_database(path);
    if (!report || !report->findings.empty()) ++found;
  }
  EXPECT_EQ(found, static_cast<int>(pages) - 1);
}

TEST(Stats, count) {
  const std::string path = make_database(fresh_folder() + "/a.db");
  const DatabaseStats stats = need(database_stats(path));
  EXPECT_EQ(stats.schema_version, 1);
  EXPECT_EQ(stats.rows.at("trials"), 50);
  EXPECT_EQ(stats.rows.at("trial_knobs"), 150);
  EXPECT_EQ(stats.rows.at("bests"), 1);
  EXPECT_EQ(stats.trials_by_status.at("ok"), 49);
  EXPECT_EQ(stats.trials_by_status.at("timed_out"), 1);
  EXPECT_EQ(stats.first_run_utc, kTime);
  EXPECT_EQ(stats.journal_mode, "wal");
  EXPECT_EQ(stats.file_bytes, static_cast<std::int64_t>(fs::file_size(path)));
}

TEST(Copy, is_whole_while_somebody_writes) {
  const std::string folder = fresh_folder();
  Filled f = open_filled(folder + "/a.db");
  need(f.store.add_trials(f.run, std::vector{sample_trial()}));
  need(copy_database(folder + "/a.db", folder + "/copy.db"));
  Store copy = need(Store::open(folder + "/copy.db", OpenMode::read_only));
  EXPECT_EQ(need(copy.list_trials({})).size(), 1u);
  EXPECT_FALSE(copy_database(folder + "/a.db", folder + "/copy.db")) << "replaces nothing";
  EXPECT_FALSE(copy_database(folder + "/missing.db", folder + "/other.db"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) > 2, true);
  for (const auto& entry : fs::directory_iterator(folder)) {
    EXPECT_EQ(entry.path().string().find("partial"), std::string::npos) << entry.path();
  }
}

TEST(Vacuum, gives_pages_back) {
  const std::string path = make_database(fresh_folder() + "/a.db");
  raw_sql(path,
          "CREATE TABLE filler (x TEXT); INSERT INTO filler VALUES (hex(zeroblob(500000))); DROP "
          "TABLE filler");
  EXPECT_GT(need(database_stats(path)).free_bytes, 900'000);
  need(vacuum_database(path));
  EXPECT_EQ(need(database_stats(path)).free_bytes, 0);
  EXPECT_EQ(findings_of(path), "");
  EXPECT_FALSE(vacuum_database(path + ".missing"));
}

TEST(Sql, answers_questions) {
  const std::string path = make_database(fresh_folder() + "/a.db");
  const SqlTable table = need(run_sql(path, "SELECT 1 AS one, 2.5, 'x', NULL, x'00ff';  "));
  EXPECT_EQ(table.columns.at(0), "one");
  const std::vector<SqlCell> row{std::int64_t{1}, 2.5, std::string("x"), std::monostate(),
                                 std::string("X'00FF'")};
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0], row);
  EXPECT_EQ(need(run_sql(path, "SELECT * FROM best")).rows.size(), 1u);
  EXPECT_EQ(need(run_sql(path, "WITH t AS (SELECT count(*) AS n FROM trials) SELECT n FROM t"))
                .rows.at(0)
                .at(0),
            SqlCell(std::int64_t{50}));
  EXPECT_FALSE(need(run_sql(path, "PRAGMA table_info(trials)")).rows.empty());
  EXPECT_FALSE(need(run_sql(path, "EXPLAIN QUERY PLAN SELECT * FROM best")).rows.empty());
  const SqlTable cut = need(run_sql(path, "SELECT id FROM trials", {.rows = 7}));
  EXPECT_EQ(cut.rows.size(), 7u);
  EXPECT_TRUE(cut.cut);
}

TEST(Sql, can_not_write_attach_or_set) {
  const std::string path = make_database(fresh_folder() + "/a.db");
  const std::string before = read_bytes(path);
  for (const char* sql : {"INSERT INTO schema_history VALUES (9, '', '')",
                          "UPDATE trials SET schedule = ''",
                          "DELETE FROM trials",
                          "DROP TABLE trials",
                          "CREATE TABLE t (x)",
                          "CREATE TEMP TABLE t (x)",
                          "CREATE TEMP VIEW v AS SELECT 1",
                          "ATTACH 'attached.db' AS other",
                          "DETACH main",
                          "VACUUM",
                          "VACUUM INTO 'vacuumed.db'",
                          "REINDEX",
                          "ANALYZE",
                          "BEGIN",
                          "COMMIT",
                          "SAVEPOINT s",
                          "PRAGMA journal_mode = DELETE",
                          "PRAGMA user_version = 9",
                          "PRAGMA writable_schema = ON",
                          "PRAGMA query_only = OFF",
                          "PRAGMA page_size = 512",
                          "SELECT load_extension('x.so')",
                          "SELECT 1; DELETE FROM trials",
                          "WITH t AS (SELECT 1) DELETE FROM trials",
                          "EXPLAIN DELETE FROM trials",
                          ""}) {
    const auto result = run_sql(path, sql);
    EXPECT_FALSE(result) << sql;
    if (!result) {
      EXPECT_EQ(result.error().kind, ErrorKind::usage) << sql << ": " << result.error().message;
    }
  }
  EXPECT_EQ(read_bytes(path), before);
  EXPECT_FALSE(fs::exists("attached.db"));
  EXPECT_FALSE(fs::exists("vacuumed.db"));
}

TEST(Sql, names_a_mistake) {
  const std::string path = make_database(fresh_folder() + "/a.db");
  const auto result = run_sql(path, "SELECT * FROM trails");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::usage);
  EXPECT_NE(result.error().message.find("no such table: trails"), std::string::npos)
      << result.error().message;
}

TEST(Sql, ends_after_its_time) {
  const std::string path = make_database(fresh_folder() + "/a.db");
  const auto start = std::chrono::steady_clock::now();
  const auto result = run_sql(
      path, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
      {.time = std::chrono::milliseconds(100)});
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("longer than 100 ms"), std::string::npos)
      << result.error().message;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(KnobConditions, are_parsed) {
  const auto parsed = [](const char* text) { return need(parse_knob_condition(text)); };
  EXPECT_EQ(parsed("base_m>=128"), (KnobCondition{"base_m", Comparison::greater_equal, "128"}));
  EXPECT_EQ(parsed("base_m<=128"), (KnobCondition{"base_m", Comparison::less_equal, "128"}));
  EXPECT_EQ(parsed("base_m>128"), (KnobCondition{"base_m", Comparison::greater, "128"}));
  EXPECT_EQ(parsed("base_m<128"), (KnobCondition{"base_m", Comparison::less, "128"}));
  EXPECT_EQ(parsed("load=mdl"), (KnobCondition{"load", Comparison::equal, "mdl"}));
  EXPECT_EQ(parsed("load!=mdl"), (KnobCondition{"load", Comparison::not_equal, "mdl"}));
  for (const char* text : {"", "base_m", "=1", "base_m=", "base_m==1", "a<b<c", "base_m ! 1"}) {
    EXPECT_FALSE(parse_knob_condition(text)) << text;
  }
}

}  // namespace
}  // namespace tilewright::test
