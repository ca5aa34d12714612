// SPDX-License-Identifier: Apache-2.0
#include "tests/db/support.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
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

namespace {

std::int64_t number(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}
bool chance(Random& random, int percent) { return number(random, 1, 100) <= percent; }

double figure(Random& random) {
  const double value =
      std::ldexp(static_cast<double>(random()), static_cast<int>(number(random, -120, 60)));
  return chance(random, 10) ? 0.0 : value;
}

std::int64_t count(Random& random) {
  return chance(random, 10) ? std::numeric_limits<std::int64_t>::max()
                            : number(random, 0, 1'000'000);
}

std::string hex(Random& random) {
  std::string text;
  for (int i = 0; i < 32; ++i) text += "0123456789abcdef"[number(random, 0, 15)];
  return text;
}

}  // namespace

std::string random_text(Random& random, bool any_bytes) {
  static const std::array<std::string, 14> pieces{
      "",    kHostile, "\"quoted\"", "x y", "\n",   "äöü",  "日本語",
      "128", "-7",     "007",        "1e3", "%s?1", "NULL", std::string("\0z", 2)};
  std::string text;
  for (std::int64_t n = number(random, 0, 3); n > 0; --n) {
    text += pieces[static_cast<std::size_t>(number(random, 0, pieces.size() - 1))];
    if (any_bytes && chance(random, 10)) text += "\xff\xc3";  // never UTF-8
  }
  return text;
}

std::string random_time(Random& random) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "20%02d-%02d-%02dT%02d:%02d:%02dZ",
                static_cast<int>(number(random, 10, 40)), static_cast<int>(number(random, 1, 12)),
                static_cast<int>(number(random, 1, 28)), static_cast<int>(number(random, 0, 23)),
                static_cast<int>(number(random, 0, 59)), static_cast<int>(number(random, 0, 59)));
  return text.data();
}

DeviceRecord random_device(Random& random) {
  return {"dev" + std::to_string(number(random, 0, 2)) + random_text(random), hex(random),
          random_text(random)};
}

RunRecord random_run(Random& random) {
  RunRecord run;
  run.versions = {random_text(random), random_text(random), random_text(random),
                  random_text(random), random_text(random)};
  run.command_line = random_text(random);
  run.seed = random();
  run.host = random_text(random);
  run.started_utc = random_time(random);
  run.uid = chance(random, 50) ? hex(random) : "";
  return run;
}

TrialRecord random_trial(Random& random, const DeviceRecord& device) {
  TrialRecord t;
  t.workload_key = "op" + std::to_string(number(random, 0, 3)) + "/a:1,b:" + random_text(random);
  t.device_name = device.name;
  t.device_hash = device.hash;
  t.model_version = random_text(random);
  t.objective = random_text(random);
  t.constraints = random_text(random);
  t.variant = random_text(random);
  t.schedule = random_text(random);
  for (std::int64_t n = number(random, 0, 4); n > 0; --n)
    t.knobs[random_text(random)] = random_text(random);
  t.status = static_cast<TrialStatus>(number(random, 0, 5));
  if (chance(random, 60)) t.bound_us = figure(random);
  if (chance(random, 60)) t.simulated_us = figure(random);
  if (chance(random, 60)) t.bound_cycles = count(random);
  if (chance(random, 60)) t.simulated_cycles = count(random);
  for (std::int64_t n = number(random, 0, 3); n > 0; --n)
    t.traffic_bytes[random_text(random)] = count(random);
  if (chance(random, 40)) {
    t.measured = Measurement{figure(random), figure(random),      count(random),
                             count(random),  random_text(random), random_text(random)};
  }
  t.message = random_text(random);
  return t;
}

ProofRecord random_proof(Random& random) {
  ProofRecord p;
  p.strategy = random_text(random);
  p.grid = random_text(random);
  p.points = count(random);
  p.feasible = count(random);
  p.cut = count(random);
  p.simulated = count(random);
  p.measured = count(random);
  for (std::int64_t n = number(random, 0, 3); n > 0; --n)
    p.by_limit[random_text(random)] = count(random);
  if (chance(random, 50)) p.best_remaining_bound_us = figure(random);
  p.proved_optimal = chance(random, 50);
  if (chance(random, 50)) p.gap = figure(random);
  p.tie_rule = random_text(random);
  p.seconds = figure(random);
  return p;
}

VerdictRecord random_verdict(Random& random) {
  VerdictRecord v;
  v.verdict = random_text(random);
  v.worst_ratio = chance(random, 10) ? std::numeric_limits<double>::infinity() : figure(random);
  v.failures = count(random);
  v.outputs = count(random);
  v.gate = random_text(random);
  v.inputs = random_text(random);
  v.output_digest = random_text(random);
  v.target = random_text(random);
  v.message = random_text(random);
  return v;
}

KernelRecord random_kernel(Random& random) {
  KernelRecord k{
      random_text(random), random_text(random), random_text(random), random_text(random), {}};
  for (std::int64_t n = number(random, 0, 3); n > 0; --n) {
    k.artefact_hashes["out/" + random_text(random)] = hex(random);
  }
  return k;
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
