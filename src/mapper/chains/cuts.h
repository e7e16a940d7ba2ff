#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "chain_choices.h"
#include "fused_run.h"
#include "mapper/sampling/space/map_space.h"
#include "passing_bits.h"
#include "runs.h"
#include "ties.h"

namespace sluice::chains {

/// Which neighbours to fuse, of all Einsums at once: the cheapest cut of the cascade into runs,
/// single Einsums and what is fused now. What a run costs is estimated by what it keeps from the
/// outermost memory until it was built; estimates are mostly too low, so that the cut leads to runs
/// that are worth it. How each is fused is looked for by random changes, further with each call.
class Cuts {
 public:
  /// Neighbours [first, last] that change together: the runs among them are fused, the others
  /// share nothing.
  struct Part {
    std::size_t first = 0, last = 0;
    std::vector<FusedRun> runs;
  };

  /// All must outlive it.
  Cuts(const Runs& runs, const PassingBits& passing, ChainChoices* choices);

  /// The part of the best cut that gains most on the mapping, which costs `whole`, and was not
  /// drawn before; nothing where none gains anything.
  std::optional<Part> draw(const sampling::Genome& now, const Ties& ties, const CostTotals& whole,
                           sampling::RandomSource* random);
  /// A run of such a part costs so much; nothing: it cannot be so.
  void tell(const FusedRun& fused, const std::optional<CostTotals>& cost);

 private:
  using Key = std::vector<std::int64_t>;
  using Span = Ties::Span;
  struct Candidate {
    FusedRun fused;  ///< of the first run
    double bits;     ///< that pass
    Key key, shape;
  };
  /// Runs of Einsums that are alike have one.
  struct Known {
    const Run* first = nullptr;
    std::vector<Candidate> best;  ///< some that are not built, best first
    std::optional<FusedRun> built;
    CostTotals cost;  ///< of it
    std::set<Key> told;
    std::map<Key, double> beyond;  ///< by shapes: cost beyond the estimate, as a share of the whole
    double least_beyond = std::numeric_limits<double>::infinity();  ///< of all shapes
    std::map<Key, int> refused;                                     ///< how often, by shapes
  };
  /// A piece of a cut.
  struct Piece {
    std::size_t first = 0, last = 0;
    bool is_now = false;
    double cost = 0;
    const Run* run = nullptr;         ///< to be fused so:
    const FusedRun* fused = nullptr;  ///< one alike
  };

  void look(sampling::RandomSource* random);
  void look(int n_drawn, int n_varied, Known* known, sampling::RandomSource* random) const;
  void take(std::optional<FusedRun> fused, Known* known) const;
  Known& known(const Run& run) {
    return known_[class_of_[static_cast<std::size_t>(&run - runs_.all().data())]];
  }
  double passing(const FusedRun& fused) const;
  double value_of(const CostTotals& cost) const { return worth_(cost.energy_j, cost.latency_s); }
  /// Of a run without what alike ones cost beyond it; infinite where an Einsum has no price alone.
  double estimate(const Run& run, double bits) const;
  double beyond(const Known& known, const Key& shape) const;
  FusedRun as_in(const Run& run, const FusedRun& fused) const;
  void price(const sampling::Genome& now, const Ties& ties, const std::vector<Span>& groups,
             const CostTotals& whole);
  std::vector<Piece> best_cut(const std::vector<Span>& groups) const;

  const Runs& runs_;
  const PassingBits& passing_;
  ChainChoices& choices_;
  std::vector<Known> known_;
  std::vector<std::size_t> class_of_;  ///< per run
  bool has_looked_ = false;
  std::set<Key> drawn_;
  // Per Einsum:
  std::vector<double> plain_bits_;  ///< that pass where it shares nothing
  std::vector<std::pair<sampling::ChoicePtr, std::optional<CostTotals>>> priced_;
  std::map<std::uint32_t, std::optional<CostTotals>> plain_;  ///< alone; by list of alike ones
  // What things are worth at the moment:
  EinsumChains::Worth worth_;
  double whole_ = 1, per_bit_ = 0;   ///< that passes the outermost memory
  std::vector<double> now_, alone_;  ///< per Einsum; infinite: it has no price
  std::vector<double> rest_before_;  ///< of those before the i-th, alone and without what passes
  std::vector<int> unknown_before_;  ///< how many of them have no price
};

}  // namespace sluice::chains
