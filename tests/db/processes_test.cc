// SPDX-License-Identifier: Apache-2.0
// Several processes on one file, and processes that die.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>

#include "db/store.h"
#include "tests/db/support.h"

namespace tilewright::test {
namespace {

using std::chrono::milliseconds;

std::string one(const std::string& path, const std::string& sql) {
  return raw_sql(path, sql).at(0);
}

// Also the making of the file is raced for. Each process stores `trials` in batches, in a run of
// its own.
void write_at_the_same_time(const std::string& path, int processes, int trials, int batch) {
  std::vector<int> children;
  children.reserve(static_cast<std::size_t>(processes));
  for (int p = 0; p < processes; ++p) {
    children.push_back(fork_child([&] {
      Filled f = open_filled(path);
      for (int i = 0; i < trials; i += batch) {
        need(f.store.add_trials(f.run, sample_trials(batch, i)));
      }
      need(f.store.end_run(f.run, RunState::finished, kTime));
      return 0;
    }));
  }
  for (const int pid : children) EXPECT_EQ(exit_code_of(pid), 0);
  const int all = processes * trials;
  EXPECT_EQ(one(path, "SELECT count(*) FROM trials"), std::to_string(all));
  EXPECT_EQ(one(path, "SELECT count(*) FROM trial_knobs"), std::to_string(3 * all));
  EXPECT_EQ(one(path, "SELECT count(*) FROM runs WHERE state = 'finished'"),
            std::to_string(processes));
  EXPECT_EQ(raw_sql(path, "SELECT max(number) FROM trials GROUP BY run_id"),
            std::vector<std::string>(static_cast<std::size_t>(processes), std::to_string(trials)));
  EXPECT_EQ(one(path, "PRAGMA integrity_check"), "ok");
}

TEST(Processes, four_write_small_batches) {
  write_at_the_same_time(fresh_folder() + "/a.db", 4, 200, 5);
}

TEST(Processes, eight_write_large_batches) {
  write_at_the_same_time(fresh_folder() + "/a.db", 8, 1000, 50);
}

TEST(Processes, a_lock_that_is_held_is_an_error_after_the_wait) {
  const std::string path = fresh_folder() + "/a.db";
  need(open_filled(path).store.list_runs(1));
  std::array<int, 2> held{}, stop{};
  ASSERT_EQ(::pipe(held.data()), 0);
  ASSERT_EQ(::pipe(stop.data()), 0);
  const int child = fork_child([&] {
    bool fine = false;
    hold_write_lock(path, [&] {
      char c = 'x';
      fine = ::write(held[1], &c, 1) == 1 && ::read(stop[0], &c, 1) == 1;
    });
    return fine ? 0 : 1;
  });
  char c = 0;
  ASSERT_EQ(::read(held[0], &c, 1), 1);
  const auto start = std::chrono::steady_clock::now();
  Store store = need(Store::open(path, OpenMode::read_write_create, milliseconds(200)));
  const auto result = store.begin_run(sample_run());
  const auto waited = std::chrono::steady_clock::now() - start;
  ASSERT_FALSE(result);
  for (const char* part : {"a.db", "begin_run", "SQLITE_BUSY", "another process holds the lock"}) {
    EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
  }
  EXPECT_GE(waited, milliseconds(200));
  EXPECT_LT(waited, milliseconds(5000));
  EXPECT_EQ(need(store.list_runs(10)).size(), 1u) << "reading needs no lock";
  ASSERT_EQ(::write(stop[1], &c, 1), 1);
  EXPECT_EQ(exit_code_of(child), 0);
  EXPECT_TRUE(store.begin_run(sample_run())) << "and afterwards it works";
}

// A batch that was reported as stored is there; one that was not is there as a whole or not at all.
TEST(Processes, killed_in_a_batch) {
  constexpr int kBatch = 300;
  for (int round = 0; round < 5; ++round) {
    const std::string path = fresh_folder(std::to_string(round)) + "/a.db";
    std::array<int, 2> reports{};
    ASSERT_EQ(::pipe(reports.data()), 0);
    const int child = fork_child([&] {
      Filled f = open_filled(path);
      while (true) {
        need(f.store.add_trials(f.run, sample_trials(kBatch)));
        if (::write(reports[1], "x", 1) != 1) return 1;
      }
    });
    ::close(reports[1]);
    char c = 0;
    int stored = 0;
    while (stored < 2 && ::read(reports[0], &c, 1) == 1) ++stored;
    ::usleep(static_cast<useconds_t>(1000 * (1 + 3 * round)));
    ::kill(child, SIGKILL);
    EXPECT_EQ(exit_code_of(child), 128 + SIGKILL);
    while (::read(reports[0], &c, 1) == 1) ++stored;
    ::close(reports[0]);

    Store store = need(Store::open(path, OpenMode::read_write_create));
    const std::size_t there = need(store.list_trials({.limit = 1'000'000})).size();
    EXPECT_EQ(there % kBatch, 0u);
    EXPECT_GE(there, static_cast<std::size_t>(stored) * kBatch);
    EXPECT_EQ(one(path, "SELECT count(*) FROM trial_knobs"), std::to_string(3 * there));
    EXPECT_EQ(one(path, "PRAGMA integrity_check"), "ok");
    need(store.add_trials(1, sample_trials(1)));
  }
}

TEST(Processes, a_full_disk_loses_nothing_that_was_stored) {
  const std::string path = fresh_folder() + "/a.db";
  std::array<int, 2> reports{};
  ASSERT_EQ(::pipe(reports.data()), 0);
  const int child = fork_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{600'000, 600'000};  // bytes of one file
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    Filled f = open_filled(path);
    for (int i = 0; i < 100; ++i) {
      const auto stored = f.store.add_trials(f.run, sample_trials(100));
      if (!stored) {
        std::fprintf(stderr, "%s\n", stored.error().message.c_str());
        const bool named = stored.error().message.find("SQLITE_FULL") != std::string::npos ||
                           stored.error().message.find("SQLITE_IOERR") != std::string::npos;
        return named ? 0 : 2;
      }
      if (::write(reports[1], "x", 1) != 1) return 1;
    }
    return 3;  // never full
  });
  ::close(reports[1]);
  EXPECT_EQ(exit_code_of(child), 0);
  std::size_t stored = 0;
  char c = 0;
  while (::read(reports[0], &c, 1) == 1) ++stored;
  ::close(reports[0]);
  Store store = need(Store::open(path, OpenMode::read_write_create));
  EXPECT_EQ(need(store.list_trials({.limit = 1'000'000})).size(), stored * 100);
  EXPECT_GT(stored, 0u);
  EXPECT_EQ(one(path, "PRAGMA integrity_check"), "ok");
}

}  // namespace
}  // namespace tilewright::test
