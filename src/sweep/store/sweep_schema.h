#pragma once

namespace sluice {

/// What makes an SQLite file one of sweeps: `application_id` is "Slui" in ASCII.
inline constexpr int kSweepApplication = 0x536c7569;
inline constexpr int kSweepSchemaVersion = 1;

/// The tables; docs/sweeps.md says what is in them.
inline constexpr const char* kSweepTables = R"sql(
CREATE TABLE texts (key TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sweeps (key TEXT PRIMARY KEY, n_points INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE points (
  sweep TEXT NOT NULL REFERENCES sweeps, position INTEGER NOT NULL, run TEXT NOT NULL,
  settings TEXT NOT NULL,
  PRIMARY KEY (sweep, position)) WITHOUT ROWID;
CREATE TABLE runs (
  key TEXT PRIMARY KEY, workload TEXT NOT NULL, arch TEXT NOT NULL,
  workload_text TEXT NOT NULL REFERENCES texts, arch_text TEXT NOT NULL REFERENCES texts,
  status TEXT NOT NULL, reason TEXT NOT NULL, mapper TEXT NOT NULL, guarantee TEXT NOT NULL,
  bound REAL, area_m2 REAL, operations REAL NOT NULL, ended_by TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE mappings (
  run TEXT NOT NULL REFERENCES runs, number INTEGER NOT NULL,
  energy_j REAL, latency_s REAL, edp_js REAL, leak_energy_j REAL,
  operations_per_s REAL, operations_per_j REAL, power_w REAL, mapping TEXT NOT NULL,
  PRIMARY KEY (run, number)) WITHOUT ROWID;
CREATE TABLE components (
  run TEXT NOT NULL REFERENCES runs, number INTEGER NOT NULL, position INTEGER NOT NULL,
  component TEXT NOT NULL, energy_j REAL, of_peak REAL, busy REAL, peak_bits REAL,
  capacity_bits REAL,
  PRIMARY KEY (run, number, position)) WITHOUT ROWID;
CREATE TABLE timings (
  run TEXT PRIMARY KEY REFERENCES runs, seconds REAL NOT NULL,
  mappings_evaluated REAL NOT NULL) WITHOUT ROWID;
CREATE VIEW best AS
  SELECT points.sweep, points.position, points.settings, runs.*, mappings.energy_j,
         mappings.latency_s, mappings.edp_js, mappings.leak_energy_j, mappings.operations_per_s,
         mappings.operations_per_j, mappings.power_w
  FROM points JOIN runs ON runs.key = points.run
  LEFT JOIN mappings ON mappings.run = runs.key AND mappings.number = 1
  ORDER BY points.sweep, points.position;
)sql";

}  // namespace sluice
