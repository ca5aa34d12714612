// SPDX-License-Identifier: Apache-2.0
#include "schedules/npu_rules.h"

#include <fmt/format.h>

namespace tilewright {

std::string block_rule_text(Knob knob, std::int64_t value, std::int64_t most,
                            const char* most_name) {
  return fmt::format("{}: must be a multiple of 16 from 16 to {} = {}, not {}", knob_name(knob),
                     most_name, most, value);
}

std::string count_rule_text(Knob knob, std::int64_t value, std::int64_t least, std::int64_t most,
                            const char* most_name) {
  return fmt::format("{}: must be from {} to {}{}, not {}", knob_name(knob), least, most_name, most,
                     value);
}

std::string step_rule_text(std::int64_t step_ka, std::int64_t step_kb) {
  return fmt::format("step: one of step_ka {} and step_kb {} must divide the other", step_ka,
                     step_kb);
}

}  // namespace tilewright
