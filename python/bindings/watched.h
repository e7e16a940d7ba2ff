#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <string>

#include "raised.h"

namespace sluice::python {

/// What a long run says about itself, from any thread.
class RunNews {
 public:
  void tell_phase(const std::string& phase, double fraction);
  void tell_objective(double objective);
  void tell_bound(double bound);

  struct State {
    std::string phase = "starting";
    double fraction = 0;
    std::optional<double> objective, bound;
    int version = 0;
  };
  State state() const;

 private:
  mutable std::mutex mutex_;
  State state_;
};

/// How a run of `run_watched` ended.
struct RunEnd {
  bool is_interrupted = false;  ///< by a signal: Ctrl-C
};

/// Lets go of the interpreter's lock while it lives; not any more when the interpreter ends: that
/// kills threads (daemons) that ask for the lock, and C++ code between would end the process.
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  std::optional<nanobind::gil_scoped_release> release_;
};

/// Before the interpreter ends: cancels all runs of `run_watched`, and waits until they have ended
/// and every thread that let go of the lock has it back.
void end_runs();

/// Does `work` on a thread of its own, without the interpreter's lock. Meanwhile this thread looks
/// after signals and calls `on_progress` (None: nobody) with what `news` has; `cancel` is set where
/// either raises, or code in Python that the library called has raised; a mapper in Python that
/// does not look at it is interrupted two seconds later. An exception of `work` or `on_progress`
/// comes out when the work has ended. It does not return where the interpreter ends meanwhile.
RunEnd run_watched(const std::function<void()>& work, std::atomic<bool>& cancel,
                   const RunNews& news, Raised& raised, const nanobind::object& on_progress);

}  // namespace sluice::python
