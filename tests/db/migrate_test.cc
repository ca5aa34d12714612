// SPDX-License-Identifier: Apache-2.0
// Older files, newer files, and migrations that fail or are killed. The steps to versions 2 and 3
// are made up here: the machinery is what is tested, and the checked-in file of each real older
// version.
#include "db/migrate.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "db/database_file.h"
#include "db/store.h"
#include "tests/db/support.h"

namespace tilewright::test {
namespace {

namespace fs = std::filesystem;
using db::Migration;
using db::Schema;
using db::Sql;
using Rows = std::vector<std::string>;

const std::string kFixture = std::string(TILEWRIGHT_SOURCE_DIR) + "/tests/db/fixtures/v1.db";

std::string copy_of_fixture(const std::string& name = "d") {
  std::string path = fresh_folder(name) + "/old.db";
  fs::copy_file(kFixture, path);
  return path;
}

constexpr Sql kAddColumn{"to version 2",
                         "ALTER TABLE runs ADD COLUMN note TEXT NOT NULL DEFAULT 'none'"};
// Rows of other tables refer to the table that is built anew.
constexpr Sql kRebuild{
    "to version 3",
    "CREATE TABLE new_devices (id INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, "
    "content TEXT NOT NULL, stored_utc TEXT NOT NULL, kind TEXT NOT NULL, UNIQUE (hash, name)) "
    "STRICT;"
    "INSERT INTO new_devices SELECT id, name, hash, content, stored_utc, 'npu' FROM devices;"
    "DROP VIEW stale; DROP VIEW per_layer; DROP VIEW current_devices; DROP VIEW best; "
    "DROP VIEW best_measured; DROP VIEW failures;"
    "DROP TABLE devices; ALTER TABLE new_devices RENAME TO devices"};
constexpr std::array kSteps{Migration{2, kAddColumn}, Migration{3, kRebuild}};
const Schema kVersion3{3, {"unused", ""}, kSteps};

Result<void> open_with(const Schema& schema, const std::string& path, bool read_only = false) {
  const auto connection = db::open_database(
      {.path = path, .read_only = read_only, .lock_wait = std::chrono::milliseconds(20'000)},
      schema);
  if (!connection) return pass_error(connection);
  return {};
}

std::string message_of(const Result<void>& result) {
  return result ? "no error" : result.error().message;
}

TEST(Migrate, the_file_of_version_1_is_read_as_it_was_written) {
  const std::string path = copy_of_fixture();
  Store store = need(Store::open(path, OpenMode::read_write_create));
  const auto runs = need(store.list_runs(10));
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].versions, (Versions{"0.1.0", "1", "1", "21.0.0", "abc123"}));
  EXPECT_EQ(runs[0].seed, 18446744073709551615u);
  const auto trials = need(store.list_trials({}));
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_EQ(trials[2].schedule, "im2col/base_m:128,base_n:256,load:norm");
  EXPECT_EQ(trials[2].knobs.at("base_n"), "256");
  EXPECT_EQ(trials[2].traffic_bytes.at("gm_to_l1"), 1048576);
  EXPECT_EQ(trials[1].status, TrialStatus::infeasible);
  EXPECT_EQ(trials[0].measured, (Measurement{10.5, 11.25, 7, 2, "cpu", "alone"}));
  Question question = question_of(trials[2]);
  question.generator_version = "1";
  const auto best = need(store.find_best(question));
  ASSERT_TRUE(best && best->kernel && best->verdict);
  EXPECT_EQ(best->proof.by_limit, (std::map<std::string, std::int64_t>{{"L0C", 500}, {"L1", 300}}));
  EXPECT_EQ(best->kernel->artefact_hashes.at("large.a"), "11");
  EXPECT_EQ(best->verdict->output_digest, "fedcba9876543210fedcba9876543210");
  need(store.add_trials(runs[0].id, std::vector{trials[2]}));
}

// A change of schema.sql without a new version and a migration would leave old files behind.
TEST(Migrate, the_schema_of_a_new_file_is_that_of_a_migrated_one) {
  const std::string old_path = copy_of_fixture();
  const std::string new_path = fresh_folder("new") + "/new.db";
  need(Store::open(old_path, OpenMode::read_write_create));
  need(Store::open(new_path, OpenMode::read_write_create));
  const std::string sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name";
  EXPECT_EQ(raw_sql(old_path, sql), raw_sql(new_path, sql));
}

TEST(Migrate, takes_every_step_and_keeps_a_copy) {
  const std::string path = copy_of_fixture();
  need(open_with(kVersion3, path));
  EXPECT_EQ(raw_sql(path, "PRAGMA user_version"), Rows{"3"});
  EXPECT_EQ(raw_sql(path, "SELECT schema_version FROM schema_history"), (Rows{"1", "2", "3"}));
  EXPECT_EQ(raw_sql(path, "SELECT note FROM runs"), Rows{"none"});
  EXPECT_EQ(raw_sql(path, "SELECT kind FROM devices"), Rows{"npu"});
  EXPECT_EQ(raw_sql(path, "SELECT count(*) FROM trials JOIN devices ON devices.id = device_id"),
            Rows{"3"});
  EXPECT_EQ(raw_sql(path, "PRAGMA foreign_key_check"), Rows{});
  Store copy = need(Store::open(path + ".v1.bak", OpenMode::read_only));
  EXPECT_EQ(need(copy.list_trials({})).size(), 3u);
}

TEST(Migrate, replaces_no_earlier_copy) {
  const std::string path = copy_of_fixture();
  write_bytes(path + ".v1.bak", "mine");
  need(open_with(kVersion3, path));
  EXPECT_EQ(read_bytes(path + ".v1.bak"), "mine");
  EXPECT_EQ(raw_sql(path + ".v1.2.bak", "PRAGMA user_version"), Rows{"1"});
}

TEST(Migrate, a_step_that_fails_changes_nothing) {
  const std::array steps{Migration{2, kAddColumn},
                         Migration{3, Sql{"to version 3", "DROP TABLE no_such"}}};
  const std::string path = copy_of_fixture();
  const std::string message = message_of(open_with(Schema{3, {"unused", ""}, steps}, path));
  for (const char* part : {"old.db", "to version 3", "no such table: no_such", "SQLITE_ERROR"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  Store store = need(Store::open(path, OpenMode::read_write_create));
  EXPECT_EQ(need(store.list_trials({})).size(), 3u);
  EXPECT_EQ(raw_sql(path, "SELECT count(*) FROM pragma_table_info('runs') WHERE name = 'note'"),
            Rows{"0"});
}

TEST(Migrate, a_step_that_loses_rows_changes_nothing) {
  const std::array steps{Migration{2, Sql{"to version 2", "DELETE FROM devices"}}};
  const std::string path = copy_of_fixture();
  const std::string message = message_of(open_with(Schema{2, {"unused", ""}, steps}, path));
  EXPECT_NE(message.find("refers to a row of devices"), std::string::npos) << message;
  EXPECT_EQ(raw_sql(path, "SELECT count(*) FROM devices"), Rows{"1"});
}

TEST(Migrate, an_unknown_way_is_said) {
  const std::array steps{Migration{3, kAddColumn}};
  const std::string message =
      message_of(open_with(Schema{3, {"unused", ""}, steps}, copy_of_fixture()));
  EXPECT_NE(message.find("no migration from it is known"), std::string::npos) << message;
}

TEST(Migrate, reading_does_not_migrate) {
  const std::string path = copy_of_fixture();
  const std::string message = message_of(open_with(kVersion3, path, true));
  EXPECT_NE(message.find("older schema version 1: open it once for writing"), std::string::npos)
      << message;
  EXPECT_EQ(raw_sql(path, "PRAGMA user_version"), Rows{"1"});
}

TEST(Migrate, an_old_tool_notices_a_migration_under_its_hands) {
  const std::string path = copy_of_fixture();
  Store old = need(Store::open(path, OpenMode::read_write_create));
  need(open_with(kVersion3, path));
  const auto result = old.begin_run(sample_run());
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("migrated to schema version 3"), std::string::npos)
      << result.error().message;
  EXPECT_FALSE(old.list_trials({}));
}

TEST(Migrate, two_processes_at_the_same_time) {
  const std::string path = copy_of_fixture();
  std::vector<int> children;
  children.reserve(2);
  for (int i = 0; i < 2; ++i) {
    children.push_back(fork_child([&] {
      need(open_with(kVersion3, path));
      return 0;
    }));
  }
  for (const int pid : children) EXPECT_EQ(exit_code_of(pid), 0);
  EXPECT_EQ(raw_sql(path, "SELECT schema_version FROM schema_history"), (Rows{"1", "2", "3"}));
}

TEST(Migrate, killed_on_the_way_changes_nothing) {
  // Long enough to be killed in: writes beyond the page cache, so that the file itself is touched.
  constexpr Sql kLong{
      "to version 2",
      "ALTER TABLE runs ADD COLUMN note TEXT NOT NULL DEFAULT 'none';"
      "CREATE TABLE filler (x TEXT);"
      "INSERT INTO filler WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
      "100000000) SELECT hex(randomblob(500)) FROM n"};
  const std::array steps{Migration{2, kLong}};
  for (int round = 0; round < 3; ++round) {
    const std::string path = copy_of_fixture(std::to_string(round));
    const int child = fork_child([&] {
      need(open_with(Schema{2, {"unused", ""}, steps}, path));
      return 0;
    });
    ::usleep(static_cast<useconds_t>(30'000 + 40'000 * round));
    ::kill(child, SIGKILL);
    EXPECT_EQ(exit_code_of(child), 128 + SIGKILL);
    Store store = need(Store::open(path, OpenMode::read_write_create));
    EXPECT_EQ(need(store.list_trials({})).size(), 3u);
    EXPECT_EQ(raw_sql(path, "PRAGMA integrity_check"), Rows{"ok"});
    EXPECT_EQ(raw_sql(path, "SELECT count(*) FROM sqlite_schema WHERE name = 'filler'"), Rows{"0"});
    need(open_with(kVersion3, path));
  }
}

}  // namespace
}  // namespace tilewright::test
