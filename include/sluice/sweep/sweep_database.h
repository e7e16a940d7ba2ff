#pragma once

#include <memory>
#include <optional>
#include <string>

#include "sluice/sweep/sweep.h"

namespace sluice {

/// Whether a file begins as SQLite databases do.
bool is_sweep_database(const std::string& path);

/// The runs of sweeps in an SQLite file (docs/sweeps.md has its tables). Safe to share between
/// threads, and the file between processes. Whatever ends the process, a run is there whole or not
/// at all, and one that was saved stays.
class SweepDatabase {
 public:
  /// Opens or makes the file; an empty path keeps everything in memory. Mistakes: a file that is no
  /// database, or one of something else or another version; a folder that cannot be written.
  static Result<SweepDatabase> open(const std::string& path);
  SweepDatabase(SweepDatabase&&) noexcept;
  SweepDatabase& operator=(SweepDatabase&&) noexcept;
  ~SweepDatabase();

  /// Adds the sweep and its points, where it is not there yet.
  Result<void> save(const SweepPlan& plan);
  /// Adds a run and the specs it is of, where it is not there yet.
  Result<void> save(const SweepRun& run, const BoundProblem& problem);
  /// The sweeps that were saved, with the keys and settings of their points, for `sweep_table`.
  Result<std::vector<SweepPlan>> sweeps() const;
  Result<bool> has(const std::string& key) const;
  Result<std::optional<SweepRun>> find(const std::string& key) const;

 private:
  class Impl;
  explicit SweepDatabase(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice
