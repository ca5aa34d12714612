// SPDX-License-Identifier: Apache-2.0
// Merging over random databases: idempotent, indifferent to the order of files without common runs,
// and it refuses nothing that the store wrote. Export and import give the same bytes.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <sstream>

#include "db/maintenance.h"
#include "db/store.h"
#include "tests/db/support.h"

namespace tilewright::test {
namespace {

// Of full size from the first case on: rapidcheck's own numbers start small and repeat.
Random any_random() {
  return Random(
      *rc::gen::noShrink(rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>())));
}

// A name for a new file.
std::string fresh(const std::string& name) {
  std::string path = memory_folder() + "/" + name;
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
  return path;
}

// Few different questions, so that databases contradict each other.
Question random_question(Random& random, TrialRecord& trial) {
  if (random() % 3 != 0) {
    trial.workload_key = "op/a:" + std::to_string(random() % 2);
    trial.model_version = "1";
    trial.objective = "time";
    trial.constraints.clear();
  }
  trial.status = TrialStatus::ok;
  return question_of(trial);
}

std::string random_database(const std::string& name, Random& random) {
  std::string path = fresh(name);
  Store store = need(Store::open(path, OpenMode::read_write_create));
  std::vector<DeviceRecord> devices{sample_device(), random_device(random)};
  for (const DeviceRecord& device : devices) need(store.put_device(device));
  for (std::uint64_t runs = random() % 3 + 1; runs > 0; --runs) {
    RunRecord record = random_run(random);
    record.uid.clear();
    const auto run = need(store.begin_run(record));
    for (std::uint64_t trials = random() % 5; trials > 0; --trials) {
      TrialRecord trial = random_trial(random, devices[random() % 2]);
      const Question question = random_question(random, trial);
      const auto id = need(store.add_trials(run, std::vector{trial})).at(0);
      if (random() % 2 == 0)
        need(store.put_best(question, id, random_proof(random), random_time(random)));
      if (random() % 3 == 0) need(store.add_kernel(id, random_kernel(random)));
      if (random() % 3 == 0)
        need(store.add_verdict(id, random_verdict(random), random_time(random)));
    }
    if (random() % 2 == 0) need(store.end_run(run, RunState::finished, random_time(random)));
  }
  return path;
}

std::string export_text(const std::string& path) {
  std::ostringstream out;
  need(export_json_lines(path, out));
  return out.str();
}

std::string merged(const std::vector<std::string>& sources) {
  const std::string into = fresh("m.db");
  for (const std::string& source : sources) need(merge_database(into, source));
  // Random schedules are no schedules, so only damage counts here.
  for (const std::string& finding : need(check_database(into)).findings) {
    if (finding.starts_with("structure") || finding.starts_with("reference") ||
        finding.starts_with("best")) {
      fail_test(finding);
    }
  }
  return export_text(into);
}

RC_GTEST_PROP(Merge, order_and_repetition_do_not_matter, ()) {
  Random random = any_random();
  const std::string a = random_database("a.db", random);
  const std::string b = random_database("b.db", random);
  RC_ASSERT(merged({a}) == export_text(a));
  const std::string ab = merged({a, b});
  RC_ASSERT(merged({b, a}) == ab);
  RC_ASSERT(merged({a, b, a, b, b}) == ab);
}

RC_GTEST_PROP(Merge, export_and_import_keep_everything, ()) {
  Random random = any_random();
  const std::string lines = export_text(random_database("a.db", random));
  std::istringstream in(lines);
  const std::string imported = fresh("i.db");
  need(import_json_lines(imported, in, "lines"));
  RC_ASSERT(export_text(imported) == lines);
}

}  // namespace
}  // namespace tilewright::test
