// SPDX-License-Identifier: Apache-2.0
// The words that stand for enumerations in the database. Private to db/.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "schedules/records.h"

namespace tilewright::db {

// In the order of the enumerators.
inline constexpr std::array<std::string_view, 6> kTrialStatusWords{
    "ok", "infeasible", "build_failed", "run_failed", "mismatch", "timed_out"};
inline constexpr std::array<std::string_view, 4> kRunStateWords{"running", "finished",
                                                                "interrupted", "failed"};

inline std::string_view word(TrialStatus status) {
  return kTrialStatusWords[static_cast<std::size_t>(status)];
}
inline std::string_view word(RunState state) {
  return kRunStateWords[static_cast<std::size_t>(state)];
}

template <class Enum, std::size_t N>
std::optional<Enum> find_word(const std::array<std::string_view, N>& words, std::string_view text) {
  for (std::size_t i = 0; i < N; ++i) {
    if (words[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}
inline std::optional<TrialStatus> find_trial_status(std::string_view text) {
  return find_word<TrialStatus>(kTrialStatusWords, text);
}
inline std::optional<RunState> find_run_state(std::string_view text) {
  return find_word<RunState>(kRunStateWords, text);
}

// The number whose canonical decimal text this is: "12" and "-3", not "012", "+1" or "1.5".
std::optional<std::int64_t> canonical_integer(std::string_view text);

}  // namespace tilewright::db
