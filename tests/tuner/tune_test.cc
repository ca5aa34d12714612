// SPDX-License-Identifier: Apache-2.0
// The tuning loop on the real model and a real database, without kernels: stored, served, missed,
// limited, interrupted.
#include "tuner/tune.h"

#include <gtest/gtest.h>

#include <atomic>

#include "device_model/model.h"
#include "schedules/space.h"
#include "tuner/compare_unscheduled.h"
#include "tuner/files.h"

namespace tilewright {
namespace {

class Tune : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryFolder::make();
    ASSERT_TRUE(made);
    folder_ = std::make_unique<TemporaryFolder>(std::move(*made));
    installation_ = find_installation("");
    const auto workload =
        parse_workload_key("conv2d_pool/n:2,cin:64,h:18,w:18,cout:64,kh:3,kw:3,pool:2,dtype:fp16");
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
  Result<TuneResult> run(const TuneRequest& request) {
    Store store = open();
    Progress silent(nullptr, false);
    return tune(request, {store, installation_, silent, folder_->path(), stop_});
  }

  std::unique_ptr<TemporaryFolder> folder_;
  Installation installation_;
  TuneRequest request_;
  std::function<bool()> stop_;
};

TEST_F(Tune, FirstSearchesThenIsServed) {
  const auto first = run(request_);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_FALSE(first->served_from_db);
  EXPECT_GT(first->evaluations, 0);
  EXPECT_TRUE(first->best.proof.proved_optimal);
  EXPECT_EQ(first->best.proof.gap, 0.0);
  const auto second = run(request_);
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->served_from_db);
  EXPECT_EQ(second->evaluations, 0);
  EXPECT_EQ(second->compilations, 0);
  EXPECT_EQ(second->best.trial.schedule, first->best.trial.schedule);
  EXPECT_EQ(second->best.trial.simulated_cycles, first->best.trial.simulated_cycles);
  EXPECT_EQ(second->best.proof, first->best.proof);
}

TEST_F(Tune, EveryEvaluationIsAStoredTrialOfAFinishedRun) {
  const auto result = run(request_);
  ASSERT_TRUE(result);
  Store store = open();
  TrialFilter filter;
  filter.limit = 1'000'000;
  const auto trials = store.list_trials(filter);
  ASSERT_TRUE(trials);
  EXPECT_EQ(std::ssize(*trials), result->evaluations);
  for (const TrialRecord& trial : *trials) {
    EXPECT_EQ(trial.status, TrialStatus::ok) << trial.message;
    EXPECT_LE(*trial.bound_us, *trial.simulated_us);
    EXPECT_GE(*trial.simulated_cycles, *result->best.trial.simulated_cycles);
  }
  const auto runs = store.list_runs(10);
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 1u);
  EXPECT_EQ(runs->front().state, RunState::finished);
}

// The search against all simulations of a small grid.
TEST_F(Tune, EqualsBruteForceOverTheRealGrid) {
  const auto workload =
      parse_workload_key("conv2d_pool/n:1,cin:16,h:6,w:18,cout:16,kh:3,kw:3,pool:2,dtype:fp16");
  ASSERT_TRUE(workload);
  request_.workload = *workload;
  const auto result = run(request_);
  ASSERT_TRUE(result) << result.error().message;
  CostModel model(*workload, request_.device);
  std::int64_t best = 0, feasible = 0;
  for_each_point(*workload, Variant::im2col, limits_of(request_.device), Grid::coarse,
                 [&](const Schedule& schedule) {
                   const std::int64_t cycles = model.simulated_cycles(schedule);
                   if (feasible++ == 0 || cycles < best) best = cycles;
                 });
  EXPECT_GT(feasible, 0);
  EXPECT_EQ(result->best.proof.feasible, feasible);
  EXPECT_LE(*result->best.trial.simulated_cycles, best);  // the hand schedule may lie off the grid
}

TEST_F(Tune, AnotherDeviceNumberIsAMiss) {
  ASSERT_TRUE(run(request_));
  request_.device.numbers.find("clock_mhz")->second.value += 1;
  set_hash(request_.device);
  const auto again = run(request_);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(again->served_from_db);
}

TEST_F(Tune, AnotherVariantFilterIsAnotherQuestion) {
  ASSERT_TRUE(run(request_));
  request_.strategy = "hand_rules";
  const auto hand = run(request_);
  ASSERT_TRUE(hand);
  EXPECT_FALSE(hand->served_from_db);
  EXPECT_FALSE(hand->best.proof.proved_optimal);
  EXPECT_EQ(hand->evaluations, 1);
}

TEST_F(Tune, NeverWorseThanTheHandSchedule) {
  const auto best = run(request_);
  request_.strategy = "hand_rules";
  const auto hand = run(request_);
  ASSERT_TRUE(best && hand);
  EXPECT_LE(*best->best.trial.simulated_cycles, *hand->best.trial.simulated_cycles);
}

TEST_F(Tune, BudgetReportsTheGapAndIsNotServedAsTheAnswer) {
  request_.budget = 1;
  const auto limited = run(request_);
  ASSERT_TRUE(limited) << limited.error().message;
  EXPECT_EQ(limited->evaluations, 1);
  EXPECT_FALSE(limited->best.proof.proved_optimal);
  ASSERT_TRUE(limited->best.proof.gap);
  request_.budget.reset();
  const auto whole = run(request_);
  ASSERT_TRUE(whole);
  EXPECT_FALSE(whole->served_from_db);
  EXPECT_TRUE(whole->best.proof.proved_optimal);
  const double optimum = *whole->best.trial.simulated_us;
  EXPECT_LE(*limited->best.trial.simulated_us * (1 - *limited->best.proof.gap), optimum + 1e-9);
}

TEST_F(Tune, InterruptEndsSoonWithWhatWasFoundStored) {
  request_.workload = *parse_workload_key(
      "conv2d_pool/n:1,cin:256,h:224,w:224,cout:256,kh:3,kw:3,pool:2,dtype:fp16");
  std::atomic<int> asked{0};
  stop_ = [&] { return ++asked > 200; };
  const auto result = run(request_);
  Store store = open();
  const auto runs = store.list_runs(10);
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 1u);
  if (result) {
    EXPECT_TRUE(result->interrupted);
    EXPECT_FALSE(result->best.proof.proved_optimal);
    EXPECT_EQ(runs->front().state, RunState::interrupted);
  } else {
    EXPECT_NE(result.error().message.find("interrupted"), std::string::npos);
  }
}

TEST_F(Tune, AgainSearchesAlthoughStored) {
  ASSERT_TRUE(run(request_));
  request_.again = true;
  const auto again = run(request_);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->served_from_db);
  EXPECT_GT(again->evaluations, 0);
}

TEST_F(Tune, WrongNamesAreUsageErrorsWithTheNearest) {
  request_.strategy = "best_frst";
  auto result = run(request_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::usage);
  EXPECT_NE(result.error().message.find("nearest: best_first"), std::string::npos);
  request_.strategy = "measured_grid";
  EXPECT_EQ(run(request_).error().kind, ErrorKind::usage);
  request_.strategy.clear();
  request_.variant = "im2cl";
  result = run(request_);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("nearest: im2col"), std::string::npos);
}

TEST_F(Tune, NothingFitsSaysWhichLimits) {
  request_.device.numbers.find("memory.ub.capacity_bytes")->second.value = 512;
  set_hash(request_.device);
  const auto result = run(request_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::failed);
  EXPECT_NE(result.error().message.find("UB"), std::string::npos) << result.error().message;
}

TEST(Cropped, IsOneStripOfTheLayer) {
  const auto layer =
      parse_workload_key("conv2d_pool/n:4,cin:64,h:100,w:50,cout:64,kh:3,kw:3,pool:2,dtype:fp32");
  const auto schedule =
      parse_schedule("direct/base_m:64,base_n:6,base_k:64,rows:4", *layer, DeviceKind::host);
  ASSERT_TRUE(schedule) << schedule.error().message;
  const auto piece = std::get<Conv2dPool>(cropped(*layer, *schedule));
  EXPECT_EQ(piece.n, 1);
  EXPECT_EQ(piece.hout(), 4);
  EXPECT_EQ(piece.w, 50);
}

}  // namespace
}  // namespace tilewright
