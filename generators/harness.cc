// SPDX-License-Identifier: Apache-2.0
// tilewright-harness: one JSON job on stdin, one JSON object on stdout. Exit code 0 whenever the
// job could be asked (the object's status says how it ended), 2 for a malformed job. Time and
// memory limits are set by the process that starts it.
#include <cstdio>
#include <iostream>
#include <iterator>
#include <new>
#include <string>

#include "generators/harness_job.h"
#include "generators/harness_run.h"

namespace {

using namespace tilewright;

int print(const std::string& text, int code) {
  return std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? 1 : code;
}

int report(const Error& error) {
  if (error.kind == ErrorKind::failed)
    return print(render_error(HarnessStatus::run_failed, error.message), 0);
  std::fprintf(stderr, "tilewright-harness: %s\n", error.message.c_str());
  return print(render_error(HarnessStatus::usage, error.message), 2);
}

int run(const std::string& text) {
  const auto job = parse_job(text);
  if (!job) return report(job.error());
  const auto outcome = run_job(*job);
  if (!outcome) return report(outcome.error());
  return print(render(*outcome), 0);
}

}  // namespace

int main(int argc, char**) {
  if (argc != 1)
    return report(
        {ErrorKind::usage, "no arguments are taken: the job is one JSON object on stdin"});
  try {
    return run(std::string(std::istreambuf_iterator<char>(std::cin), {}));
  } catch (const std::bad_alloc&) {
    return report({ErrorKind::failed, "out of memory"});
  }
}
