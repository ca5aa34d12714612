// SPDX-License-Identifier: Apache-2.0
#include "tuner/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace tilewright {
namespace {

constexpr double kTerminalPeriod = 0.1;  // seconds between two repaints
constexpr double kPlainPeriod = 5;       // seconds between two plain lines

}  // namespace

std::string progress_bar(std::int64_t done, std::int64_t total, double seconds) {
  constexpr std::int64_t kWidth = 20;
  const std::int64_t filled = total > 0 ? kWidth * done / total : 0;
  std::string bar(static_cast<std::size_t>(filled), '=');
  if (filled < kWidth) bar += '>';
  bar.resize(static_cast<std::size_t>(kWidth), ' ');
  std::string text = fmt::format("[{}] {}/{}", bar, done, total);
  if (done > 0 && done < total) {
    const double left = seconds / static_cast<double>(done) * static_cast<double>(total - done);
    const auto whole = static_cast<std::int64_t>(left + 0.5);
    text += fmt::format(" {}:{:02} left", whole / 60, whole % 60);
  }
  return text;
}

Progress::Progress(std::FILE* stream, bool terminal, int columns)
    : stream_(stream),
      terminal_(terminal),
      columns_(columns > 20 ? static_cast<std::size_t>(columns) : 80) {}

Progress Progress::on_stderr() {
  winsize size{};
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  if (terminal) ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
  return {stderr, terminal, size.ws_col};
}

void Progress::line(const std::string& text) {
  if (!stream_) return;
  clear();
  fmt::print(stream_, "{}\n", text);
  std::fflush(stream_);
}

void Progress::begin(const std::string& phase, std::int64_t total) {
  phase_ = phase;
  total_ = total;
  since_begin_ = Stopwatch();
  last_print_ = 0;
  if (terminal_) {
    print_status(phase);
  } else {
    line(total > 0 ? fmt::format("{} ({})", phase, total) : phase);
  }
}

void Progress::at(std::int64_t done, const std::string& note) {
  const double now = since_begin_.seconds();
  if (!stream_ || now - last_print_ < (terminal_ ? kTerminalPeriod : kPlainPeriod)) return;
  last_print_ = now;
  const std::string bar = total_ > 0 ? progress_bar(done, total_, now) : fmt::format("{}", done);
  const std::string text = fmt::format("{} {}{}{}", phase_, bar, note.empty() ? "" : "  ", note);
  if (terminal_) {
    print_status(text);
  } else {
    line(text);
  }
}

void Progress::end() { clear(); }

void Progress::print_status(const std::string& text) {
  if (!stream_) return;
  fmt::print(stream_, "\r{}\x1b[K", text.substr(0, columns_ - 1));
  std::fflush(stream_);
  status_shown_ = true;
}

void Progress::clear() {
  if (!stream_ || !status_shown_) return;
  fmt::print(stream_, "\r\x1b[K");
  std::fflush(stream_);
  status_shown_ = false;
}

}  // namespace tilewright
