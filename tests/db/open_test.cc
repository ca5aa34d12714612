// SPDX-License-Identifier: Apache-2.0
// What can be wrong with the file, and what is said about it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "db/store.h"
#include "tests/db/support.h"

namespace tilewright::test {
namespace {

namespace fs = std::filesystem;

// The error of opening, which must be one line that holds each of these.
void expect_refused(const std::string& path, OpenMode mode, const std::vector<std::string>& parts) {
  const auto store = Store::open(path, mode, std::chrono::milliseconds(300));
  ASSERT_FALSE(store) << path << " was opened";
  const std::string& message = store.error().message;
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' is not in: " << message;
  }
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

void expect_refused_both(const std::string& path, const std::vector<std::string>& parts) {
  expect_refused(path, OpenMode::read_write_create, parts);
  expect_refused(path, OpenMode::read_only, parts);
}

std::string make_database(const std::string& path, int trials = 100) {
  Filled f = open_filled(path);
  need(f.store.add_trials(f.run, sample_trials(trials)));
  return path;
}

TEST(Open, a_missing_folder) {
  expect_refused_both(fresh_folder() + "/no/such/a.db", {"no/such does not exist", "make it"});
}

TEST(Open, no_name) { expect_refused_both("", {"no file name"}); }

TEST(Open, a_folder) {
  const std::string folder = fresh_folder();
  expect_refused_both(folder, {folder, "is a folder"});
}

TEST(Open, a_missing_file_to_read) {
  const std::string path = fresh_folder() + "/a.db";
  expect_refused(path, OpenMode::read_only, {path, "no such file"});
  EXPECT_FALSE(fs::exists(path)) << "reading makes no file";
}

TEST(Open, an_empty_file) {
  const std::string path = fresh_folder() + "/a.db";
  write_bytes(path, "");
  expect_refused(path, OpenMode::read_only, {path, "is empty"});
  EXPECT_TRUE(Store::open(path, OpenMode::read_write_create)) << "an empty file can be filled";
}

TEST(Open, no_database) {
  const std::string path = fresh_folder() + "/notes.txt";
  const std::string text(5000, 'x');
  write_bytes(path, text);
  expect_refused_both(path, {path, "SQLITE_NOTADB", "choose another file"});
  EXPECT_EQ(read_bytes(path), text) << "a foreign file is not touched";
}

TEST(Open, a_database_of_another_program) {
  const std::string path = fresh_folder() + "/a.db";
  raw_sql(path, "CREATE TABLE songs (name TEXT); INSERT INTO songs VALUES ('la')");
  const std::string before = read_bytes(path);
  expect_refused_both(path, {path, "another program"});
  EXPECT_EQ(read_bytes(path), before);
}

TEST(Open, a_newer_schema_names_the_version_that_reads_it) {
  const std::string path = make_database(fresh_folder() + "/a.db");
  raw_sql(path,
          "PRAGMA user_version = 7; INSERT INTO schema_history VALUES (7, '3.2.1', "
          "'2030-01-01T00:00:00Z')");
  expect_refused_both(path, {path, "schema version 7", "up to 1", "use tilewright 3.2.1 or newer"});
}

TEST(Open, a_truncated_file) {
  const std::string path = make_database(fresh_folder() + "/a.db");
  const std::string whole = read_bytes(path);
  for (const std::size_t size :
       {std::size_t{50}, std::size_t{4096}, whole.size() / 2, whole.size() - 4096}) {
    write_bytes(path, whole.substr(0, size));
    expect_refused_both(path, {path, "SQLITE_"});
  }
}

TEST(Open, flipped_bytes_in_the_header) {
  const std::string path = make_database(fresh_folder() + "/a.db");
  std::string bytes = read_bytes(path);
  bytes[3] = static_cast<char>(bytes[3] ^ 0x55);
  write_bytes(path, bytes);
  expect_refused_both(path, {path, "SQLITE_NOTADB"});
}

// Damage inside a page is not seen by opening, but reading ends with an error and never with wrong
// rows or a crash.
TEST(Open, flipped_bytes_in_pages) {
  const std::string path = make_database(fresh_folder() + "/a.db");
  const std::string whole = read_bytes(path);
  int told = 0;
  for (std::size_t page = 1; page < whole.size() / 4096; ++page) {
    std::string bytes = whole;
    for (std::size_t i = 0; i < 16; ++i) bytes[page * 4096 + i] = static_cast<char>(0x5a);
    write_bytes(path, bytes);
    auto store = Store::open(path, OpenMode::read_only);
    if (!store) {
      ++told;
      continue;
    }
    const auto trials = store->list_trials({.limit = 1000});
    if (!trials) {
      ++told;
      EXPECT_NE(trials.error().message.find("SQLITE_CORRUPT"), std::string::npos)
          << trials.error().message;
    } else {
      EXPECT_LE(trials->size(), 100u);
    }
  }
  EXPECT_GT(told, 5) << "of " << whole.size() / 4096 << " pages";
}

TEST(Open, strange_names) {
  const std::string folder = fresh_folder();
  for (const std::string name : {"with space.db", "it's \"quoted\".db", "größe 日本.db", ":memory:",
                                 "file:x?mode=memory", "a#b%20c?.db", "'; DROP TABLE trials; --"}) {
    std::string path = folder;
    path.append("/").append(name);
    make_database(path, 3);
    EXPECT_TRUE(fs::exists(path)) << path;
    Store store = need(Store::open(path, OpenMode::read_only));
    EXPECT_EQ(need(store.list_trials({})).size(), 3u) << path;
  }
  // Without a folder in front SQLite would take these for something else.
  fs::current_path(folder);
  fs::remove_all(":memory:");
  make_database(":memory:", 3);
  EXPECT_TRUE(fs::exists(":memory:"));
  fs::current_path("..");
}

TEST(Open, a_symbolic_link) {
  const std::string folder = fresh_folder();
  fs::create_directory(folder + "/real");
  make_database(folder + "/real/a.db", 3);
  fs::create_symlink("real/a.db", folder + "/link.db");
  Filled f = open_filled(folder + "/link.db");
  need(f.store.add_trials(f.run, std::vector{sample_trial()}));
  EXPECT_EQ(raw_sql(folder + "/real/a.db", "SELECT count(*) FROM trials"),
            std::vector<std::string>{"4"});
}

// Permissions do not bind root: the checks run as another user.
int as_nobody(const std::function<int()>& body) {
  return exit_code_of(fork_child([&] {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return 77;
    return body();
  }));
}

// A folder that everybody can reach, unlike the build tree perhaps.
std::string public_folder() {
  std::string folder = fs::temp_directory_path() / ("tilewright_db_" + std::to_string(::getpid()));
  fs::remove_all(folder);
  fs::create_directory(folder);
  fs::permissions(folder, fs::perms::all);
  return folder;
}

bool says(const std::string& path, OpenMode mode, const std::string& part) {
  const auto store = Store::open(path, mode);
  if (store) return false;
  if (store.error().message.find(part) != std::string::npos) return true;
  std::fprintf(stderr, "%s\n", store.error().message.c_str());
  return false;
}

TEST(Open, a_read_only_file) {
  const std::string folder = public_folder();
  const std::string path = make_database(folder + "/a.db", 3);
  fs::permissions(path, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  EXPECT_EQ(as_nobody([&] {
              if (!says(path, OpenMode::read_write_create, "can not be written")) return 1;
              Store store = need(Store::open(path, OpenMode::read_only));
              return need(store.list_trials({})).size() == 3 ? 0 : 2;
            }),
            0);
  fs::remove_all(folder);
}

TEST(Open, a_read_only_folder) {
  const std::string folder = public_folder();
  const std::string path = make_database(folder + "/a b%?#.db", 3);
  fs::permissions(path, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read |
                              fs::perms::others_exec | fs::perms::group_read |
                              fs::perms::group_exec);
  EXPECT_EQ(as_nobody([&] {
              Store store = need(Store::open(path, OpenMode::read_only));
              if (need(store.list_trials({})).size() != 3) return 1;
              if (!says(path, OpenMode::read_write_create, "can not be written")) return 2;
              return says(folder + "/new.db", OpenMode::read_write_create, "SQLITE_CANTOPEN") ? 0
                                                                                              : 3;
            }),
            0);
  fs::permissions(folder, fs::perms::all);
  fs::remove_all(folder);
}

TEST(Open, an_unreadable_file) {
  const std::string folder = public_folder();
  const std::string path = make_database(folder + "/a.db", 3);
  fs::permissions(path, fs::perms::none);
  EXPECT_EQ(as_nobody([&] {
              return says(path, OpenMode::read_only, "SQLITE_CANTOPEN") &&
                             says(path, OpenMode::read_write_create, "SQLITE_CANTOPEN")
                         ? 0
                         : 1;
            }),
            0);
  fs::remove_all(folder);
}

TEST(Open, reading_while_somebody_writes) {
  const std::string path = fresh_folder() + "/a.db";
  Filled f = open_filled(path);
  need(f.store.add_trials(f.run, std::vector{sample_trial()}));
  Store reader = need(Store::open(path, OpenMode::read_only));
  EXPECT_EQ(need(reader.list_trials({})).size(), 1u);
  need(f.store.add_trials(f.run, std::vector{sample_trial(1)}));
  EXPECT_EQ(need(reader.list_trials({})).size(), 2u);
  EXPECT_FALSE(reader.begin_run(sample_run())) << "a reader writes nothing";
}

}  // namespace
}  // namespace tilewright::test
