// SPDX-License-Identifier: Apache-2.0
#include "db/answers.h"

#include <limits>
#include <tuple>

namespace tilewright {
namespace {

// Lower is better.
std::tuple<int, double, double> merit(const TrialRecord& trial, std::string_view host) {
  const auto& m = trial.measured;
  if (m && (host.empty() || m->host == host)) return {0, m->median_us, m->min_us};
  if (trial.simulated_us) return {1, *trial.simulated_us, 0};
  return {2, trial.bound_us.value_or(std::numeric_limits<double>::infinity()), 0};
}

}  // namespace

bool is_better_answer(const TrialRecord& a, std::string_view a_stored_utc, const TrialRecord& b,
                      std::string_view b_stored_utc, std::string_view host) {
  const auto merit_a = merit(a, host);
  const auto merit_b = merit(b, host);
  if (merit_a != merit_b) return merit_a < merit_b;
  if (a_stored_utc != b_stored_utc) return a_stored_utc > b_stored_utc;
  return a.schedule > b.schedule;
}

}  // namespace tilewright
