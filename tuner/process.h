// SPDX-License-Identifier: Apache-2.0
// Child processes with a time limit, a memory limit and captured output. How a child ended is a
// value.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tilewright {

struct ProcessLimits {
  double seconds = 60;
  std::int64_t memory_bytes = 0;  // address space of each process of the group; 0 = no limit
  std::int64_t output_bytes =
      16LL << 20;  // kept of stdout and of stderr, each; the rest is read and dropped
};

struct ProcessCommand {
  std::vector<std::string>
      words;           // program (a path, or a name looked up in PATH) and its arguments
  std::string input;   // its stdin
  std::string folder;  // working folder; empty = ours
  ProcessLimits limits;
};

enum class ProcessEnd {
  exited,       // code = exit code
  signalled,    // code = signal
  timed_out,    // stopped by us after limits.seconds
  interrupted,  // stopped by us because `stop` said so
  not_started,  // code = errno
};

struct ProcessResult {
  ProcessEnd end = ProcessEnd::not_started;
  int code = 0;
  std::string out, err;
  bool out_cut = false, err_cut = false;  // more came than was kept
  double seconds = 0;

  bool ok() const { return end == ProcessEnd::exited && code == 0; }
  // One line: "exit code 3", "killed by signal 9 (Killed)", "stopped after 60 s" ...
  std::string how() const;
};

// Runs to the end. The child is the leader of its own process group; a limit or `stop` (asked every
// 20 ms) ends the whole group: SIGTERM, and SIGKILL 200 ms later.
ProcessResult run_process(const ProcessCommand& command, const std::function<bool()>& stop = {});

// Sanitizers reserve terabytes of address space: under them limits.memory_bytes is not applied.
bool memory_can_be_limited();

}  // namespace tilewright
