#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/mapper.h"

namespace sluice {

/// The best mapping of a relaxed machine (sluice/model/relaxed_machine.h) under the same options,
/// or what is known of it: no mapping's objective is below. `limit`: the objective of a mapping in
/// hand, if there is one; the bound holds for mappings that beat it, and is at most that. `tell`:
/// as MapperControl::bound. 0: not known.
double relaxed_bound(const BoundProblem& problem, const MapperOptions& options, double limit,
                     const std::atomic<bool>* cancel, const std::function<void(double)>& tell);

/// Whether a relaxed machine bounds all that the mapper searches.
bool takes_relaxed_bound(const Mapper& mapper, const BoundProblem& problem,
                         const MapperOptions& options);

/// Finds it on a thread of its own beside a search that has not ended after a moment, again where a
/// better mapping in hand allows a better bound.
class RelaxedBound {
 public:
  /// All of them must outlive it. `tell` is called on its thread.
  RelaxedBound(const BoundProblem& problem, const MapperOptions& options,
               const Incumbent& incumbent, std::function<void(double)> tell);
  ~RelaxedBound() { stop(); }
  RelaxedBound(const RelaxedBound&) = delete;
  RelaxedBound& operator=(const RelaxedBound&) = delete;

  /// Throws what the search threw.
  void finish();

 private:
  void run();
  void search();
  /// False: it is to end.
  bool pause(double seconds);
  void stop();

  const BoundProblem& problem_;
  const MapperOptions& options_;
  const Incumbent& incumbent_;
  std::function<void(double)> tell_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::exception_ptr failure_;
  std::thread thread_;  ///< last: it uses all of the others
};

}  // namespace sluice
