// SPDX-License-Identifier: Apache-2.0
#include "db/write_rows.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>

#include "db/words.h"

namespace tilewright::db {
namespace {

constexpr Sql kInsertRun{
    "insert run",
    "INSERT INTO runs (uid, tool_version, model_version, generator_version, halide_version, "
    "git_revision, command_line, seed, host, started_utc, ended_utc, state) "
    "VALUES (coalesce(?1, lower(hex(randomblob(16)))), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, "
    "?12) "
    "RETURNING id"};
constexpr Sql kEndRun{"update run",
                      "UPDATE runs SET state = ?2, ended_utc = ?3 WHERE id = ?1 RETURNING id"};

constexpr Sql kFindDevice{"find device",
                          "SELECT id, content FROM devices WHERE hash = ?1 AND name = ?2"};
constexpr Sql kCurrentDevice{"find current device",
                             "SELECT hash FROM current_devices WHERE name = ?1"};
// Later than every other content of the name, by a millisecond if need be.
constexpr Sql kPutDevice{
    "put device",
    "INSERT INTO devices (name, hash, content, stored_utc) VALUES (?1, ?2, ?3, max(?4, coalesce("
    "(SELECT strftime('%Y-%m-%dT%H:%M:%fZ', max(stored_utc), '+0.001 seconds') FROM devices "
    "WHERE name = ?1), ''))) "
    "ON CONFLICT (hash, name) DO UPDATE SET stored_utc = excluded.stored_utc"};

constexpr Sql kFindWorkload{"find workload", "SELECT id FROM workloads WHERE workload_key = ?1"};
constexpr Sql kInsertWorkload{
    "insert workload",
    "INSERT INTO workloads (workload_key, operator) VALUES (?1, ?2) RETURNING id"};
constexpr Sql kInsertField{
    "insert workload field",
    "INSERT OR IGNORE INTO workload_fields (workload_id, field, value) VALUES (?1, ?2, ?3)"};

constexpr Sql kLastNumber{
    "find last trial of run",
    "SELECT (SELECT max(number) FROM trials WHERE run_id = r.id) FROM runs r WHERE r.id = ?1"};
constexpr Sql kInsertTrial{
    "insert trial",
    "INSERT INTO trials (run_id, number, workload_id, device_id, model_version, objective, "
    "constraints, variant, schedule, status, bound_cycles, bound_us, simulated_cycles, "
    "simulated_us, message, measured_min_us, measured_median_us, measured_repetitions, "
    "measured_threads, measured_host, measured_conditions) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, "
    "?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)"};
// Eight rows a statement where there are so many: most of the time of a small row is the statement
// around it.
constexpr std::size_t kRowsAtOnce = 8;
constexpr Sql kInsertKnob{"insert knob",
                          "INSERT INTO trial_knobs (trial_id, knob, value) VALUES (?1, ?2, ?3)"};
constexpr Sql kInsertKnobs{
    "insert knobs",
    "INSERT INTO trial_knobs (trial_id, knob, value) VALUES (?1, ?2, ?3), (?1, ?4, ?5), (?1, ?6, "
    "?7), (?1, ?8, ?9), (?1, ?10, ?11), (?1, ?12, ?13), (?1, ?14, ?15), (?1, ?16, ?17)"};
constexpr Sql kInsertTraffic{
    "insert traffic", "INSERT INTO trial_traffic (trial_id, path, bytes) VALUES (?1, ?2, ?3)"};

void add_number_or_word(Query& query, std::string_view text) {
  if (const auto number = canonical_integer(text)) {
    query.add(*number);
  } else {
    query.add(text);
  }
}

// SQLite would store a NaN as NULL, which means "no such figure".
void require_finite(Transaction& transaction, const char* what,
                    const std::optional<double>& value) {
  if (value && !std::isfinite(*value)) {
    transaction.fail(fmt::format("{}: {} is {}: only finite figures are stored", transaction.path(),
                                 what, *value));
  }
}

// `operator/field:value,...`; a key of another form simply has no fields.
void insert_fields(Transaction& transaction, std::int64_t workload_id, std::string_view key) {
  const std::size_t slash = key.find('/');
  std::string_view rest =
      slash == std::string_view::npos ? std::string_view() : key.substr(slash + 1);
  Query insert(transaction, kInsertField);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view pair = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const std::size_t colon = pair.find(':');
    if (colon == std::string_view::npos) continue;
    insert.bind(workload_id, pair.substr(0, colon));
    add_number_or_word(insert, pair.substr(colon + 1));
    insert.run();
  }
}

void insert_trial_rows(Transaction& transaction, std::int64_t trial_id, const TrialRecord& trial) {
  auto knob = trial.knobs.begin();
  const auto insert_rows = [&](Query& query, std::size_t rows) {
    query.bind(trial_id);
    for (; rows > 0; --rows, ++knob) {
      query.add(knob->first);
      add_number_or_word(query, knob->second);
    }
    query.run();
  };
  std::size_t left = trial.knobs.size();
  Query many(transaction, kInsertKnobs);
  for (; left >= kRowsAtOnce; left -= kRowsAtOnce) insert_rows(many, kRowsAtOnce);
  Query one(transaction, kInsertKnob);
  for (; left > 0; --left) insert_rows(one, 1);
  Query traffic(transaction, kInsertTraffic);
  for (const auto& [path, bytes] : trial.traffic_bytes) traffic.bind(trial_id, path, bytes).run();
}

}  // namespace

std::optional<std::int64_t> canonical_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || std::to_string(value) != text)
    return std::nullopt;
  return value;
}

std::int64_t insert_run(Transaction& transaction, const RunRecord& run) {
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional<std::string>(text);
  };
  Query insert(transaction, kInsertRun);
  const Versions& v = run.versions;
  insert.bind(text_or_null(run.uid), v.tool, v.model, v.generator, v.halide, v.git_revision,
              run.command_line, std::to_string(run.seed), run.host, run.started_utc,
              text_or_null(run.ended_utc), word(run.state));
  std::int64_t id = 0;
  while (insert.step()) id = insert.integer(0);
  return id;
}

void update_run_end(Transaction& transaction, std::int64_t run_id, RunState state,
                    const std::string& ended_utc) {
  Query update(transaction, kEndRun);
  update.bind(run_id, word(state), ended_utc.empty() ? std::nullopt : std::optional(ended_utc));
  bool found = false;
  while (update.step()) found = true;
  if (!found)
    transaction.fail(
        fmt::format("{}: there is no run {}: begin_run() comes first", transaction.path(), run_id));
}

void put_device(Transaction& transaction, const DeviceRecord& device,
                const std::string& stored_utc) {
  Query find(transaction, kFindDevice);
  if (find.bind(device.hash, device.name).step() && find.text(1) != device.content) {
    transaction.fail(fmt::format(
        "{}: device {} is stored with the same hash {} and another content: the hash is wrong",
        transaction.path(), device.name, device.hash));
  }
  find.restart();
  Query current(transaction, kCurrentDevice);
  const bool is_current = current.bind(device.name).step() && current.text(0) == device.hash;
  current.restart();
  if (is_current) return;
  Query(transaction, kPutDevice).bind(device.name, device.hash, device.content, stored_utc).run();
}

std::int64_t References::workload(const std::string& key) {
  const auto known = workloads_.find(key);
  if (known != workloads_.end()) return known->second;
  std::int64_t id = 0;
  Query find(transaction_, kFindWorkload);
  if (find.bind(key).step()) {
    id = find.integer(0);
  } else {
    Query insert(transaction_, kInsertWorkload);
    insert.bind(key, std::string_view(key).substr(0, key.find('/')));
    while (insert.step()) id = insert.integer(0);
    insert_fields(transaction_, id, key);
  }
  return workloads_[key] = id;
}

std::int64_t References::device(const std::string& name, const std::string& hash) {
  const auto known = devices_.find({name, hash});
  if (known != devices_.end()) return known->second;
  Query find(transaction_, kFindDevice);
  if (!find.bind(hash, name).step()) {
    transaction_.fail(
        fmt::format("{}: device {} with hash {} is not stored: put_device() comes first",
                    transaction_.path(), name, hash));
    return 0;
  }
  return devices_[{name, hash}] = find.integer(0);
}

std::int64_t next_trial_number(Transaction& transaction, std::int64_t run_id) {
  Query find(transaction, kLastNumber);
  if (!find.bind(run_id).step()) {
    transaction.fail(
        fmt::format("{}: there is no run {}: begin_run() comes first", transaction.path(), run_id));
    return 0;
  }
  return find.is_null(0) ? 1 : find.integer(0) + 1;
}

std::int64_t insert_trial(Transaction& transaction, References& references, std::int64_t run_id,
                          std::int64_t number, const TrialRecord& trial) {
  require_finite(transaction, "bound_us", trial.bound_us);
  require_finite(transaction, "simulated_us", trial.simulated_us);
  if (trial.measured) {
    require_finite(transaction, "measured_min_us", trial.measured->min_us);
    require_finite(transaction, "measured_median_us", trial.measured->median_us);
  }
  Query insert(transaction, kInsertTrial);
  insert.bind(run_id, number, references.workload(trial.workload_key),
              references.device(trial.device_name, trial.device_hash), trial.model_version,
              trial.objective, trial.constraints, trial.variant, trial.schedule, word(trial.status),
              trial.bound_cycles, trial.bound_us, trial.simulated_cycles, trial.simulated_us,
              trial.message);
  if (const auto& m = trial.measured) {
    insert.add(m->min_us);
    insert.add(m->median_us);
    insert.add(m->repetitions);
    insert.add(m->threads);
    insert.add(m->host);
    insert.add(m->conditions);
  } else {
    for (int i = 0; i < 6; ++i) insert.add_null();
  }
  insert.run();
  const std::int64_t id = transaction.last_row_id();
  insert_trial_rows(transaction, id, trial);
  return id;
}

}  // namespace tilewright::db
