#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "chain_choices.h"
#include "cuts.h"
#include "fused_run.h"
#include "mapper/sampling/space/random_source.h"
#include "passing_bits.h"
#include "runs.h"
#include "ties.h"

namespace sluice::chains {

/// Puts what neighbouring Einsums exchange with each other alone into an inner memory, below loops
/// that all of them share. Others that exchanged something with them below loops take it from the
/// outermost memory again. One Einsum after the other never comes there, as each must change with
/// all others. Which Einsums, memory and loops follows from the best cut of
/// them all, as far as that helps, or is drawn at random: of several, what keeps most bits from the
/// outermost memory for each Einsum that changes.
class RunFusion {
 public:
  /// All must outlive it.
  RunFusion(const sampling::MapSpace& space, ChainChoices* choices);

  /// Whether there is anything to exchange in an inner memory.
  bool empty() const { return runs_.all().empty(); }
  /// The mapping with some neighbours fused so; nothing where chains know none, or it does not
  /// join, and mostly where it would keep nothing from the outermost memory. `whole`: of
  /// ChainChoices::of().
  std::optional<sampling::Genome> draw(const sampling::Genome& now, const CostTotals& whole,
                                       sampling::RandomSource* random);

 private:
  /// One of the runs, more often one that keeps more.
  struct Picks {
    std::vector<double> up_to;  ///< per run, what it and those before it keep
    const Run& pick(const Runs& runs, sampling::RandomSource* random) const;
  };

  Picks picks(const Ties& ties) const;
  std::vector<std::size_t> tied_to(const Run& run, const Ties& ties) const;
  bool is_so(const sampling::Genome& now, const FusedRun& fused) const;
  double gain(const sampling::Genome& now, const FusedRun& fused, const Ties& ties,
              const std::vector<std::size_t>& tied) const;
  std::optional<FusedRun> draw_best(const sampling::Genome& now, const Ties& ties,
                                    sampling::RandomSource* random);
  std::optional<sampling::Genome> draw_cut(const sampling::Genome& now, const Ties& ties,
                                           const CostTotals& whole, sampling::RandomSource* random);
  std::optional<CostTotals> cost_of(const sampling::Genome& genome, std::size_t first,
                                    std::size_t last) const;
  bool trusts_cuts(const sampling::Genome& now, sampling::RandomSource* random);
  /// `exchange`: what else the Einsum exchanges in inner memories.
  Exchange exchange_of(const FusedRun& fused, std::size_t einsum, Exchange exchange) const;
  /// How an Einsum that changes exchanges its tensors then.
  struct Change {
    std::size_t einsum;
    Exchange exchange;
    bool is_fused;
  };
  using Exchanges = std::vector<Change>;
  /// Nothing where chains know no choice for one of them, which `failed` gets, or they do not join
  /// or have no room. `failed` may be null.
  std::optional<sampling::Genome> exchanged(const Exchanges& exchanges, const sampling::Genome& now,
                                            const CostTotals& whole, std::size_t* failed = nullptr);

  const sampling::MapSpace& space_;
  ChainChoices& choices_;
  Runs runs_;
  PassingBits passing_;
  Cuts cuts_;
  std::set<std::vector<std::int64_t>> drawn_;
  /// The last part of a cut that was drawn, as it exchanges its tensors.
  struct DrawnPart {
    std::size_t first = 0;
    std::vector<fused::Compatibility> exchanged;
  };
  std::optional<DrawnPart> last_cut_;
  int n_cuts_ = 0, n_taken_ = 0;
};

}  // namespace sluice::chains
