// SPDX-License-Identifier: Apache-2.0
// Which of two answers to the same question is kept (merge) or served (layers).
#pragma once

#include <string>
#include <string_view>

#include "schedules/records.h"

namespace tilewright {

// The conflict rule, in this order: measured (on `host`, or anywhere if that is empty) before
// simulated before bound only; the shorter time; the newer; the greater text of schedule. So two
// databases come to the same choice in whatever order they are merged. False for answers that are
// equal in all of it.
bool is_better_answer(const TrialRecord& a, std::string_view a_stored_utc, const TrialRecord& b,
                      std::string_view b_stored_utc, std::string_view host = {});

}  // namespace tilewright
