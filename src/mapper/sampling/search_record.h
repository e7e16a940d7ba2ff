#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "mapper/sampling/space/map_space.h"

namespace sluice::sampling {

/// Mappings that a search without an evaluation budget of its own prices at most.
inline constexpr double kDefaultEvaluations = 1e5;

/// Budget, best mappings and convergence of one search. Candidates are added in an order that does
/// not depend on threads; then nor does anything here but times.
class SearchRecord {
 public:
  SearchRecord(const MapSpace& space, const MapperControl& control,
               std::chrono::steady_clock::time_point start);

  /// Price of a mapping by the first objective; nothing: illegal.
  std::optional<double> objective(const std::optional<CostTotals>& totals) const;
  void add(const Genome& genome, const std::optional<CostTotals>& totals);
  /// Counts a draw that led nowhere as an evaluation, so that every search ends.
  void add_dead_end() { ++evaluations_; }
  void set_considered(double mappings) { considered_ = mappings; }
  void set_budget(double evaluations) { budget_ = evaluations; }
  double evaluations() const { return static_cast<double>(evaluations_); }

  bool cancelled() const;
  const std::atomic<bool>* cancel() const { return control_.cancel; }
  bool over() const { return cancelled() || remaining() <= 0; }
  /// Evaluations left.
  double remaining() const { return budget_ - static_cast<double>(evaluations_); }
  /// Share of the budget that is used, of time where only time is limited.
  double progress() const;
  void report(const char* phase) const;
  /// What the best so far costs; null: there is none.
  const CostTotals* best() const { return found_.empty() ? nullptr : &found_.front().totals; }
  /// The best so far (MapperOptions::top of them), or the front.
  std::vector<Genome> elite() const;

  /// The best mappings, priced again in full. `space` in words; `optimal`: nothing was left out.
  tl::expected<MapperResult, NoMapping> finish(const std::string& space, bool optimal) const;

 private:
  struct Found {
    Genome genome;
    CostTotals totals;
  };
  bool is_front() const;
  std::vector<double> criteria(const CostTotals& totals) const;
  bool keep(Found found);
  MappedResult price(const Found& found) const;  ///< in full
  double seconds() const;

  const MapSpace& space_;
  const MapperControl& control_;
  std::chrono::steady_clock::time_point start_;
  std::vector<ComponentId> limited_;  ///< memories whose peaks are criteria
  double budget_;
  std::uint64_t evaluations_ = 0;
  double considered_ = 0;
  std::vector<Found> found_;  // best first, or a front
  std::vector<ConvergencePoint> convergence_;
};

}  // namespace sluice::sampling
