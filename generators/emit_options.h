// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "schedules/result.h"
#include "schedules/schedule.h"

namespace tilewright {

struct EmitOptions {
  std::string workload, schedule, name, folder;
  std::string target = "host";
  DeviceKind kind = DeviceKind::host;
  std::int64_t cube_cores = 20, vector_cores = 40;  // npu: cores that the twin deals its items to
  bool unscheduled = false, digest = false, statement = false;
  bool runtime = false, versions = false;
};

// The options, or the help text that was asked for. Errors: usage.
Result<std::variant<EmitOptions, std::string>> parse_emit_options(int argc, char** argv,
                                                                  std::string_view program);

}  // namespace tilewright
