// SPDX-License-Identifier: Apache-2.0
// Children that sleep, eat memory, do not exist, talk too much, ignore signals.
#include "tuner/process.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <thread>

namespace tilewright {
namespace {

ProcessCommand shell(const std::string& script) {
  ProcessCommand command;
  command.words = {"sh", "-c", script};
  command.limits.seconds = 20;
  return command;
}

// Not there, or dead and only not yet collected by whoever inherited it.
bool process_is_gone(const std::string& pid) {
  for (int i = 0; i < 100; ++i) {
    std::ifstream stat("/proc/" + pid.substr(0, pid.find('\n')) + "/stat");
    std::string number, name, state;
    if (!(stat >> number >> name >> state) || state == "Z") return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(Process, ReturnsExitCodeAndBothStreams) {
  const ProcessResult result = run_process(shell("echo out; echo err >&2; exit 7"));
  EXPECT_EQ(result.end, ProcessEnd::exited);
  EXPECT_EQ(result.code, 7);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.how(), "exit code 7");
}

TEST(Process, GetsItsInputWhole) {
  ProcessCommand command;
  command.words = {"cat"};
  command.input = std::string(3 << 20, 'x') + "end";
  const ProcessResult result = run_process(command);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.out, command.input);
}

TEST(Process, RunsInItsFolder) {
  ProcessCommand command = shell("pwd");
  command.folder = "/";
  EXPECT_EQ(run_process(command).out, "/\n");
}

TEST(Process, DoesNotMindAChildThatReadsNothing) {
  ProcessCommand command;
  command.words = {"true"};
  command.input = std::string(1 << 20, 'x');
  EXPECT_TRUE(run_process(command).ok());
}

TEST(Process, SaysWhichSignalEndedIt) {
  const ProcessResult result = run_process(shell("kill -9 $$"));
  EXPECT_EQ(result.end, ProcessEnd::signalled);
  EXPECT_EQ(result.code, SIGKILL);
  EXPECT_NE(result.how().find("signal 9"), std::string::npos);
}

TEST(Process, MissingProgramIsNotStarted) {
  ProcessCommand command;
  command.words = {"no-such-program-of-tilewright"};
  const ProcessResult result = run_process(command);
  EXPECT_EQ(result.end, ProcessEnd::not_started);
  EXPECT_EQ(result.code, ENOENT);
  EXPECT_NE(result.how().find("could not be started"), std::string::npos);
}

// With a memory limit a shell stands between: the answer is the same.
TEST(Process, MissingProgramIsNotStartedWithAMemoryLimitEither) {
  ProcessCommand command;
  command.words = {"no-such-program-of-tilewright"};
  command.limits.memory_bytes = 1LL << 30;
  const ProcessResult result = run_process(command);
  EXPECT_EQ(result.end, ProcessEnd::not_started);
  EXPECT_EQ(result.code, ENOENT);
  command.words = {"sh", "-c", "exit 127"};
  EXPECT_EQ(run_process(command).how(), "exit code 127");
}

TEST(Process, MemoryLimitPassesArgumentsUnchanged) {
  ProcessCommand command;
  command.words = {"printf", "%s|", "a b", "$HOME", "'q'", "", "*"};
  command.limits.memory_bytes = 1LL << 30;
  EXPECT_EQ(run_process(command).out, "a b|$HOME|'q'||*|");
}

TEST(Process, NoWordsAreNotStarted) { EXPECT_EQ(run_process({}).end, ProcessEnd::not_started); }

TEST(Process, SleepingChildIsStoppedInTime) {
  ProcessCommand command = shell("sleep 30");
  command.limits.seconds = 0.2;
  const ProcessResult result = run_process(command);
  EXPECT_EQ(result.end, ProcessEnd::timed_out);
  EXPECT_LT(result.seconds, 2);
}

TEST(Process, TimeLimitEndsTheWholeGroupEvenIfItIgnoresSigterm) {
  ProcessCommand command =
      shell("trap '' TERM; sh -c 'trap \"\" TERM; echo $$; sleep 30; sleep 30' & wait; sleep 30");
  command.limits.seconds = 0.5;
  const ProcessResult result = run_process(command);
  EXPECT_EQ(result.end, ProcessEnd::timed_out);
  EXPECT_LT(result.seconds, 3);
  ASSERT_FALSE(result.out.empty());
  EXPECT_TRUE(process_is_gone(result.out));
}

TEST(Process, GrandchildThatKeepsTheStreamsOpenDoesNotDelayTheEnd) {
  const ProcessResult result = run_process(shell("sleep 30 & echo $!"));
  EXPECT_TRUE(result.ok());
  EXPECT_LT(result.seconds, 5);
  EXPECT_TRUE(process_is_gone(result.out));
}

TEST(Process, StopEndsItAsInterrupted) {
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = run_process(shell("sleep 30"), [&] {
    return std::chrono::steady_clock::now() - start > std::chrono::milliseconds(100);
  });
  EXPECT_EQ(result.end, ProcessEnd::interrupted);
  EXPECT_LT(result.seconds, 1);
}

TEST(Process, MemoryHogFails) {
  if (!memory_can_be_limited())
    GTEST_SKIP() << "[SKIP] no address space limit under the sanitizers";
  // tail keeps an endless line in memory.
  ProcessCommand hog = shell("head -c 1000000000 /dev/zero | tail -n 1 | wc -c");
  hog.limits.memory_bytes = 128LL << 20;
  const ProcessResult result = run_process(hog);
  EXPECT_NE(result.out, "1000000000\n");
  EXPECT_NE(result.err.find("memory"), std::string::npos) << result.err;
}

TEST(Process, BigOutputIsCutAndTheChildStillEnds) {
  ProcessCommand command = shell("head -c 50000000 /dev/zero; echo done >&2");
  command.limits.output_bytes = 1000;
  const ProcessResult result = run_process(command);
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.out.size(), 1000u);
  EXPECT_TRUE(result.out_cut);
  EXPECT_FALSE(result.err_cut);
  EXPECT_EQ(result.err, "done\n");
}

TEST(Process, ManyAtOnceDoNotHoldEachOthersStreamsOpen) {
  std::vector<std::thread> threads;
  std::vector<ProcessResult> results(16);
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] { results[i] = run_process(shell("echo " + std::to_string(i))); });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < results.size(); ++i)
    EXPECT_EQ(results[i].out, std::to_string(i) + "\n");
}

}  // namespace
}  // namespace tilewright
