#pragma once

#include <atomic>
#include <functional>

#include "mapper/common/side_thread.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/leftovers.h"
#include "sluice/mapper/relaxed_bound.h"
#include "told_bound.h"

namespace sluice {

/// relaxed_bound(), on a thread of its own beside a search that has not ended after a moment: cut
/// by cut, again where a better mapping in hand allows a better bound, or chains know more.
class RelaxedBound {
 public:
  /// All of them must outlive it. `cancel` ends it as well; `tell` is called on its thread.
  /// `has_chains`: whether to ask chains what lies inside of the cuts.
  RelaxedBound(const BoundProblem& problem, const MapperOptions& options,
               const Incumbent& incumbent, const ToldBound& told, bool has_chains,
               const std::atomic<bool>* cancel, std::function<void(double)> tell);

  /// Whether there is something to search, as far as it looked.
  bool is_at_work() const { return thread_.is_at_work(); }
  /// Throws what the search threw. `leftovers`: as in MapperControl.
  void finish(Leftovers* leftovers);

 private:
  struct Rung;

  void search();
  bool search(const BoundProblem& bounded, const CostBounds& all, double limit, double elapsed,
              Rung* rung);
  bool takes_inner_chains() const;
  bool ask_inner_chains(const BoundProblem& bounded, const CostBounds& all, Rung* rung);

  const BoundProblem& problem_;
  const MapperOptions& options_;
  const Incumbent& incumbent_;
  bool has_chains_;
  OwnBound bound_;
  Leftovers leftovers_;
  SideThread thread_;  ///< last: it uses all of the others
};

}  // namespace sluice
