// SPDX-License-Identifier: Apache-2.0
// Sample and random records, folders, raw SQL to look behind the store.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "db/store.h"
#include "schedules/records.h"

namespace tilewright::test {

// A fresh, empty folder below the working directory, named after the running test and `name`.
std::string fresh_folder(const std::string& name = "d");

// A folder in memory where there is one (else below the working directory), gone at the end of the
// process: for properties, which make many files and ask nothing about the disk.
const std::string& memory_folder();

inline constexpr const char* kHostile = "'; DROP TABLE trials; --";
inline constexpr const char* kTime = "2026-01-31T12:00:00Z";

DeviceRecord sample_device();
RunRecord sample_run();
TrialRecord sample_trial(int i = 0);
std::vector<TrialRecord> sample_trials(int count, int first = 0);
ProofRecord sample_proof();
VerdictRecord sample_verdict();
KernelRecord sample_kernel();
Question question_of(const TrialRecord& trial);

// Every field random, texts of any bytes (zero, quotes, Unicode, broken UTF-8 if `any_bytes`), of
// `device`.
using Random = std::mt19937_64;
std::string random_text(Random& random, bool any_bytes = true);
DeviceRecord random_device(Random& random);
RunRecord random_run(Random& random);
TrialRecord random_trial(Random& random, const DeviceRecord& device);
ProofRecord random_proof(Random& random);
VerdictRecord random_verdict(Random& random);
KernelRecord random_kernel(Random& random);
std::string random_time(Random& random);

// The value, or the running test fails with the error's text and the program ends this test.
template <class T>
T need(Result<T> result);
void need(const Result<void>& result);
[[noreturn]] void fail_test(const std::string& message);

template <class T>
T need(Result<T> result) {
  if (!result) fail_test(result.error().message);
  return std::move(*result);
}

// A store with the sample device and one run.
struct Filled {
  Store store;
  std::int64_t run = 0;
};
Filled open_filled(const std::string& path);

// First column of all rows, by another connection that knows nothing of the store; "NULL" for NULL.
std::vector<std::string> raw_sql(const std::string& path, const std::string& sql);

// Calls back while another connection holds the write lock.
void hold_write_lock(const std::string& path, const std::function<void()>& while_held);

// Runs `body` in a forked child, which ends without destructors of the parent's objects. An
// escaping exception is exit code 99.
int fork_child(const std::function<int()>& body);
int exit_code_of(int pid);  // waits; 128 + signal for a killed child

std::string read_bytes(const std::string& path);
void write_bytes(const std::string& path, const std::string& bytes);

}  // namespace tilewright::test
