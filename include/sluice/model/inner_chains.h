#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "sluice/model/binding.h"
#include "sluice/model/einsum_chains.h"
#include "sluice/model/relaxed_machine.h"

namespace sluice {

/// What Einsums cost inside of a cut at least, by what they move at the memories down to there: the
/// less these move, the more do those further in. Where they cost a share of their energy, the
/// cheapest chain (see EinsumChains) says so much of both together; several shares make a convex
/// curve. Of mappings with perfect factors whose Einsums share no node of a tensor but the first.
class InnerChains {
 public:
  /// `problem` must outlive it. `j_per_s`: what a second is worth in mappings of interest: how far
  /// slow ways to spread an Einsum are looked at. `cancel` may be null. `most_spreads`: of
  /// EinsumChains.
  InnerChains(const BoundProblem& problem, ComponentId cut, double j_per_s,
              const std::atomic<bool>* cancel, std::size_t most_spreads = kMostSpreads);
  InnerChains(const InnerChains&) = delete;
  InnerChains& operator=(const InnerChains&) = delete;
  ~InnerChains();

  /// Finds out a little more; false where there is no more to know. `cancel` may be null.
  bool refine(const std::atomic<bool>* cancel);
  /// What is known by now.
  InnerWays ways() const;

 private:
  struct Part;

  const BoundProblem& problem_;
  ComponentId cut_;
  double j_per_s_;
  std::size_t most_spreads_;
  std::vector<std::unique_ptr<Part>> parts_;  ///< one for all Einsums that are equal
  std::vector<std::size_t> part_of_;          ///< per Einsum; their number: none
  std::size_t round_ = 0, next_part_ = 0;
};

}  // namespace sluice
