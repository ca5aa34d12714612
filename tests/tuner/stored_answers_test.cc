// SPDX-License-Identifier: Apache-2.0
// What is stored may not get worse: a search that was cut short does not replace a better answer,
// and of several stored answers the best one is used.
#include <gtest/gtest.h>

#include <algorithm>

#include "tuner/files.h"
#include "tuner/tune.h"

namespace tilewright {
namespace {

class StoredAnswers : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryFolder::make();
    ASSERT_TRUE(made);
    folder_ = std::make_unique<TemporaryFolder>(std::move(*made));
    installation_ = find_installation("");
    const auto workload =
        parse_workload_key("conv2d_pool/n:1,cin:32,h:12,w:12,cout:32,kh:3,kw:3,pool:2,dtype:fp16");
    ASSERT_TRUE(workload) << workload.error().message;
    const auto device = find_device("ascend_910b4", installation_);
    ASSERT_TRUE(device) << device.error().message;
    request_.workload = *workload;
    request_.device = *device;
    request_.variant = "im2col";
    request_.command_line = "test";
  }
  Store open() {
    auto store = Store::open(folder_->path() + "/test.db", OpenMode::read_write_create);
    EXPECT_TRUE(store) << store.error().message;
    return std::move(*store);
  }
  TuneResult run(const TuneRequest& request) {
    Store store = open();
    Progress silent(nullptr, false);
    auto result = tune(request, {store, installation_, silent, folder_->path(), {}});
    EXPECT_TRUE(result) << result.error().message;
    return result ? std::move(*result) : TuneResult();
  }
  static void expect_same_answer(const TuneResult& a, const TuneResult& b) {
    EXPECT_EQ(a.best.trial.id, b.best.trial.id);
    EXPECT_EQ(a.best.trial.schedule, b.best.trial.schedule);
    EXPECT_EQ(a.best.trial.simulated_cycles, b.best.trial.simulated_cycles);
    EXPECT_EQ(a.best.proof, b.best.proof);
    EXPECT_EQ(a.best.stored_utc, b.best.stored_utc);
  }
  TuneRequest cut_short(std::int64_t budget) const {
    TuneRequest request = request_;
    request.again = true;
    request.budget = budget;
    return request;
  }

  std::unique_ptr<TemporaryFolder> folder_;
  Installation installation_;
  TuneRequest request_;
};

TEST_F(StoredAnswers, ASearchThatWasCutShortDoesNotReplaceAProvedOne) {
  const TuneResult whole = run(request_);
  ASSERT_TRUE(whole.best.proof.proved_optimal);
  const TuneResult cut = run(cut_short(1));
  EXPECT_EQ(cut.evaluations, 1);
  expect_same_answer(cut, whole);  // the answer to the question is still this one
  const TuneResult served = run(request_);
  EXPECT_TRUE(served.served_from_db);
  expect_same_answer(served, whole);
}

TEST_F(StoredAnswers, ASearchThatWasCutShortReplacesAWorseOneOnly) {
  const TuneResult one = run(cut_short(1));
  ASSERT_FALSE(is_complete(one.best.proof));
  const TuneResult many = run(cut_short(20));
  ASSERT_LT(many.best.trial.simulated_us, one.best.trial.simulated_us);
  expect_same_answer(run(cut_short(1)), many);
  EXPECT_TRUE(run(request_).best.proof.proved_optimal);  // a whole search always replaces
}

TEST_F(StoredAnswers, ABaselineDoesNotBecomeTheScheduleThatIsGenerated) {
  const TuneResult whole = run(request_);
  TuneRequest baseline = request_;
  baseline.strategy = "hand_rules";
  const TuneResult hand = run(baseline);  // the newer one
  ASSERT_GT(hand.best.trial.simulated_us, whole.best.trial.simulated_us);
  Store store = open();
  const Store::Current current{request_.device.name, request_.device.hash, own_versions().model};
  auto rows = store.list_best({&current, 1}, BestFilter{});
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 2U);
  const auto ranked = fresh_best_first(*rows);
  ASSERT_EQ(ranked.size(), 2U);
  EXPECT_EQ(ranked.front().trial.schedule, whole.best.trial.schedule);
  rows->front().stale_because = rows->back().stale_because = "changed";
  EXPECT_TRUE(fresh_best_first(*rows).empty());
}

}  // namespace
}  // namespace tilewright
