// SPDX-License-Identifier: Apache-2.0
#include "tuner/options.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>

#include "schedules/text.h"

namespace tilewright {
namespace {

const std::vector<OptionRow>& common_options() {
  static const std::vector<OptionRow> rows = {
      {"--json", nullptr, "one JSON object or array on stdout"},
      {"--workloads-dir", "DIR", "where workload names are looked up"},
      {"--devices-dir", "DIR", "where device names are looked up"},
      {"-h,--help", nullptr, "this text"},
  };
  return rows;
}

std::vector<OptionRow> all_options(const CommandLine& command) {
  std::vector<OptionRow> rows = command.options;
  rows.insert(rows.end(), common_options().begin(), common_options().end());
  return rows;
}

std::string_view long_name(const OptionRow& row) {
  const std::string_view names = row.names;
  return names.substr(names.find("--"));
}

// What CLI11 fills; strings everywhere, so that all messages are ours.
struct Storage {
  std::map<std::string, std::vector<std::string>> texts;
  std::map<std::string, bool> flags;
};

void declare(CLI::App& app, const CommandLine& command, Storage& storage) {
  app.allow_extras();
  app.set_help_flag();
  for (const OptionRow& row : all_options(command)) {
    const std::string name(long_name(row));
    if (!row.value) {
      app.add_flag(row.names, storage.flags[name], "");
    } else {
      app.add_option(row.names, storage.texts[name], "")
          ->expected(1)
          ->allow_extra_args(false)
          ->multi_option_policy(row.repeated ? CLI::MultiOptionPolicy::TakeAll
                                             : CLI::MultiOptionPolicy::Throw);
    }
  }
}

Error unknown_option(const CommandLine& command, const std::string& word) {
  std::vector<std::string_view> names;
  for (const OptionRow& row : all_options(command)) names.push_back(long_name(row));
  const std::string given = word.substr(0, word.find('='));
  return {ErrorKind::usage,
          fmt::format("unknown option '{}'; nearest: {}", given, nearest_name(given, names))};
}

// Words that belong to no option are the positionals, in order.
Result<void> take_positionals(const CommandLine& command, const std::vector<std::string>& words,
                              Arguments& arguments) {
  for (const std::string& word : words) {
    if (word.size() > 1 && word[0] == '-') return tl::unexpected(unknown_option(command, word));
  }
  std::size_t next = 0;
  for (const PositionalRow& row : command.positionals) {
    if (next < words.size()) {
      arguments.values[row.name] = {words[next]};
      ++next;
    } else if (row.required) {
      return usage_error(fmt::format("{} is missing ({}); see tilewright {} --help", row.name,
                                     row.help, command.verb));
    }
  }
  if (next == words.size()) return {};
  return usage_error(
      fmt::format("unexpected argument '{}'; see tilewright {} --help", words[next], command.verb));
}

std::string option_label(const OptionRow& row) {
  std::string names = row.names;
  if (const auto comma = names.find(','); comma != std::string::npos) names.insert(comma + 1, " ");
  return row.value ? fmt::format("{} {}", names, row.value) : names;
}

template <class T>
std::optional<T> whole_number(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

bool Arguments::flag(std::string_view name) const { return values.find(name) != values.end(); }

std::optional<std::string> Arguments::text(std::string_view name) const {
  const auto found = values.find(name);
  if (found == values.end() || found->second.empty()) return std::nullopt;
  return found->second.front();
}

std::vector<std::string> Arguments::texts(std::string_view name) const {
  const auto found = values.find(name);
  return found == values.end() ? std::vector<std::string>() : found->second;
}

Result<std::optional<std::int64_t>> Arguments::integer(std::string_view name,
                                                       std::int64_t least) const {
  const auto given = text(name);
  if (!given) return std::optional<std::int64_t>();
  const auto value = whole_number<std::int64_t>(*given);
  if (!value) return usage_error(fmt::format("{} wants a whole number, not '{}'", name, *given));
  if (*value < least)
    return usage_error(fmt::format("{} must be at least {}, not {}", name, least, *value));
  return value;
}

Result<std::optional<double>> Arguments::number(std::string_view name, double least) const {
  const auto given = text(name);
  if (!given) return std::optional<double>();
  const auto value = whole_number<double>(*given);
  if (!value || !std::isfinite(*value)) {
    return usage_error(fmt::format("{} wants a number, not '{}'", name, *given));
  }
  if (*value < least)
    return usage_error(fmt::format("{} must be at least {}, not {}", name, least, *value));
  return value;
}

Result<Arguments> parse_command_line(const CommandLine& command,
                                     std::span<const std::string> words) {
  CLI::App app(command.summary);
  Storage storage;
  Arguments arguments;
  try {
    declare(app, command, storage);
    std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 wants it
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    return usage_error(fmt::format("{}; see tilewright {} --help", error.what(), command.verb));
  }
  for (const auto& [name, given] : storage.flags) {
    if (given) arguments.values[name];
  }
  for (const auto& [name, values] : storage.texts) {
    if (!values.empty()) arguments.values[name] = values;
  }
  if (arguments.flag("--help")) return arguments;
  if (auto taken = take_positionals(command, app.remaining(), arguments); !taken)
    return pass_error(taken);
  return arguments;
}

std::string help_text(const CommandLine& command) {
  std::string text = fmt::format("Usage: tilewright {}", command.verb);
  for (const PositionalRow& row : command.positionals) {
    text += row.required ? fmt::format(" {}", row.name) : fmt::format(" [{}]", row.name);
  }
  text += fmt::format(" [options]\n\n{}\n\n", command.summary);
  const auto options = all_options(command);
  std::size_t width = 0;
  for (const PositionalRow& row : command.positionals)
    width = std::max(width, std::string(row.name).size());
  for (const OptionRow& row : options) width = std::max(width, option_label(row).size());
  for (const PositionalRow& row : command.positionals)
    text += fmt::format("  {:<{}}  {}\n", row.name, width, row.help);
  for (const OptionRow& row : options)
    text += fmt::format("  {:<{}}  {}\n", option_label(row), width, row.help);
  return text + fmt::format("\nExample: {}\n", command.example);
}

}  // namespace tilewright
