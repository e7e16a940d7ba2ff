#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "einsum_search.h"
#include "mapper/sampling/space/fanout_use.h"
#include "mapper/sampling/space/map_space.h"
#include "sluice/mapper/mapper.h"

namespace sluice::chains {

/// How an Einsum exchanges its tensors.
struct Exchange {
  EinsumSearch::Backings backings;
  ChainSteps outermost;  ///< loops that it shares, and nodes of shared tensors below them
  /// What it may take of inner memories, as others hold something there, too: a half, so often
  /// halved.
  int halvings = 0;
};

/// Good choices of Einsums below the loops that they share with others, by chains. What was found
/// is remembered. Not safe to share between threads.
class ChainChoices {
 public:
  /// All must outlive it; `cancel` may be null.
  ChainChoices(sampling::MapSpace* space, sampling::FanoutUse* use,
               const std::atomic<bool>* cancel);

  /// A choice that exchanges all tensors as `like` does; null where chains know none. `whole`: what
  /// the whole mapping costs about, which says what energy and latency are worth.
  /// `halvings`: of Exchange.
  sampling::ChoicePtr of(std::size_t einsum, const sampling::EinsumChoice& like,
                         const CostTotals& whole, int halvings = 0);
  /// One that exchanges them so; null where chains know none.
  sampling::ChoicePtr of(std::size_t einsum, const Exchange& exchange, const CostTotals& whole);
  /// Looks for so long (s) at more ways to spread the points of a mapping's Einsums, most of all of
  /// those that cost most; they exchange what they do. The mapping with those that are better;
  /// nothing where none is. `whole`: what it costs.
  std::optional<sampling::Genome> refine(const sampling::Genome& now, const CostTotals& whole,
                                         double seconds);

 private:
  using Key = std::vector<std::int64_t>;
  struct Known {
    sampling::ChoicePtr choice;
    bool is_asked = false;                 ///< find() has looked for one
    std::unique_ptr<EinsumSearch> search;  ///< that goes on, of the mapping that is refined
    double seconds = 0;                    ///< that refine() took
    bool is_open = true;                   ///< other ways may be better
    int halvings = 0;                      ///< of the whole room, that refine() needs beside others
  };
  /// Einsums of a mapping that have the same choices by chains.
  struct Alike {
    Known* known;
    int* halvings;  ///< that it needs, of those that have the whole room
    Exchange exchange;
    std::vector<std::size_t> einsums;
    double cost = 0;   ///< of the first one
    double least = 0;  ///< of it by chains, or as it is
  };
  Key key_of(std::size_t einsum, const Exchange& exchange, bool is_alike) const;
  sampling::ChoicePtr find(std::size_t einsum, const Exchange& exchange,
                           const fused::Compatibility* like, const CostTotals& whole);
  void know(std::size_t einsum, const sampling::ChoicePtr& choice, int halvings);
  std::vector<Alike> alike_in(const sampling::Genome& now, const EinsumChains::Worth& worth);
  void look(const sampling::Genome& now, const EinsumChains::Worth& worth, double seconds,
            std::vector<Alike>* all);
  /// False: it does not fit beside the others.
  bool take(const Alike& alike, const EinsumChains::Worth& worth, sampling::Genome* now,
            double* objective) const;

  sampling::MapSpace& space_;
  sampling::FanoutUse& use_;
  const std::atomic<bool>* cancel_;
  BoundProblem bounded_;
  std::map<Key, Known> known_;
};

}  // namespace sluice::chains
