#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "budget_watch.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/leftovers.h"
#include "sluice/mapper/relaxed_bound.h"

namespace sluice {

/// What chains tell (see ChainBound), and relaxed_bound(), on a thread of its own beside a search
/// that has not ended after a moment: cut by cut, again where a better mapping in hand allows a
/// better bound.
class RelaxedBound {
 public:
  /// All of them must outlive it. `cancel` ends it as well; `tell` is called on its thread.
  /// `has_chains`: it is for it to ask what chains tell.
  RelaxedBound(const BoundProblem& problem, const MapperOptions& options,
               const Incumbent& incumbent, bool has_chains, const std::atomic<bool>* cancel,
               std::function<void(double)> tell);
  ~RelaxedBound() { stop(); }
  RelaxedBound(const RelaxedBound&) = delete;
  RelaxedBound& operator=(const RelaxedBound&) = delete;

  /// Throws what the search threw. `leftovers`: as in MapperControl.
  void finish(Leftovers* leftovers);

 private:
  struct Rung;

  void run();
  void search();
  bool search(const BoundProblem& bounded, const CostBounds& all, double limit, double elapsed,
              Rung* rung);
  bool takes_inner_chains() const;
  bool ask_inner_chains(const BoundProblem& bounded, Rung* rung);
  /// False: it is to end.
  bool pause(double seconds);
  void stop();

  const BoundProblem& problem_;
  const MapperOptions& options_;
  const Incumbent& incumbent_;
  bool has_chains_;
  std::function<void(double)> tell_;
  BudgetWatch watch_;  ///< whose flag ends it
  std::mutex mutex_;
  std::condition_variable wake_;
  Leftovers leftovers_;
  std::exception_ptr failure_;
  std::thread thread_;  ///< last: it uses all of the others
};

}  // namespace sluice
