#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/mapper.h"
#include "sluice/model/problem_chains.h"

namespace sluice {

/// What the chains of all Einsums say about all mappings of a problem (see ProblemChains), refined
/// for as long as there is time; of Einsums that are apart, also the mappings that they lead to.
class ChainBound {
 public:
  /// `bounded`: the problem with what constraints ask of its memories and spatial loops. Both must
  /// outlive it. `incumbent`: is offered mappings; may be null. Nothing where the objective is the
  /// latency, of which chains know no more than others.
  static std::optional<ChainBound> of(const BoundProblem& problem, const BoundProblem& bounded,
                                      const MapperOptions& options, Incumbent* incumbent,
                                      int threads, const std::atomic<bool>* cancel);

  /// At most so many seconds, until `cancel` is set, or the bound is above the best mapping that is
  /// known; tells the bound. False where no more is to be known.
  bool refine(double seconds, const Incumbent& known, const std::atomic<bool>* cancel,
              const std::function<void(double)>& tell);
  /// The best mapping that chains led to, if it is no worse than the bound.
  std::optional<MappedResult> proven() const;
  /// Whether each Einsum's best chain makes the best mapping, but for what an order or another
  /// memory's time may cost.
  bool are_apart() const { return chains_->are_apart(); }
  /// Tile shapes and memories that the bound covers.
  double n_states() const { return chains_->n_states(); }
  /// Mappings priced.
  double evaluations() const { return evaluations_; }

 private:
  ChainBound(const BoundProblem& problem, const BoundProblem& bounded, const MapperOptions& options,
             Incumbent* incumbent, int threads, ProblemChains::Goal goal,
             const std::atomic<bool>* cancel);
  void offer_mappings();
  void offer(std::vector<Chain> chains);  ///< one for each Einsum

  const BoundProblem& problem_;
  const MapperOptions& options_;
  Incumbent* incumbent_;
  int threads_;
  std::optional<MappedResult> best_;
  double evaluations_ = 0;
  std::unique_ptr<ProblemChains> chains_;
};

}  // namespace sluice
