// SPDX-License-Identifier: Apache-2.0
#include "tuner/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

extern char** environ;

namespace tilewright {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A file descriptor that closes itself.
class Handle {
 public:
  Handle() = default;
  explicit Handle(int fd) : fd_(fd) {}
  Handle(Handle&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Handle& operator=(Handle&& other) noexcept {
    close();
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  ~Handle() { close(); }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

struct Pipe {
  Handle read, write;
  bool open() {
    std::array<int, 2> fds{};
    if (::pipe2(fds.data(), O_CLOEXEC) != 0) return false;
    read = Handle(fds[0]);
    write = Handle(fds[1]);
    return true;
  }
};

// The input as an anonymous file: unlike a pipe it can neither fill up nor break.
Handle input_file(const std::string& text) {
  Handle file(::memfd_create("input", MFD_CLOEXEC));
  std::size_t done = 0;
  while (file.get() >= 0 && done < text.size()) {
    const ssize_t n = ::write(file.get(), text.data() + done, text.size() - done);
    if (n <= 0 && errno != EINTR) return {};
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  if (file.get() >= 0) ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

// posix_spawn can set no limits, so a shell does it and then becomes the program.
std::vector<std::string> with_memory_limit(const ProcessCommand& command) {
  std::vector<std::string> words = command.words;
  if (command.limits.memory_bytes > 0 && memory_can_be_limited()) {
    const std::string kib = std::to_string(command.limits.memory_bytes / 1024);
    words.insert(words.begin(), {"sh", "-c", R"(ulimit -v "$0" && exec "$@")", kib});
  }
  return words;
}

// What the shell says when it can not become the program: as if it had not been started.
bool shell_could_not_start(const ProcessCommand& command, const ProcessResult& result) {
  return command.limits.memory_bytes > 0 && (result.code == 127 || result.code == 126) &&
         result.err.find("exec: " + command.words[0] + ":") != std::string::npos;
}

int spawn(const ProcessCommand& command, int in, int out, int err, pid_t& pid) {
  const std::vector<std::string> words = with_memory_limit(command);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  if (!command.folder.empty())
    posix_spawn_file_actions_addchdir_np(&actions, command.folder.c_str());

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGQUIT}) sigaddset(&defaults, number);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  const int error =
      posix_spawnp(&pid, pointers[0], &actions, &attributes, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error;
}

// Reads what is there; closes the handle at the end of the stream.
void drain(Handle& from, std::string& text, bool& cut, std::int64_t keep) {
  std::array<char, 65536> block;
  const ssize_t n = ::read(from.get(), block.data(), block.size());
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) {
    from.close();
    return;
  }
  const auto room = static_cast<std::size_t>(keep) - text.size();
  const auto kept = std::min(room, static_cast<std::size_t>(n));
  text.append(block.data(), kept);
  if (kept < static_cast<std::size_t>(n)) cut = true;
}

// Waits up to 20 ms for output of either stream.
void read_some(Pipe& out, Pipe& err, ProcessResult& result, std::int64_t keep) {
  if (out.read.get() < 0 && err.read.get() < 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return;
  }
  std::array<pollfd, 2> polls = {pollfd{out.read.get(), POLLIN, 0},
                                 pollfd{err.read.get(), POLLIN, 0}};
  if (::poll(polls.data(), polls.size(), 20) <= 0) return;
  if (polls[0].revents) drain(out.read, result.out, result.out_cut, keep);
  if (polls[1].revents) drain(err.read, result.err, result.err_cut, keep);
}

void end_group(pid_t pid, int& status) {
  ::kill(-pid, SIGTERM);
  bool gone = false;
  for (int i = 0; i < 20 && !gone; ++i) {
    gone = ::waitpid(pid, &status, WNOHANG) == pid;
    if (!gone) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(-pid, SIGKILL);  // also what the leader may have left behind
  if (!gone) ::waitpid(pid, &status, 0);
}

}  // namespace

bool memory_can_be_limited() {
#if defined(__SANITIZE_ADDRESS__)
  return false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  return false;
#else
  return true;
#endif
#else
  return true;
#endif
}

std::string ProcessResult::how() const {
  switch (end) {
    case ProcessEnd::exited:
      return fmt::format("exit code {}", code);
    case ProcessEnd::signalled:
      return fmt::format("killed by signal {} ({})", code, ::strsignal(code));
    case ProcessEnd::timed_out:
      return fmt::format("stopped after {:.1f} s", seconds);
    case ProcessEnd::interrupted:
      return "interrupted";
    case ProcessEnd::not_started:
      return fmt::format("could not be started: {}", std::strerror(code));
  }
  return "";
}

ProcessResult run_process(const ProcessCommand& command, const std::function<bool()>& stop) {
  const auto start = Clock::now();
  ProcessResult result;
  Pipe out, err;
  const Handle in = input_file(command.input);
  if (in.get() < 0 || !out.open() || !err.open() || command.words.empty()) {
    result.code = command.words.empty() ? EINVAL : errno;
    return result;
  }
  pid_t pid = 0;
  result.code = spawn(command, in.get(), out.write.get(), err.write.get(), pid);
  if (result.code != 0) return result;
  out.write.close();
  err.write.close();

  int status = 0;
  bool ended = false;
  double ended_at = 0;
  for (;;) {
    read_some(out, err, result, command.limits.output_bytes);
    const double now = seconds_since(start);
    if (!ended && ::waitpid(pid, &status, WNOHANG) == pid) {
      ended = true;
      ended_at = now;
      result.end = WIFSIGNALED(status) ? ProcessEnd::signalled : ProcessEnd::exited;
    }
    // A grandchild may hold the streams open after the child's end: it gets 200 ms.
    const bool closed = out.read.get() < 0 && err.read.get() < 0;
    if (ended && (closed || now > ended_at + 0.2)) break;
    if (ended) continue;
    if (stop && stop()) result.end = ProcessEnd::interrupted;
    if (now > command.limits.seconds) result.end = ProcessEnd::timed_out;
    if (result.end != ProcessEnd::not_started) break;
  }
  if (!ended) end_group(pid, status);
  if (result.end == ProcessEnd::exited) result.code = WEXITSTATUS(status);
  if (result.end == ProcessEnd::exited && shell_could_not_start(command, result)) {
    result.end = ProcessEnd::not_started;
    result.code = result.code == 127 ? ENOENT : EACCES;
  }
  if (result.end == ProcessEnd::signalled) result.code = WTERMSIG(status);
  if (ended) ::kill(-pid, SIGKILL);  // stragglers of the group, if any
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace tilewright
