// SPDX-License-Identifier: Apache-2.0
// Progress on stderr: on a terminal one line that is overwritten, with a bar and the time left;
// elsewhere plain lines, one when a phase starts and then at most one every few seconds.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "tuner/clock.h"

namespace tilewright {

class Progress {
 public:
  // `terminal`: whether lines can be overwritten; `columns`: width of the terminal. stream nullptr:
  // silent.
  Progress(std::FILE* stream, bool terminal, int columns = 80);
  static Progress on_stderr();

  void line(const std::string& text);                        // a lasting line
  void begin(const std::string& phase, std::int64_t total);  // total 0: unknown, no bar
  void at(std::int64_t done, const std::string& note = "");
  void end();  // takes the bar away

 private:
  void print_status(const std::string& text);
  void clear();

  std::FILE* stream_;
  bool terminal_;
  std::size_t columns_;
  bool status_shown_ = false;
  std::string phase_;
  std::int64_t total_ = 0;
  Stopwatch since_begin_;
  double last_print_ = 0;
};

// "[=====>    ] 12/40 30 % 0:18 left" - its own function, so that it can be tested.
std::string progress_bar(std::int64_t done, std::int64_t total, double seconds);

}  // namespace tilewright
