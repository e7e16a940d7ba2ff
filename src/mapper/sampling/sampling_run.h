#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "drawer.h"
#include "search_record.h"

namespace sluice::sampling {

/// A mapping that a search made, and its price.
struct Candidate {
  std::optional<Genome> genome;  ///< nothing: a dead end
  std::optional<CostTotals> totals;
  bool made = false;  ///< false: the search was cancelled before
};

/// How far a search, or a part of it, has come: 1 where it ends.
using Progress = std::function<double()>;

/// What every search of this kind has: space, filter, record; candidates in batches on threads.
class SamplingRun {
 public:
  /// Templates of each Einsum, about: enough to draw from; for a search that lists the space.
  static constexpr std::size_t kEnoughTemplates = 6000;
  static constexpr std::size_t kAllTemplates = std::numeric_limits<std::size_t>::max();
  SamplingRun(const BoundProblem& problem, const MapperOptions& options,
              const MapperControl& control, std::size_t templates = kEnoughTemplates);

  const MapSpace& space() const { return space_; }
  MapSpace& space() { return space_; }
  FanoutUse& use() { return use_; }
  SearchRecord& record() { return record_; }
  const SearchRecord& record() const { return record_; }
  /// Of the whole budget.
  Progress progress() const {
    return [this] { return record_.progress(); };
  }
  /// Where streams of random numbers for candidates begin; others are free for whoever wants them.
  static constexpr std::uint64_t kCandidateStreams = std::uint64_t{1} << 32U;

  /// With a random stream of its own.
  Drawer drawer() {
    return {space_, &use_, RandomSource(space_.options().seed, next_stream_++), record_.cancel()};
  }
  /// Makes `n` candidates (fewer at the end of the budget), each by `make` with a random stream of
  /// its own, prices and records them in order.
  std::vector<Candidate> batch(
      std::size_t n, const std::function<std::optional<Genome>(std::size_t, Drawer&)>& make);

  tl::expected<MapperResult, NoMapping> finish(bool optimal = false) const;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  MapSpace space_;
  FanoutUse use_;
  SearchRecord record_;
  std::uint64_t next_stream_ = kCandidateStreams;
};

}  // namespace sluice::sampling
