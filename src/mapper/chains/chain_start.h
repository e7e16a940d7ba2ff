#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "mapper/sampling/space/fanout_use.h"
#include "mapper/sampling/space/map_space.h"
#include "sluice/mapper/mapper.h"

namespace sluice::chains {

/// A first mapping of a network: good chains of its Einsums one by one, each with all of its
/// tensors in the outermost memory. Einsums that are alike but for names have one chain.
class ChainStart {
 public:
  /// `problem`, `options`, `cancel` (may be null) must outlive it.
  ChainStart(const BoundProblem& problem, const MapperOptions& options,
             const std::atomic<bool>* cancel);
  ~ChainStart();

  /// Looks at up to so many ways more to spread each Einsum's points, until one leads to a choice
  /// of `space`. `known`: what a whole mapping costs about, which says what energy and latency of a
  /// part are worth; null: as the bounds say. False: some Einsum has none.
  bool search(std::size_t most_ways, const CostTotals* known, sampling::MapSpace* space,
              sampling::FanoutUse* use);
  /// Looks at more ways for so long (s), most of all for Einsums that cost most, from what search()
  /// found on. Whether one is better now.
  bool improve(double seconds, const CostTotals& known, sampling::MapSpace* space,
               sampling::FanoutUse* use);
  /// What was found, in another space from now on.
  void move(const sampling::MapSpace& from, sampling::MapSpace* to);
  /// The best found; `others`, if not null, has choices for Einsums that have none. Nothing where
  /// one has none at all, or they do not join.
  std::optional<sampling::Genome> genome(const sampling::MapSpace& space,
                                         const sampling::Genome* others) const;

 private:
  struct Part;
  void add_parts(const sampling::MapSpace& space);
  CostTotals least_totals() const;

  const BoundProblem& problem_;
  const MapperOptions& options_;
  const std::atomic<bool>* cancel_;
  std::vector<std::unique_ptr<Part>> parts_;  ///< distinct ones
  std::vector<std::size_t> part_of_;          ///< per Einsum
};

}  // namespace sluice::chains
