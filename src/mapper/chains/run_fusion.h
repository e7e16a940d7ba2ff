#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "chain_choices.h"
#include "mapper/sampling/random_source.h"

namespace sluice::chains {

/// Puts what neighbouring Einsums exchange with each other alone into an inner memory, below loops
/// that all of them share: over the instances outside of that memory, as many as there are, and in
/// time until it has room. Others that exchanged something with them below loops take it from the
/// outermost memory again. One Einsum after the other never comes there, as each must change with
/// all others. Which Einsums, memory and loops is drawn at random.
class RunFusion {
 public:
  /// All must outlive it.
  RunFusion(const sampling::MapSpace& space, ChainChoices* choices);

  /// Whether there is anything to exchange in an inner memory.
  bool empty() const { return runs_.empty(); }
  /// The mapping with some neighbours fused so; nothing where chains know none, or it does not
  /// join. `whole`: of ChainChoices::of().
  std::optional<sampling::Genome> draw(const sampling::Genome& now, const CostTotals& whole,
                                       sampling::RandomSource* random);

 private:
  /// Variables of the run's Einsums, one of each, that walk the same rank of all inner tensors.
  struct CommonLoop {
    std::vector<std::size_t> variables;  ///< per Einsum of the run
    std::int64_t size = 1;
    bool may_spread = true;  ///< not over the steps of a recurrence
  };
  /// Einsums [first, last].
  struct Run {
    std::size_t first = 0, last = 0;
    std::vector<TensorId> tensors;  ///< that they alone use
    std::vector<CommonLoop> loops;
    std::vector<ComponentId> memories;  ///< that may hold all of these tensors
  };
  struct SharedLoops;
  class Ties;

  std::optional<std::size_t> local_number(std::size_t einsum, TensorId tensor) const;
  std::optional<Run> run_of(std::size_t first, std::size_t last) const;
  std::vector<CommonLoop> common_loops(const Run& run) const;
  bool may_hold(const Run& run, ComponentId memory) const;
  double bits_of(TensorId tensor, ComponentId memory) const;
  double bits_of(const Run& run, ComponentId memory) const;
  double passing_bits(TensorId tensor) const;
  bool has_room(const Run& run, ComponentId memory) const;
  std::size_t n_indexed(const Run& run, const CommonLoop& loop) const;
  std::optional<SharedLoops> draw_loops(const Run& run, ComponentId memory,
                                        sampling::RandomSource* random) const;
  /// `exchange`: what else the Einsum exchanges in inner memories.
  Exchange exchange_of(const Run& run, std::size_t einsum, ComponentId memory,
                       const SharedLoops& loops, Exchange exchange) const;

  std::vector<std::size_t> tied_to(const Run& run, const Ties& ties) const;
  double saves(const Run& run, const Ties& ties) const;
  const Run& pick_run(const Ties& ties, sampling::RandomSource* random) const;
  /// Einsums that change, and how they exchange their tensors then.
  using Exchanges = std::vector<std::pair<std::size_t, Exchange>>;
  /// Nothing where chains know no choice for one of them, or they do not join.
  std::optional<sampling::Genome> exchanged(const Exchanges& exchanges, sampling::Genome now,
                                            const CostTotals& whole);
  bool is_new(const Run& run, ComponentId memory, const SharedLoops& loops,
              sampling::RandomSource* random);

  const sampling::MapSpace& space_;
  ChainChoices& choices_;
  std::optional<ComponentId> outermost_;  ///< memory
  std::vector<Run> runs_;
  std::set<std::vector<std::int64_t>> drawn_;
};

}  // namespace sluice::chains
