// SPDX-License-Identifier: Apache-2.0
// The command line of one verb as a plain table: what it takes, and the words it got. All values
// are text here; the getters that want numbers check them and name the option in their error.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedules/result.h"

namespace tilewright {

struct PositionalRow {
  const char* name;  // as shown in help: WORKLOAD
  const char* help;
  bool required = true;
};

struct OptionRow {
  const char* names;  // "--device" or "-o,--out"; looked up by the long name
  const char* value;  // as shown in help: NAME; nullptr: a flag
  const char* help;
  bool repeated = false;
};

struct CommandLine {
  const char* verb;
  const char* summary;  // one line
  std::vector<PositionalRow> positionals;
  std::vector<OptionRow>
      options;  // --json, --help, --workloads-dir, --devices-dir are added to each verb
  std::string example;
};

class Arguments {
 public:
  bool flag(std::string_view name) const;
  std::optional<std::string> text(std::string_view name) const;  // options and positionals
  std::vector<std::string> texts(std::string_view name) const;
  Result<std::optional<std::int64_t>> integer(std::string_view name, std::int64_t least) const;
  Result<std::optional<double>> number(std::string_view name, double least) const;

  std::map<std::string, std::vector<std::string>, std::less<>>
      values;  // a given flag has an empty list
};

// Errors are usage errors: unknown option (nearest name), missing value, missing or surplus
// argument.
Result<Arguments> parse_command_line(const CommandLine& command,
                                     std::span<const std::string> words);
std::string help_text(const CommandLine& command);

}  // namespace tilewright
