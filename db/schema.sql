-- SPDX-License-Identifier: Apache-2.0
-- The schedule database, schema version 1. Open it with `sqlite3 tilewright.db`; start with
--   SELECT * FROM best;      SELECT * FROM best_measured;      SELECT * FROM failures;
--
-- Rules
-- * Predicted (bound_*), simulated (simulated_*) and measured (measured_*) figures never share a column.
-- * Units are in the column names: _us microseconds, _cycles device clock, _bytes, seconds.
-- * Times are UTC, ISO 8601, ending in Z. No absolute path of a machine is stored.
-- * Rows are added, not changed, but for: a run's end, the answer to a question (bests), a kernel that is
--   emitted again. Nothing is deleted, so ids grow.
-- * A row's identity in every copy of the database is runs.uid, and (runs.uid, trials.number): ids are local.
-- * Enumerations are words, empty text means "none", NULL means "no such figure".
--
-- Durability: journal_mode WAL where the file system allows it, else a rollback journal; synchronous FULL,
-- one transaction (BEGIN IMMEDIATE) per batch. So what the store reports as stored survives kill -9 and
-- loss of power, and a batch is there as a whole or not at all.
--
-- PRAGMA application_id marks the file as tilewright's, PRAGMA user_version is the schema's version.
-- schema_history stays as it is in every later version: it tells an older tool who can read the file.

CREATE TABLE schema_history (
  schema_version INTEGER PRIMARY KEY,
  tool_version   TEXT NOT NULL,  -- of the tilewright that created or migrated the file: it and newer ones read it
  applied_utc    TEXT NOT NULL
) STRICT;

CREATE TABLE devices (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  hash       TEXT NOT NULL,  -- XXH3-128 of content
  content    TEXT NOT NULL,  -- canonical text of the numbers that the predictions rest on
  stored_utc TEXT NOT NULL,  -- when it last became the current content of this name
  UNIQUE (hash, name)
) STRICT;

CREATE TABLE workloads (
  id           INTEGER PRIMARY KEY,
  workload_key TEXT NOT NULL UNIQUE,  -- canonical: operator/field:value,...
  operator     TEXT NOT NULL
) STRICT;

-- The fields of the canonical key as rows; a field that is not there has its default.
CREATE TABLE workload_fields (
  workload_id INTEGER NOT NULL REFERENCES workloads (id),
  field       TEXT NOT NULL,
  value       ANY NOT NULL,  -- integer, or a word
  PRIMARY KEY (workload_id, field)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
  id                INTEGER PRIMARY KEY,
  uid               TEXT NOT NULL UNIQUE
                    CONSTRAINT "uid is 32 hex digits" CHECK (length(uid) = 32 AND uid NOT GLOB '*[^0-9a-f]*'),
  tool_version      TEXT NOT NULL,
  model_version     TEXT NOT NULL,
  generator_version TEXT NOT NULL,
  halide_version    TEXT NOT NULL,
  git_revision      TEXT NOT NULL,
  command_line      TEXT NOT NULL,
  seed              TEXT NOT NULL  -- decimal text: 64 bits without sign
                    CONSTRAINT "seed is a decimal number" CHECK (seed <> '' AND seed NOT GLOB '*[^0-9]*'),
  host              TEXT NOT NULL,
  started_utc       TEXT NOT NULL
                    CONSTRAINT "started_utc is UTC like 2026-01-31T12:00:00Z" CHECK (started_utc
                    GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]*Z'),
  ended_utc         TEXT  -- NULL: still running, or killed
                    CONSTRAINT "ended_utc is UTC like 2026-01-31T12:00:00Z" CHECK (ended_utc
                    GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]*Z'),
  state             TEXT NOT NULL CHECK (state IN ('running', 'finished', 'interrupted', 'failed'))
) STRICT;

CREATE TABLE trials (
  id                   INTEGER PRIMARY KEY,
  run_id               INTEGER NOT NULL REFERENCES runs (id),
  number               INTEGER NOT NULL CHECK (number >= 1),  -- within the run
  workload_id          INTEGER NOT NULL REFERENCES workloads (id),
  device_id            INTEGER NOT NULL REFERENCES devices (id),
  model_version        TEXT NOT NULL,
  objective            TEXT NOT NULL,
  constraints          TEXT NOT NULL,
  variant              TEXT NOT NULL,
  schedule             TEXT NOT NULL,  -- canonical text; its knobs are in trial_knobs
  status               TEXT NOT NULL CHECK (status IN
                         ('ok', 'infeasible', 'build_failed', 'run_failed', 'mismatch', 'timed_out')),
  -- predicted by the closed form: a lower bound
  bound_cycles         INTEGER CHECK (bound_cycles >= 0),
  bound_us             REAL CHECK (bound_us >= 0),
  -- predicted by the event simulation
  simulated_cycles     INTEGER CHECK (simulated_cycles >= 0),
  simulated_us         REAL CHECK (simulated_us >= 0),
  -- measured on a machine
  measured_min_us      REAL CHECK (measured_min_us >= 0),
  measured_median_us   REAL CHECK (measured_median_us >= 0),
  measured_repetitions INTEGER CHECK (measured_repetitions >= 0),
  measured_threads     INTEGER CHECK (measured_threads >= 0),
  measured_host        TEXT,
  measured_conditions  TEXT,
  message              TEXT NOT NULL,  -- why the status is not ok
  UNIQUE (run_id, number),
  CONSTRAINT "a measurement is complete or absent" CHECK (
    (measured_min_us IS NULL) = (measured_median_us IS NULL) AND
    (measured_min_us IS NULL) = (measured_repetitions IS NULL) AND
    (measured_min_us IS NULL) = (measured_threads IS NULL) AND
    (measured_min_us IS NULL) = (measured_host IS NULL) AND
    (measured_min_us IS NULL) = (measured_conditions IS NULL))
) STRICT;
CREATE INDEX trials_by_workload ON trials (workload_id);
CREATE INDEX trials_not_ok ON trials (status) WHERE status <> 'ok';
CREATE INDEX trials_measured ON trials (workload_id, device_id, measured_median_us)
  WHERE measured_median_us IS NOT NULL;

CREATE TABLE trial_knobs (
  trial_id INTEGER NOT NULL REFERENCES trials (id),
  knob     TEXT NOT NULL,
  value    ANY NOT NULL,  -- integer, or a word
  PRIMARY KEY (trial_id, knob)
) STRICT, WITHOUT ROWID;

CREATE TABLE trial_traffic (
  trial_id INTEGER NOT NULL REFERENCES trials (id),
  path     TEXT NOT NULL,
  bytes    INTEGER NOT NULL CHECK (bytes >= 0),  -- over the whole chip, counted from the tile program
  PRIMARY KEY (trial_id, path)
) STRICT, WITHOUT ROWID;

-- How a best was found, and how far the claim reaches. Proofs of replaced answers stay.
CREATE TABLE proofs (
  id                      INTEGER PRIMARY KEY,
  trial_id                INTEGER NOT NULL REFERENCES trials (id),
  strategy                TEXT NOT NULL,
  grid                    TEXT NOT NULL,
  points                  INTEGER NOT NULL CHECK (points >= 0),
  feasible_points         INTEGER NOT NULL CHECK (feasible_points >= 0),
  cut_points              INTEGER NOT NULL CHECK (cut_points >= 0),  -- never evaluated: their bound was no better
  simulated_points        INTEGER NOT NULL CHECK (simulated_points >= 0),
  measured_points         INTEGER NOT NULL CHECK (measured_points >= 0),
  best_remaining_bound_us REAL,  -- NULL: nothing is left
  proved_optimal          INTEGER NOT NULL CHECK (proved_optimal IN (0, 1)),  -- of this grid, in this model
  gap                     REAL,
  tie_rule                TEXT NOT NULL,
  seconds                 REAL NOT NULL,
  stored_utc              TEXT NOT NULL
                          CONSTRAINT "stored_utc is UTC like 2026-01-31T12:00:00Z" CHECK (stored_utc
                          GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]*Z')
) STRICT;
CREATE INDEX proofs_by_trial ON proofs (trial_id);

-- Points that were infeasible, by the first limit they violate.
CREATE TABLE proof_limits (
  proof_id   INTEGER NOT NULL REFERENCES proofs (id),
  limit_name TEXT NOT NULL,
  points     INTEGER NOT NULL CHECK (points >= 0),
  PRIMARY KEY (proof_id, limit_name)
) STRICT, WITHOUT ROWID;

-- The answer to a question. Only a question that is equal in every field is served with it.
CREATE TABLE bests (
  id                INTEGER PRIMARY KEY,
  workload_id       INTEGER NOT NULL REFERENCES workloads (id),
  device_hash       TEXT NOT NULL,
  model_version     TEXT NOT NULL,
  generator_version TEXT NOT NULL,
  variant_filter    TEXT NOT NULL,
  objective         TEXT NOT NULL,
  constraints       TEXT NOT NULL,
  grid              TEXT NOT NULL,
  host              TEXT NOT NULL,  -- CPU model where the objective is measured, else empty
  trial_id          INTEGER NOT NULL REFERENCES trials (id),
  proof_id          INTEGER NOT NULL REFERENCES proofs (id),
  stored_utc        TEXT NOT NULL
                    CONSTRAINT "stored_utc is UTC like 2026-01-31T12:00:00Z" CHECK (stored_utc
                    GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]*Z'),
  UNIQUE (workload_id, device_hash, model_version, generator_version, variant_filter, objective, constraints,
          grid, host)
) STRICT;
CREATE INDEX bests_by_time ON bests (stored_utc);
CREATE INDEX bests_by_trial ON bests (trial_id);
CREATE INDEX bests_by_proof ON bests (proof_id);

-- Generated code. The same kernel emitted again replaces its row.
CREATE TABLE kernels (
  id                INTEGER PRIMARY KEY,
  trial_id          INTEGER NOT NULL REFERENCES trials (id),
  name              TEXT NOT NULL,
  target            TEXT NOT NULL,
  halide_version    TEXT NOT NULL,
  generator_version TEXT NOT NULL,
  stored_utc        TEXT NOT NULL,
  UNIQUE (trial_id, name, target, halide_version, generator_version)
) STRICT;

CREATE TABLE kernel_artefacts (
  kernel_id INTEGER NOT NULL REFERENCES kernels (id),
  file      TEXT NOT NULL CONSTRAINT "an artefact's file is a relative path" CHECK (file NOT GLOB '/*'),
  hash      TEXT NOT NULL,  -- XXH3-128
  PRIMARY KEY (kernel_id, file)
) STRICT, WITHOUT ROWID;

-- Runs of a kernel against the reference.
CREATE TABLE verdicts (
  id            INTEGER PRIMARY KEY,
  trial_id      INTEGER NOT NULL REFERENCES trials (id),
  verdict       TEXT NOT NULL,
  worst_ratio   REAL,  -- largest error / tolerance; NULL: an output was not a number
  failures      INTEGER NOT NULL CHECK (failures >= 0),
  outputs       INTEGER NOT NULL CHECK (outputs >= 0),
  gate          TEXT NOT NULL,
  inputs        TEXT NOT NULL,
  output_digest TEXT NOT NULL,
  target        TEXT NOT NULL,
  message       TEXT NOT NULL,
  checked_utc   TEXT NOT NULL
                CONSTRAINT "checked_utc is UTC like 2026-01-31T12:00:00Z" CHECK (checked_utc
                GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]*Z')
) STRICT;
CREATE INDEX verdicts_by_trial ON verdicts (trial_id);

-- Views for people.

-- What the database answers with.
CREATE VIEW best AS
SELECT w.workload_key AS workload, d.name AS device, b.variant_filter, b.objective, b.constraints, b.grid, b.host,
       t.schedule, t.bound_us, t.simulated_us, t.measured_min_us, t.measured_median_us,
       p.strategy, p.proved_optimal, p.gap, p.points, p.feasible_points, p.cut_points, p.simulated_points,
       p.measured_points,
       (SELECT v.verdict FROM verdicts v WHERE v.trial_id = t.id ORDER BY v.checked_utc DESC, v.id DESC LIMIT 1)
         AS verdict,
       b.device_hash, b.model_version, b.generator_version, b.stored_utc, t.id AS trial_id
FROM bests b
JOIN trials t ON t.id = b.trial_id
JOIN proofs p ON p.id = b.proof_id
JOIN workloads w ON w.id = b.workload_id
JOIN devices d ON d.id = t.device_id;

-- The fastest measured trial of each workload, device and machine, whatever the question was.
CREATE VIEW best_measured AS
SELECT workload, device, device_hash, measured_host, measured_threads, schedule, measured_min_us,
       measured_median_us, measured_repetitions, measured_conditions, bound_us, trial_id
FROM (SELECT w.workload_key AS workload, d.name AS device, d.hash AS device_hash, t.measured_host,
             t.measured_threads, t.schedule, t.measured_min_us, t.measured_median_us, t.measured_repetitions,
             t.measured_conditions, t.bound_us, t.id AS trial_id,
             row_number() OVER (PARTITION BY t.workload_id, t.device_id, t.measured_host, t.measured_threads
                                ORDER BY t.measured_median_us, t.measured_min_us, t.id) AS place
      FROM trials t
      JOIN workloads w ON w.id = t.workload_id
      JOIN devices d ON d.id = t.device_id
      WHERE t.status = 'ok' AND t.measured_median_us IS NOT NULL)
WHERE place = 1;

CREATE VIEW failures AS
SELECT w.workload_key AS workload, d.name AS device, t.schedule, t.status, t.message, r.started_utc AS run_started_utc,
       r.command_line, t.run_id, t.id AS trial_id
FROM trials t
JOIN workloads w ON w.id = t.workload_id
JOIN devices d ON d.id = t.device_id
JOIN runs r ON r.id = t.run_id
WHERE t.status <> 'ok';

-- Content of each device that was stored last.
CREATE VIEW current_devices AS
SELECT id, name, hash, stored_utc
FROM (SELECT id, name, hash, stored_utc,
             row_number() OVER (PARTITION BY name ORDER BY stored_utc DESC, hash) AS place
      FROM devices)
WHERE place = 1;

-- Answers that rest on numbers or formulas which the database has seen replaced. (A device file that changed
-- since the last run is only known to the tool: `tilewright query stale`.)
CREATE VIEW stale AS
SELECT w.workload_key AS workload, d.name AS device, b.objective, b.constraints, b.grid, t.schedule,
       CASE WHEN c.hash <> b.device_hash THEN 'device content is now ' || c.hash || ', was ' || b.device_hash
            ELSE 'model version is now ' || m.model_version || ', was ' || b.model_version END AS stale_because,
       b.stored_utc, t.id AS trial_id
FROM bests b
JOIN trials t ON t.id = b.trial_id
JOIN workloads w ON w.id = b.workload_id
JOIN devices d ON d.id = t.device_id
JOIN current_devices c ON c.name = d.name
CROSS JOIN (SELECT model_version FROM runs ORDER BY started_utc DESC, id DESC LIMIT 1) m
WHERE c.hash <> b.device_hash OR m.model_version <> b.model_version;

-- One line for each workload and device: how much was tried, and the lowest figure of each kind.
CREATE VIEW per_layer AS
SELECT w.workload_key AS workload, d.name AS device, d.hash AS device_hash, count(*) AS trials,
       sum(t.status <> 'ok') AS failed_trials,
       min(t.bound_us) FILTER (WHERE t.status = 'ok') AS lowest_bound_us,
       min(t.simulated_us) FILTER (WHERE t.status = 'ok') AS lowest_simulated_us,
       min(t.measured_median_us) FILTER (WHERE t.status = 'ok') AS lowest_measured_median_us
FROM trials t
JOIN workloads w ON w.id = t.workload_id
JOIN devices d ON d.id = t.device_id
GROUP BY t.workload_id, t.device_id;
