#pragma once

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

  /// Set when it is to end.
  const std::atomic<bool>* flag() const { return watch_.flag(); }
  /// For the body: waits. False: it is to end.
  bool pause(double seconds) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, std::chrono::duration<double>(seconds),
                   [this] { return is_cancelled(flag()); });
    return !is_cancelled(flag());
  }
  /// Ends it.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      watch_.stop();
    }
    wake_.notify_all();
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
  }

  BudgetWatch watch_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::function<void(SideThread&)> body_;
  std::exception_ptr failure_;
  std::thread thread_;  ///< last: it uses all of the others
};

}  // namespace sluice
