// SPDX-License-Identifier: Apache-2.0
// Which rows the filters of list_trials() and list_best() let through.
#include <gtest/gtest.h>

#include "db/store.h"
#include "tests/db/support.h"

namespace tilewright::test {
namespace {

TEST(Filters, of_trials) {
  Filled f = open_filled(fresh_folder() + "/a.db");
  std::vector<TrialRecord> trials = sample_trials(10);
  trials[3].variant = "direct";
  trials[4].workload_key = "matmul/m:8";
  trials[5].status = TrialStatus::infeasible;
  trials[6].knobs["load"] = "mdl";
  need(f.store.add_trials(f.run, trials));
  RunRecord later = sample_run();
  later.started_utc = "2026-02-01T00:00:00Z";
  const auto second = need(f.store.begin_run(later));
  need(f.store.add_trials(second, std::vector{sample_trial(20)}));

  const auto count = [&](const TrialFilter& filter) {
    return need(f.store.list_trials(filter)).size();
  };
  const auto where = [&](const char* knob, Comparison comparison, const char* value) {
    return count({.where = {{knob, comparison, value}}});
  };
  EXPECT_EQ(count({}), 11u);
  EXPECT_EQ(count({.limit = 4}), 4u);
  EXPECT_EQ(count({.variant = "direct"}), 1u);
  EXPECT_EQ(count({.workload_key = "matmul/m:8"}), 1u);
  EXPECT_EQ(count({.device_name = "host"}), 0u);
  EXPECT_EQ(count({.status = TrialStatus::infeasible}), 1u);
  EXPECT_EQ(count({.failures_only = true}), 1u);
  EXPECT_EQ(count({.run_id = second}), 1u);
  EXPECT_EQ(count({.since_utc = "2026-02"}), 1u);
  EXPECT_EQ(where("base_n", Comparison::equal, "64"), 1u);
  EXPECT_EQ(where("base_n", Comparison::not_equal, "64"), 10u);
  EXPECT_EQ(where("base_n", Comparison::less, "66"), 2u);
  EXPECT_EQ(where("base_n", Comparison::less_equal, "66"), 3u);
  EXPECT_EQ(where("base_n", Comparison::greater, "73"), 1u);
  EXPECT_EQ(where("base_n", Comparison::greater_equal, "73"), 2u);
  EXPECT_EQ(where("load", Comparison::equal, "mdl"), 1u);
  EXPECT_EQ(where("load", Comparison::greater, "0"), 0u) << "words have no order";
  EXPECT_EQ(where("base_n' OR 1 --", Comparison::equal, "64"), 0u);
  const auto refused = f.store.list_trials({.where = {{"load", Comparison::less, "norm"}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
}

TEST(Filters, of_bests) {
  Filled f = open_filled(fresh_folder() + "/a.db");
  TrialRecord other = sample_trial(1);
  other.workload_key = "matmul/m:8";
  other.variant = "direct";
  const auto ids = need(f.store.add_trials(f.run, std::vector{sample_trial(0), other}));
  need(f.store.put_best(question_of(sample_trial()), ids[0], sample_proof(), kTime));
  need(f.store.put_best(question_of(other), ids[1], sample_proof(), "2026-02-01T00:00:00Z"));
  const auto count = [&](const BestFilter& filter) {
    return need(f.store.list_best({}, filter)).size();
  };
  EXPECT_EQ(count({}), 2u);
  EXPECT_EQ(count({.limit = 1}), 1u);
  EXPECT_EQ(count({.workload_key = "matmul/m:8"}), 1u);
  EXPECT_EQ(count({.device_name = "ascend_910b4"}), 2u);
  EXPECT_EQ(count({.device_name = "host"}), 0u);
  EXPECT_EQ(count({.variant = "direct"}), 1u);
  EXPECT_EQ(count({.since_utc = "2026-02-01"}), 1u);
}

}  // namespace
}  // namespace tilewright::test
