#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "mapper/common/side_thread.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/leftovers.h"
#include "sluice/mapper/mapper.h"

namespace sluice {

class BestOfWalks;

/// Random walks through the space, on a thread of their own beside a search that has its first
/// mapping late: populations and annealing in turn, each longer than the one before. What they find
/// is offered to the incumbent. They begin after a moment, so that a search that ends at once has
/// the machine to itself, and take a small share of a long search's time, half of it with a budget.
class SideWalks {
 public:
  /// In seconds: how long the search is alone, and how long walks take then; beyond that, which
  /// share of the time that passes.
  struct Pace {
    double head_start, free, share;
  };

  /// `problem`, `incumbent` must outlive the walks. `leftovers`: as in MapperControl. `best`: of
  /// walks beside them; null: there are none yet. `leaves_it`: whether
  /// little is left to be found but a proof; may be empty.
  SideWalks(const BoundProblem& problem, const MapperOptions& options, Incumbent* incumbent,
            Leftovers* leftovers, std::shared_ptr<BestOfWalks> best = nullptr,
            std::function<bool()> leaves_it = {});

  /// Without pauses from now on.
  void keep_on() { thread_.wake(); }
  /// Waits, so long at most, until the incumbent has a mapping or the walks have ended.
  void wait_for_a_mapping(double seconds);
  /// Where the search has nothing, or leaves the rest of its time to the walks: one on each of its
  /// threads but those of which `n_taken` says that others have them, until `cancel` is set (which
  /// it may be already), or that long. Throws what one of them threw.
  void take_over(const std::atomic<bool>* cancel, double seconds,
                 const std::function<int()>& n_taken = {});
  /// Ends the walks. Throws what one of them threw.
  void finish();
  /// Mappings priced, once they have ended.
  double evaluations() const { return evaluations_ + evaluations_of_others_; }

 private:
  void walk_on(SideThread* thread);
  /// Until the walks' share of what has passed is more than what they had.
  double seconds_until_next(double walked, double elapsed) const;
  /// So long at most, and until the walks have ended.
  template <class Condition>
  void wait_while(const Condition& condition, double seconds);

  const BoundProblem& problem_;
  MapperOptions options_;
  Incumbent* incumbent_;
  Leftovers* leftovers_;
  std::shared_ptr<BestOfWalks> best_;
  std::function<bool()> leaves_it_;
  std::shared_ptr<void> walks_;  ///< for them
  Pace pace_;
  bool has_budget_;
  double evaluations_ = 0, evaluations_of_others_ = 0;
  int n_others_ = 0;   ///< that may take over with it
  SideThread thread_;  ///< last: it uses all of the others
};

/// Of a front of several objectives: walks for each but the first, and for energy times latency
/// where both are among them, beside those for the first. What is best in one of them, the front
/// has.
class CornerWalks {
 public:
  /// As SideWalks.
  CornerWalks(const BoundProblem& problem, const MapperOptions& options, Leftovers* leftovers);
  /// Ends the walks. Throws what one of them threw.
  void finish();
  /// What they found, once they have ended.
  std::vector<MappedResult> found() const;
  double evaluations() const;

 private:
  struct Corner {
    Incumbent incumbent;
    std::optional<SideWalks> walks;
  };
  std::vector<std::unique_ptr<Corner>> corners_;
};

}  // namespace sluice
