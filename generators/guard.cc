// SPDX-License-Identifier: Apache-2.0
#include "generators/guard.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

namespace tilewright {
namespace {

constexpr std::size_t kGuard = std::size_t{1} << 20;  // address space only

std::size_t page() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}
std::size_t in_pages(std::size_t bytes) { return (bytes + page() - 1) / page() * page(); }

bool all_poison(const std::byte* from, const std::byte* to) {
  return std::all_of(from, to, [](std::byte byte) { return byte == kPoison; });
}

std::vector<GuardWatch>& watch_list() {
  static std::vector<GuardWatch> list;
  return list;
}

// Only calls that are allowed in a signal handler.
void on_fault(int signal, siginfo_t* info, void*) {
  const auto* const address = static_cast<const std::byte*>(info->si_addr);
  for (const GuardWatch& watch : watch_list()) {
    const auto mapping = watch.buffer->mapping();
    if (address < mapping.data() || address >= mapping.data() + mapping.size()) continue;
    const ssize_t written = ::write(STDOUT_FILENO, watch.report.data(), watch.report.size());
    ::_exit(written == static_cast<ssize_t>(watch.report.size()) ? 0 : 1);
  }
  std::signal(signal, SIG_DFL);  // the faulting instruction runs again, and then it is over
}

}  // namespace

Result<GuardedBuffer> GuardedBuffer::make(std::string name, std::size_t bytes) {
  GuardedBuffer buffer;
  const std::size_t inner = in_pages(bytes) + 2 * page();
  void* const map =
      ::mmap(nullptr, inner + 2 * kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) return failure(fmt::format("{}: no memory for {} bytes", name, bytes));
  buffer.name_ = std::move(name);
  buffer.map_ = static_cast<std::byte*>(map);
  buffer.map_bytes_ = inner + 2 * kGuard;
  std::byte* const start = buffer.map_ + kGuard;
  if (::mprotect(start, inner, PROT_READ | PROT_WRITE) != 0) {
    return failure(fmt::format("{}: no memory for {} bytes", buffer.name_, bytes));
  }
  std::memset(start, std::to_integer<int>(kPoison), inner);
  // The data ends as close to the second border's page as its alignment allows.
  buffer.data_ = start + page() + (in_pages(bytes) - bytes) / 64 * 64;
  buffer.size_ = bytes;
  return buffer;
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept { *this = std::move(other); }

GuardedBuffer& GuardedBuffer::operator=(GuardedBuffer&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(map_, other.map_);
  std::swap(map_bytes_, other.map_bytes_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

GuardedBuffer::~GuardedBuffer() {
  if (map_ != nullptr) ::munmap(map_, map_bytes_);
}

void GuardedBuffer::poison() const { std::memset(data_, std::to_integer<int>(kPoison), size_); }

void GuardedBuffer::make_read_only() const {
  ::mprotect(map_ + kGuard, map_bytes_ - 2 * kGuard, PROT_READ);
}

bool GuardedBuffer::borders_intact() const {
  return all_poison(map_ + kGuard, data_) && all_poison(data_ + size_, map_ + map_bytes_ - kGuard);
}

void watch_guards(std::vector<GuardWatch> watches) {
  watch_list() = std::move(watches);
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGSEGV, &action, nullptr);
}

}  // namespace tilewright
