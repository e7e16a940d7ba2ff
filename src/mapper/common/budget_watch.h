#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "sluice/mapper/mapper.h"
#include "sluice/support/machine_memory.h"

namespace sluice {

/// Sets a flag when a time is over, a limit of memory is near, another flag is set, or a search has
/// what it is after, whichever is first. A time is over a little sooner where a search takes
/// gigabytes: to give them back takes some, too.
class BudgetWatch {
 public:
  enum class End : std::uint8_t { kNone, kCancelled, kMet, kTime, kMemory };

  /// `bytes`: that the process may hold. `is_met`: whether no more is asked for; may be empty.
  BudgetWatch(std::optional<double> seconds, std::optional<double> bytes,
              const std::atomic<bool>* cancel, std::function<bool()> is_met = {})
      : end_(std::chrono::steady_clock::now() +
             std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                 std::chrono::duration<double>(std::min(seconds.value_or(kLongest), kLongest)))),
        most_to_free_(kMostToFree * seconds.value_or(0)),
        bytes_(bytes),
        cancel_(cancel),
        is_met_(std::move(is_met)),
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
  /// Sets the flag.
  void stop() { stop_ = true; }
  /// What set the flag.
  End end() const { return how_; }
  bool ran_out() const { return how_ == End::kTime || how_ == End::kMemory; }

 private:
  static constexpr double kNear = 0.9;     ///< of the limit: what is under way needs some, too
  static constexpr double kLongest = 1e8;  ///< three years; beyond it clocks overflow
  /// From the end of a search of 7 GB to that of the process 1.1 s pass.
  static constexpr double kToFree = 1.6e-10;   ///< s a byte
  static constexpr double kMostToFree = 0.25;  ///< of the time

  void watch() {
    constexpr std::chrono::milliseconds kStep(10);
    const double at_first = resident_bytes();
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, kStep, [this] { return done_; })) {
      const double held = resident_bytes();
      const std::chrono::duration<double> to_free(
          std::clamp(kToFree * (held - at_first), 0.0, most_to_free_));
      const End now = is_cancelled(cancel_)                                ? End::kCancelled
                      : is_met_ && is_met_()                               ? End::kMet
                      : std::chrono::steady_clock::now() + to_free >= end_ ? End::kTime
                      : bytes_ && held >= kNear * *bytes_                  ? End::kMemory
                                                                           : End::kNone;
      if (now == End::kNone) continue;
      how_ = now;
      stop_ = true;
      return;
    }
  }

  std::chrono::steady_clock::time_point end_;
  double most_to_free_;  ///< s
  std::optional<double> bytes_;
  const std::atomic<bool>* cancel_;
  std::function<bool()> is_met_;
  std::atomic<bool> stop_{false};
  std::atomic<End> how_{End::kNone};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;  ///< last: it uses all of the others
};

}  // namespace sluice
