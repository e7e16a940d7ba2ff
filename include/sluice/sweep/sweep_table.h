#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/sweep/sweep_database.h"

namespace sluice {

inline constexpr const char* kSweepSchema = "sluice.sweep/1";

/// A value as it was given or as text; as a number (SI units) where it is one.
struct SweepCell {
  std::string text;
  std::optional<double> number;
};

/// A row for each point that was searched: what varies, then what was found.
struct SweepTable {
  std::vector<std::string> varied;   ///< names of the first columns
  std::vector<std::string> columns;  ///< all of them
  std::vector<std::vector<SweepCell>> rows;
  std::vector<std::string> workloads;  ///< per row: its workload, as this sweep tells them apart
  std::size_t n_points = 0;            ///< of the plan

  std::optional<std::size_t> find_column(const std::string& name) const;
};

/// The column that has what an objective minimises.
std::string objective_column(Objective objective);

/// The best run of one workload.
struct BestRun {
  std::string workload;
  std::size_t row = 0;
};

/// Of each workload that has a mapping, in order of appearance, the first row with the least value
/// of a column. Objectives of different workloads do not compare.
std::vector<BestRun> best_runs(const SweepTable& table, const std::string& objective);

Result<SweepTable> sweep_table(const SweepPlan& plan, const SweepDatabase& database);

/// Comma-separated values with a header (RFC 4180); numbers round-trip.
std::string csv_text(const SweepTable& table);

/// JSON, schema `sluice.sweep/1` (docs/sweeps.md). `objective`: the column that is minimised;
/// empty: nobody knows, and no run is called best.
std::string document_text(const SweepTable& table, const std::string& objective = "");

/// What is wrong with the name of a column, with the nearest one; nothing where there is one.
std::optional<Diagnostic> unknown_column(const SweepTable& table, const std::string& name);

/// A plot of one column over another, one line for each combination of the other things that vary,
/// as commands for gnuplot that write an image of this kind (`svg`, `png`, `pdf`). Mistakes: a
/// column that is not there (with the nearest name), or has no numbers.
Result<std::string> plot_commands(const SweepTable& table, const std::string& x,
                                  const std::string& y, const std::string& image_file);

}  // namespace sluice
