// SPDX-License-Identifier: Apache-2.0
// The schedule database: how fast trials are stored in batches, and how long a question takes,
// alone and beside a writer. One file of 100,000 trials in the working directory is filled by the
// first benchmark and used by the others. Trials are as large as those of a real search: 20 knobs
// and 5 traffic paths, so 26 rows each.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "db/store.h"

namespace tilewright {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kPath = "db_bench.db";
constexpr int kBatch = 1000, kBatches = 100, kKnobs = 20, kPaths = 5;
constexpr int kRowsPerTrial = 1 + kKnobs + kPaths;
constexpr int kBestEvery = 100;  // every hundredth trial answers a question of its own

template <class T>
T need(Result<T> result) {
  if (!result) {
    std::cerr << result.error().message << '\n';
    std::exit(1);
  }
  return std::move(*result);
}
void need(const Result<void>& result) {
  if (!result) {
    std::cerr << result.error().message << '\n';
    std::exit(1);
  }
}

TrialRecord make_trial(int i) {
  TrialRecord trial;
  trial.workload_key = "conv2d_pool/n:1,cin:256,h:224,w:224,cout:256,kh:3,kw:3,pool:2,dtype:fp16";
  trial.device_name = "bench";
  trial.device_hash = "0123456789abcdef0123456789abcdef";
  trial.model_version = "1";
  trial.constraints = "question:" + std::to_string(i / kBestEvery);
  trial.variant = "im2col";
  trial.schedule = "im2col/";
  for (int k = 0; k < kKnobs; ++k) {
    const std::string name = "knob_" + std::to_string(k), value = std::to_string((i >> k) % 512);
    trial.schedule.append(name).append(":").append(value).append(",");
    trial.knobs[name] = value;
  }
  for (int p = 0; p < kPaths; ++p) trial.traffic_bytes["path_" + std::to_string(p)] = 1'000'000 + i;
  trial.bound_us = 900.0 + i;
  trial.simulated_us = 950.0 + i;
  trial.bound_cycles = 1'350'000 + i;
  trial.simulated_cycles = 1'425'000 + i;
  return trial;
}

Question question_of(const TrialRecord& trial) {
  Question question;
  question.workload_key = trial.workload_key;
  question.device_hash = trial.device_hash;
  question.model_version = trial.model_version;
  question.constraints = trial.constraints;
  question.grid = "coarse";
  return question;
}

std::vector<TrialRecord> make_batch(int first) {
  std::vector<TrialRecord> trials;
  trials.reserve(kBatch);
  for (int i = 0; i < kBatch; ++i) trials.push_back(make_trial(first + i));
  return trials;
}

std::int64_t begin(Store& store) {
  need(store.put_device({"bench", "0123456789abcdef0123456789abcdef", "content"}));
  RunRecord run;
  run.started_utc = "2026-01-31T12:00:00Z";
  return need(store.begin_run(run));
}

void put_bests(Store& store, const std::vector<TrialRecord>& trials,
               const std::vector<std::int64_t>& ids) {
  for (std::size_t i = 0; i < trials.size(); i += kBestEvery) {
    need(store.put_best(question_of(trials[i]), ids[i], ProofRecord{}, "2026-01-31T12:00:00Z"));
  }
}

void insert_batches(benchmark::State& state) {
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(std::string(kPath) + end);
  Store store = need(Store::open(kPath, OpenMode::read_write_create));
  const std::int64_t run = begin(store);
  int first = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const std::vector<TrialRecord> trials = make_batch(first);
    first += kBatch;
    state.ResumeTiming();
    const auto ids = need(store.add_trials(run, trials));
    state.PauseTiming();
    put_bests(store, trials, ids);
    state.ResumeTiming();
  }
  using benchmark::Counter;
  state.counters["trials_per_s"] = Counter(first, Counter::kIsRate);
  state.counters["rows_per_s"] =
      Counter(static_cast<double>(first) * kRowsPerTrial, Counter::kIsRate);
  state.counters["file_MiB"] = static_cast<double>(std::filesystem::file_size(kPath)) / (1 << 20);
  state.counters["file_bytes_per_trial"] =
      static_cast<double>(std::filesystem::file_size(kPath)) / first;
}
BENCHMARK(insert_batches)->Unit(benchmark::kMillisecond)->Iterations(kBatches)->UseRealTime();

void query_best(benchmark::State& state) {
  Store store = need(Store::open(kPath, OpenMode::read_only));
  int i = 0;
  for (auto _ : state) {
    i = (i + 7919) % (kBatch * kBatches / kBestEvery);
    const auto best = need(store.find_best(question_of(make_trial(i * kBestEvery))));
    if (!best) state.SkipWithError("a stored best was not found");
  }
}
BENCHMARK(query_best)->Unit(benchmark::kMicrosecond)->UseRealTime();

void list_best_20(benchmark::State& state) {
  Store store = need(Store::open(kPath, OpenMode::read_only));
  for (auto _ : state) benchmark::DoNotOptimize(need(store.list_best({}, 20)));
}
BENCHMARK(list_best_20)->Unit(benchmark::kMicrosecond)->UseRealTime();

void list_trials_of_a_knob(benchmark::State& state) {
  Store store = need(Store::open(kPath, OpenMode::read_only));
  const TrialFilter filter{.where = {{"knob_0", Comparison::equal, "17"}}, .limit = 100};
  for (auto _ : state) benchmark::DoNotOptimize(need(store.list_trials(filter)));
}
BENCHMARK(list_trials_of_a_knob)->Unit(benchmark::kMicrosecond)->UseRealTime();

// The longest time that a question took while another connection stored batches all the time.
void query_best_beside_a_writer(benchmark::State& state) {
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    Store store = need(Store::open(kPath, OpenMode::read_write_create));
    const std::int64_t run = begin(store);
    const std::vector<TrialRecord> trials = make_batch(0);
    while (!stop) need(store.add_trials(run, trials));
  });
  Store store = need(Store::open(kPath, OpenMode::read_only));
  double longest = 0;
  for (auto _ : state) {
    const auto start = Clock::now();
    benchmark::DoNotOptimize(need(store.find_best(question_of(make_trial(0)))));
    longest =
        std::max(longest, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  stop = true;
  writer.join();
  state.counters["longest_ms"] = longest;
}
BENCHMARK(query_best_beside_a_writer)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace
}  // namespace tilewright
