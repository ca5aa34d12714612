// SPDX-License-Identifier: Apache-2.0
#include "tests/db/support.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace tilewright::test {

std::string fresh_folder(const std::string& name) {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string folder = std::string(info->test_suite_name()) + "." + info->name() + "." + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

const std::string& memory_folder() {
  struct Folder {
    std::string path;
    Folder() : path((::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ".")) {
      path += "/tilewright_test_" + std::to_string(::getpid());
      std::filesystem::create_directory(path);
    }
    ~Folder() {
      std::error_code ec;
      std::filesystem::remove_all(path, ec);
    }
  };
  static const Folder folder;
  return folder.path;
}

DeviceRecord sample_device() {
  return {"ascend_910b4", "0123456789abcdef0123456789abcdef", "kind npu\nclock_mhz 1500\n"};
}

RunRecord sample_run() {
  RunRecord run;
  run.versions = {"0.1.0", "1", "2", "21.0.0", "abc123"};
  run.command_line = "tune large-fp16-p2 --device ascend_910b4";
  run.seed = std::numeric_limits<std::uint64_t>::max();
  run.host = "box, 2 cores";
  run.started_utc = kTime;
  return run;
}

TrialRecord sample_trial(int i) {
  TrialRecord trial;
  trial.workload_key = "conv2d_pool/n:1,cin:256,h:224,w:224,cout:256,kh:3,kw:3,pool:2,dtype:fp16";
  trial.device_name = sample_device().name;
  trial.device_hash = sample_device().hash;
  trial.model_version = "1";
  trial.variant = "im2col";
  trial.schedule = "im2col/base_m:128,base_n:" + std::to_string(64 + i) + ",load:norm";
  trial.knobs = {{"base_m", "128"}, {"base_n", std::to_string(64 + i)}, {"load", "norm"}};
  trial.bound_us = 900.5 + i;
  trial.bound_cycles = 1350750 + i;
  trial.simulated_us = 950.25 + i;
  trial.simulated_cycles = 1425375 + i;
  trial.traffic_bytes = {{"gm_to_l1", 1 << 20}, {"l1_to_l0a", 1 << 22}};
  return trial;
}

std::vector<TrialRecord> sample_trials(int count, int first) {
  std::vector<TrialRecord> trials;
  trials.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) trials.push_back(sample_trial(first + i));
  return trials;
}

ProofRecord sample_proof() {
  ProofRecord proof;
  proof.strategy = "best_first";
  proof.grid = "coarse";
  proof.points = 2000;
  proof.feasible = 1200;
  proof.cut = 1100;
  proof.simulated = 100;
  proof.by_limit = {{"L0C", 500}, {"L1", 300}};
  proof.proved_optimal = true;
  proof.gap = 0.0;
  proof.tie_rule = "lowest text";
  proof.seconds = 1.5;
  return proof;
}

VerdictRecord sample_verdict() {
  return {"ok",
          0.25,
          0,
          3154176,
          "1e-5 + 1e-5*|ref|",
          "normal, seed 1",
          "fedcba9876543210fedcba9876543210",
          "x86-64-linux-avx2-fma",
          ""};
}

KernelRecord sample_kernel() {
  return {"large_fp16", "x86-64-linux-avx2-fma", "21.0.0", "2", {{"out/large.a", "11"}}};
}

Question question_of(const TrialRecord& trial) {
  Question question;
  question.workload_key = trial.workload_key;
  question.device_hash = trial.device_hash;
  question.model_version = trial.model_version;
  question.generator_version = "2";
  question.objective = trial.objective;
  question.constraints = trial.constraints;
  question.grid = "coarse";
  return question;
}

void need(const Result<void>& result) {
  if (!result) fail_test(result.error().message);
}

void fail_test(const std::string& message) {
  // googletest reports an exception as the failure of the test that it ends.
  throw std::runtime_error(message);
}

Filled open_filled(const std::string& path) {
  Filled filled{need(Store::open(path, OpenMode::read_write_create)), 0};
  need(filled.store.put_device(sample_device()));
  filled.run = need(filled.store.begin_run(sample_run()));
  return filled;
}

std::vector<std::string> raw_sql(const std::string& path, const std::string& sql) {
  sqlite3* handle = nullptr;
  std::vector<std::string> rows;
  if (sqlite3_open(path.c_str(), &handle) != SQLITE_OK) fail_test(sqlite3_errmsg(handle));
  sqlite3_busy_timeout(handle, 5000);
  char* message = nullptr;
  const auto collect = [](void* out, int, char** values, char**) {
    static_cast<std::vector<std::string>*>(out)->emplace_back(values[0] ? values[0] : "NULL");
    return 0;
  };
  const int code = sqlite3_exec(handle, sql.c_str(), collect, &rows, &message);
  const std::string why = message ? message : "";
  sqlite3_free(message);
  sqlite3_close(handle);
  if (code != SQLITE_OK) fail_test(sql + ": " + why);
  return rows;
}

void hold_write_lock(const std::string& path, const std::function<void()>& while_held) {
  sqlite3* handle = nullptr;
  if (sqlite3_open(path.c_str(), &handle) != SQLITE_OK) fail_test(sqlite3_errmsg(handle));
  if (sqlite3_exec(handle, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail_test(sqlite3_errmsg(handle));
  }
  while_held();
  sqlite3_exec(handle, "ROLLBACK", nullptr, nullptr, nullptr);
  sqlite3_close(handle);
}

int fork_child(const std::function<int()>& body) {
  const int pid = ::fork();
  if (pid != 0) return pid;
  int code = 99;
  try {
    code = body();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "child: %s\n", e.what());
  }
  std::fflush(nullptr);
  ::_exit(code);
}

int exit_code_of(int pid) {
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid) return -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace tilewright::test
