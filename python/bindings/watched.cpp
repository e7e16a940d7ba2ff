#include "watched.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <thread>

namespace sluice::python {
namespace nb = nanobind;

void RunNews::tell_phase(const std::string& phase, double fraction) {
  const std::lock_guard lock(mutex_);
  state_.phase = phase;
  state_.fraction = fraction;
  ++state_.version;
}

void RunNews::tell_objective(double objective) {
  const std::lock_guard lock(mutex_);
  if (state_.objective && *state_.objective <= objective) return;
  state_.objective = objective;
  ++state_.version;
}

void RunNews::tell_bound(double bound) {
  const std::lock_guard lock(mutex_);
  if (!(bound > state_.bound.value_or(0))) return;
  state_.bound = bound;
  ++state_.version;
}

RunNews::State RunNews::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

namespace {

/// A thread that works, and how long until it is done.
class Worker {
 public:
  explicit Worker(const std::function<void()>& work)
      : thread_([this, &work] {
          try {
            work();
          } catch (...) {
            failure_ = std::current_exception();
          }
          const std::lock_guard lock(mutex_);
          is_done_ = true;
          wake_.notify_one();
        }) {}
  ~Worker() {
    if (thread_.joinable()) thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Whether it is done, after this time at most.
  bool wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return wake_.wait_for(lock, time, [this] { return is_done_; });
  }

  void finish() {
    thread_.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_done_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  ///< last: it uses all of the others
};

/// Calls on_progress where there is news.
class Reporter {
 public:
  Reporter(const RunNews& news, const nb::object& on_progress)
      : news_(news), on_progress_(on_progress) {}

  void report() {
    if (on_progress_.is_none()) return;
    const RunNews::State state = news_.state();
    if (state.version == shown_) return;
    shown_ = state.version;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    on_progress_(seconds, state.phase, state.fraction, state.objective, state.bound);
  }

 private:
  using Clock = std::chrono::steady_clock;
  const RunNews& news_;
  const nb::object& on_progress_;
  int shown_ = 0;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

RunEnd run_watched(const std::function<void()>& work, std::atomic<bool>& cancel,
                   const RunNews& news, Raised& raised, const nb::object& on_progress) {
  constexpr std::chrono::milliseconds kTick(50);
  constexpr int kPatience = 40;  // ticks
  int ticks_left = kPatience;
  RunEnd end;
  std::exception_ptr failure;
  Reporter reporter(news, on_progress);
  Worker worker(work);
  for (bool is_done = false; !is_done;) {
    {
      const nb::gil_scoped_release release;
      is_done = worker.wait(kTick);
    }
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!failure) reporter.report();
    } catch (const nb::python_error& error) {
      if (error.matches(PyExc_KeyboardInterrupt))
        end.is_interrupted = true;
      else if (!failure)
        failure = std::current_exception();
      cancel = true;
    } catch (...) {  // the worker must end first, and needs the lock for that
      failure = std::current_exception();
      cancel = true;
    }
    if (raised.happened()) cancel = true;
    if ((end.is_interrupted || failure) && --ticks_left == 0) raised.interrupt_running();
  }
  {
    const nb::gil_scoped_release release;
    worker.finish();
  }
  if (failure) std::rethrow_exception(failure);
  return end;
}

}  // namespace sluice::python
