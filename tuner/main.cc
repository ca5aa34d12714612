// SPDX-License-Identifier: Apache-2.0
// The only place that prints errors, reads the environment and picks exit codes: 0 ok, 1 failed, 2
// usage.
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "schedules/text.h"
#include "tuner/interrupt.h"
#include "tuner/verbs.h"

namespace {

using tilewright::ErrorKind;

constexpr int kOk = 0, kFailed = 1, kUsage = 2;

void print_help(std::FILE* stream) {
  fmt::print(stream,
             "Usage: tilewright VERB [arguments] [options]\n\n"
             "Finds the best tiling schedule of a convolution on an accelerator, proves how good "
             "it is, remembers\n"
             "it, and turns it into a tested kernel.\n\n");
  for (const auto& verb : tilewright::verbs())
    fmt::print(stream, "  {:<10} {}\n", verb.command.verb, verb.command.summary);
  fmt::print(
      stream,
      "\ntilewright VERB --help shows the arguments of a verb, tilewright --version the version.\n"
      "Start with: tilewright demo\n");
}

int print_error(const tilewright::Error& error) {
  fmt::print(stderr, "tilewright: {}\n", tilewright::one_line(error.message));
  return error.kind == ErrorKind::usage ? kUsage : kFailed;
}

int unknown_verb(const std::string& name) {
  std::vector<std::string_view> names;
  for (const auto& verb : tilewright::verbs()) names.push_back(verb.command.verb);
  return print_error(
      {ErrorKind::usage, fmt::format("unknown verb '{}'; nearest: {}; tilewright --help lists all",
                                     name, tilewright::nearest_name(name, names))});
}

int run_verb(const tilewright::Verb& verb, std::span<const std::string> words) {
  const auto arguments = tilewright::parse_command_line(verb.command, words);
  if (!arguments) return print_error(arguments.error());
  if (arguments->flag("--help")) {
    fmt::print("{}", tilewright::help_text(verb.command));
    return kOk;
  }
  const char* compiler = std::getenv("CXX");
  auto progress = tilewright::Progress::on_stderr();
  tilewright::Session session{tilewright::find_installation(compiler ? compiler : ""), progress,
                              verb.command.verb, tilewright::interrupted};
  for (const std::string& word : words) session.command_line += " " + word;
  session.installation.workloads_dir =
      arguments->text("--workloads-dir").value_or(session.installation.workloads_dir);
  session.installation.devices_dir =
      arguments->text("--devices-dir").value_or(session.installation.devices_dir);
  tilewright::catch_interrupts();

  const auto report = verb.run(*arguments, session);
  progress.end();
  if (!report) return print_error(report.error());
  fmt::print("{}", arguments->flag("--json") ? report->json.dump() + "\n" : report->text);
  return report->failed ? kFailed : kOk;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) {
    print_help(stderr);
    return kUsage;
  }
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    print_help(stdout);
    return kOk;
  }
  if (words[0] == "--version") {
    fmt::print("tilewright {}\n", tilewright::own_versions().tool);
    return kOk;
  }
  const tilewright::Verb* verb = tilewright::find_verb(words[0]);
  return verb ? run_verb(*verb, std::span(words).subspan(1)) : unknown_verb(words[0]);
}
