#pragma once

#ifdef __linux__
#include <sys/resource.h>
#include <unistd.h>
#endif

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "budget_watch.h"

namespace sluice {

/// A thread beside a search, which ends with it at the latest.
class SideThread {
 public:
  /// `body`, with this thread, runs on it from now on; it is to look at flag(). `cancel` ends it as
  /// well; may be null.
  SideThread(const std::atomic<bool>* cancel, std::function<void(SideThread&)> body)
      : watch_(std::nullopt, std::nullopt, cancel),
        body_(std::move(body)),
        thread_([this] { run(); }) {}
  ~SideThread() { stop(); }
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;

  /// False once the body has ended, or where it said so last.
  bool is_at_work() const { return is_at_work_; }
  /// For the body: whether it has something to do.
  void set_at_work(bool is_at_work) { is_at_work_ = is_at_work; }
  /// Set when it is to end.
  const std::atomic<bool>* flag() const { return watch_.flag(); }
  /// For the body: waits. False: it is to end.
  bool pause(double seconds) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, std::chrono::duration<double>(seconds),
                   [this] { return is_awake_ || is_cancelled(flag()); });
    return !is_cancelled(flag());
  }
  /// For the body: the search's own threads come first from now on, where the system knows
  /// priorities of threads; it has what they leave.
  static void stand_back() {
#ifdef __linux__
    constexpr int kNice = 10;
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
#endif
  }
  /// There are no pauses from now on.
  void wake() {
    {
      const std::lock_guard lock(mutex_);
      is_awake_ = true;
    }
    wake_.notify_all();
  }
  bool is_awake() const { return is_awake_; }
  /// Asks it to end.
  void ask_to_end() {
    watch_.stop();
    wake();
  }
  /// Ends it.
  void stop() {
    ask_to_end();
    if (thread_.joinable()) thread_.join();
  }
  /// Ends it. Throws what the body threw.
  void finish() {
    stop();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void run() {
    try {
      body_(*this);
    } catch (...) {
      failure_ = std::current_exception();
    }
    is_at_work_ = false;
  }

  BudgetWatch watch_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<bool> is_awake_ = false;
  std::function<void(SideThread&)> body_;
  std::atomic<bool> is_at_work_ = true;
  std::exception_ptr failure_;
  std::thread thread_;  ///< last: it uses all of the others
};

}  // namespace sluice
