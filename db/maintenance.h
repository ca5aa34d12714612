// SPDX-License-Identifier: Apache-2.0
// Care of database files: check, statistics, copies, merging, export and import.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "schedules/result.h"

namespace tilewright {

struct CheckReport {
  std::vector<std::string> findings;  // one line each; empty: nothing is wrong
};
// Structure (every page, every index), references between rows, and the rules the rows must keep:
// bound <= simulated, an answer's trial is of its question, knobs are those of the schedule text,
// no absolute paths. A file that can not be opened is an error; damage that was found is a finding.
// The file is only read.
Result<CheckReport> check_database(const std::string& path);

struct DatabaseStats {
  std::int64_t schema_version = 0;
  std::int64_t file_bytes = 0, free_bytes = 0;  // free: inside the file, given back by vacuum
  std::string journal_mode;
  std::map<std::string, std::int64_t> rows;              // table -> rows
  std::map<std::string, std::int64_t> trials_by_status;  // word -> trials
  std::string first_run_utc, last_run_utc;               // empty without runs
};
Result<DatabaseStats> database_stats(const std::string& path);

// A consistent copy in a new file, also while others write. An existing file of that name is an
// error.
Result<void> copy_database(const std::string& from, const std::string& to);
// Gives free pages back to the file system. Needs as much free disk space again.
Result<void> vacuum_database(const std::string& path);

// What came to the target.
struct MergeReport {
  std::int64_t devices = 0, runs = 0, trials = 0, proofs = 0, kernels = 0, verdicts = 0;
  std::int64_t bests_added = 0, bests_replaced = 0,
               bests_kept = 0;    // kept: the target's was better
  std::int64_t trials_there = 0;  // were in both
  friend bool operator==(const MergeReport&, const MergeReport&) = default;
};

// Adds everything of `from` to `into` (made if missing). The same run in both (by uid) is one run,
// the same trial one trial; two answers to one question: is_better_answer() of answers.h decides.
// Merging again changes nothing; of databases without common runs, the order does not matter.
// Trials go in batches of one transaction each: after an error, what was reported as merged before
// is there, and merging again completes it.
Result<MergeReport> merge_database(const std::string& into, const std::string& from);

// One JSON object a line: {"type":"header",...}, then devices, runs and trials with all that is
// known about them. No local ids; the same content gives the same bytes. Text that is not UTF-8 is
// {"hex":"..."}.
Result<void> export_json_lines(const std::string& path, std::ostream& out);
// Merges such lines into the database (made if missing). `name` stands in errors, with the line
// number.
Result<MergeReport> import_json_lines(const std::string& path, std::istream& in,
                                      const std::string& name);

}  // namespace tilewright
