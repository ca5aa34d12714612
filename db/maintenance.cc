// SPDX-License-Identifier: Apache-2.0
// Check, statistics, copy, vacuum.
#include "db/maintenance.h"

#include <fmt/format.h>

#include <array>

#include "db/backup.h"
#include "db/database_file.h"
#include "db/store.h"

namespace tilewright {
namespace {

using db::Query;
using db::Sql;
using db::Transaction;

constexpr Sql kIntegrity{"integrity check", "PRAGMA integrity_check(20)"};
constexpr Sql kForeignKeys{"foreign key check", "PRAGMA foreign_key_check"};
constexpr Sql kVacuum{"vacuum", "VACUUM"};
constexpr Sql kStatus{"count trials by status",
                      "SELECT status, count(*) FROM trials GROUP BY status"};
constexpr Sql kRunTimes{"read times of runs",
                        "SELECT min(started_utc), max(started_utc) FROM runs"};

// Each gives one text a row: what is wrong. No more than 20 rows each are told.
constexpr std::array kRules{
    Sql{"check bounds",
        "SELECT 'trial ' || id || ': its bound of ' || bound_cycles || ' cycles is above its "
        "simulation of ' || "
        "simulated_cycles FROM trials WHERE bound_cycles > simulated_cycles LIMIT 20"},
    Sql{"check answers",
        "SELECT 'best ' || b.id || ': trial ' || t.id || ' is of another question' FROM bests b "
        "JOIN trials t ON t.id = b.trial_id JOIN devices d ON d.id = t.device_id WHERE "
        "t.workload_id <> b.workload_id "
        "OR d.hash <> b.device_hash OR t.model_version <> b.model_version OR t.objective <> "
        "b.objective "
        "OR t.constraints <> b.constraints OR t.status <> 'ok' LIMIT 20"},
    Sql{"check proofs",
        "SELECT 'best ' || b.id || ': its proof is of another trial' FROM bests b JOIN proofs p ON "
        "p.id = b.proof_id "
        "WHERE p.trial_id <> b.trial_id LIMIT 20"},
    // The schedule's text is variant/knob:value,...: each row stands in it between separators.
    Sql{"check knobs",
        "SELECT 'trial ' || t.id || ': knob ' || k.knob || ':' || k.value || ' is not in its "
        "schedule ' || t.schedule "
        "FROM trial_knobs k JOIN trials t ON t.id = k.trial_id WHERE "
        "instr(',' || substr(t.schedule, instr(t.schedule, '/') + 1) || ',', ',' || k.knob || ':' "
        "|| k.value || ',') = 0 "
        "LIMIT 20"},
    Sql{"check paths",
        "SELECT 'run ' || id || ': its command line holds an absolute path: ' || command_line FROM "
        "runs "
        "WHERE command_line GLOB '/*' OR command_line GLOB '*[ =]/*' LIMIT 20"},
};

constexpr std::array<Sql, 12> kCounts{{
    {"devices", "SELECT count(*) FROM devices"},
    {"workloads", "SELECT count(*) FROM workloads"},
    {"runs", "SELECT count(*) FROM runs"},
    {"trials", "SELECT count(*) FROM trials"},
    {"trial_knobs", "SELECT count(*) FROM trial_knobs"},
    {"trial_traffic", "SELECT count(*) FROM trial_traffic"},
    {"proofs", "SELECT count(*) FROM proofs"},
    {"proof_limits", "SELECT count(*) FROM proof_limits"},
    {"bests", "SELECT count(*) FROM bests"},
    {"kernels", "SELECT count(*) FROM kernels"},
    {"kernel_artefacts", "SELECT count(*) FROM kernel_artefacts"},
    {"verdicts", "SELECT count(*) FROM verdicts"},
}};

Result<db::Connection> open_to_read(const std::string& path) {
  return db::open_database({.path = path, .read_only = true, .lock_wait = kLockWait});
}

// One rule, in its own transaction: damage that ends it is a finding, and the next rule is still
// tried.
template <class Row>
void collect(db::Connection& connection, const Sql& sql, CheckReport& report, Row row) {
  Transaction transaction(connection, sql.name, Transaction::Kind::read);
  {
    Query query(transaction, sql);
    for (query.bind(); query.step();) {
      if (std::string finding = row(query); !finding.empty())
        report.findings.push_back(std::move(finding));
    }
  }
  if (const auto done = transaction.commit(); !done)
    report.findings.push_back(done.error().message);
}

std::int64_t read_number(Transaction& transaction, const Sql& sql) {
  Query query(transaction, sql);
  return query.bind().step() ? query.integer(0) : 0;
}

}  // namespace

Result<CheckReport> check_database(const std::string& path) {
  Result<db::Connection> connection = open_to_read(path);
  if (!connection) return pass_error(connection);
  CheckReport report;
  collect(*connection, kIntegrity, report, [](const Query& query) {
    const std::string text = query.text(0);
    return text == "ok" ? std::string() : "structure: " + text;
  });
  collect(*connection, kForeignKeys, report, [](const Query& query) {
    return fmt::format("reference: a row of {} refers to a row of {} that is not there",
                       query.text(0), query.text(2));
  });
  for (const Sql& rule : kRules) {
    collect(*connection, rule, report, [](const Query& query) { return query.text(0); });
  }
  return report;
}

Result<DatabaseStats> database_stats(const std::string& path) {
  Result<db::Connection> connection = open_to_read(path);
  if (!connection) return pass_error(connection);
  DatabaseStats stats;
  Transaction transaction(*connection, "stats", Transaction::Kind::read);
  stats.schema_version = read_number(transaction, {"read schema version", "PRAGMA user_version"});
  const std::int64_t page = read_number(transaction, {"read page size", "PRAGMA page_size"});
  stats.file_bytes = page * read_number(transaction, {"read page count", "PRAGMA page_count"});
  stats.free_bytes = page * read_number(transaction, {"read free pages", "PRAGMA freelist_count"});
  for (const Sql& count : kCounts) stats.rows[count.name] = read_number(transaction, count);
  {
    Query query(transaction, kStatus);
    for (query.bind(); query.step();) stats.trials_by_status[query.text(0)] = query.integer(1);
    Query times(transaction, kRunTimes);
    if (times.bind().step()) {
      stats.first_run_utc = times.text(0);
      stats.last_run_utc = times.text(1);
    }
    Query mode(transaction, Sql{"read journal mode", "PRAGMA journal_mode"});
    if (mode.bind().step()) stats.journal_mode = mode.text(0);
  }
  if (const auto done = transaction.commit(); !done) return pass_error(done);
  return stats;
}

Result<void> copy_database(const std::string& from, const std::string& to) {
  if (const auto source = open_to_read(from); !source) return pass_error(source);
  return db::copy_file(from, to);
}

Result<void> vacuum_database(const std::string& path) {
  Result<db::Connection> connection =
      db::open_database({.path = path, .create = false, .lock_wait = kLockWait});
  if (!connection) return pass_error(connection);
  if (const auto done = connection->pragma(kVacuum); !done) return pass_error(done);
  return {};
}

}  // namespace tilewright
