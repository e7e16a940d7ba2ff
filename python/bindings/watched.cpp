#include "watched.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <thread>
#include <unordered_set>

#include "cli/io/leftovers.h"

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

/// What of this process is under way.
class LiveRuns {
 public:
  void add(std::atomic<bool>& cancel) {
    const std::lock_guard lock(mutex_);
    forget_parent();
    cancels_.insert(&cancel);
  }
  void remove(std::atomic<bool>& cancel) {
    const std::lock_guard lock(mutex_);
    cancels_.erase(&cancel);
    ended_.notify_all();
  }
  /// Whether a thread may let go of the interpreter's lock; `lock_again` when it has it back.
  bool unlock() {
    const std::lock_guard lock(mutex_);
    forget_parent();
    const bool may = !is_over();
    if (may) ++unlocked_;
    return may;
  }
  void lock_again() {
    const std::lock_guard lock(mutex_);
    --unlocked_;
    ended_.notify_all();
  }
  /// Whether the interpreter ends, for all threads but the one that ends it.
  bool is_over() const {
    const std::thread::id ender = ender_;
    return ender != std::thread::id() && ender != std::this_thread::get_id();
  }
  void end_all() {
    std::unique_lock lock(mutex_);
    forget_parent();
    ender_ = std::this_thread::get_id();
    for (std::atomic<bool>* cancel : cancels_) *cancel = true;
    ended_.wait(lock, [this] { return cancels_.empty() && unlocked_ == 0; });
  }

 private:
  /// A fork has none of the threads that work.
  void forget_parent() {
    if (process_ == getpid()) return;
    process_ = getpid();
    cancels_.clear();
    unlocked_ = 0;
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  std::unordered_set<std::atomic<bool>*> cancels_;
  int unlocked_ = 0;
  std::atomic<std::thread::id> ender_;  ///< none: it goes on
  pid_t process_ = getpid();
};

/// One for the process, as its interpreter is.
LiveRuns& live_runs() {
  static LiveRuns runs;
  return runs;
}

class LiveRun {
 public:
  explicit LiveRun(std::atomic<bool>& cancel) : cancel_(cancel) { live_runs().add(cancel_); }
  ~LiveRun() { live_runs().remove(cancel_); }
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;

 private:
  std::atomic<bool>& cancel_;
};

/// Where threads end that would ask for the interpreter's lock after its end, as those of Python
/// itself do from 3.14 on.
[[noreturn]] void stay_until_the_end() {
  const nb::gil_scoped_release release;
  for (;;) pause();
}

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
          cli::leftovers().clear();  // this process goes on
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

Unlocked::Unlocked() {
  if (live_runs().unlock()) release_.emplace();
}

Unlocked::~Unlocked() {
  if (!release_) return;
  release_.reset();
  live_runs().lock_again();
}

void end_runs() { live_runs().end_all(); }

RunEnd run_watched(const std::function<void()>& work, std::atomic<bool>& cancel,
                   const RunNews& news, Raised& raised, const nb::object& on_progress) {
  constexpr std::chrono::milliseconds kTick(50);
  constexpr int kPatience = 40;  // ticks
  int ticks_left = kPatience;
  if (live_runs().is_over()) stay_until_the_end();
  RunEnd end;
  std::exception_ptr failure;
  std::optional<LiveRun> live(std::in_place, cancel);
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
    if (live_runs().is_over()) end.is_interrupted = true;
    if (raised.happened()) cancel = true;
    if ((end.is_interrupted || failure) && --ticks_left == 0) raised.interrupt_running();
  }
  {
    const nb::gil_scoped_release release;
    worker.finish();
  }
  live.reset();
  if (live_runs().is_over()) stay_until_the_end();
  if (failure) std::rethrow_exception(failure);
  return end;
}

}  // namespace sluice::python
