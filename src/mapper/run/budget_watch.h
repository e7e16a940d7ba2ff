#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "sluice/mapper/mapper.h"

namespace sluice {

/// Sets a flag when a time is over or another flag is set, whichever is first.
class BudgetWatch {
 public:
  BudgetWatch(double seconds, const std::atomic<bool>* cancel)
      : end_(std::chrono::steady_clock::now() +
             std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                 std::chrono::duration<double>(std::min(seconds, kLongest)))),
        cancel_(cancel),
        thread_([this] { watch(); }) {}
  ~BudgetWatch() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  BudgetWatch(const BudgetWatch&) = delete;
  BudgetWatch& operator=(const BudgetWatch&) = delete;

  const std::atomic<bool>* flag() const { return &stop_; }
  bool ran_out() const { return ran_out_; }

 private:
  static constexpr double kLongest = 1e8;  ///< three years; beyond it clocks overflow

  void watch() {
    constexpr std::chrono::milliseconds kStep(10);
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, kStep, [this] { return done_; })) {
      const bool cancelled = is_cancelled(cancel_);
      const bool is_over = std::chrono::steady_clock::now() >= end_;
      if (!cancelled && !is_over) continue;
      ran_out_ = !cancelled;
      stop_ = true;
      return;
    }
  }

  std::chrono::steady_clock::time_point end_;
  const std::atomic<bool>* cancel_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> ran_out_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;  ///< last: it uses all of the others
};

}  // namespace sluice
