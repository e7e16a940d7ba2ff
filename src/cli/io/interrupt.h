#pragma once

#include <signal.h>

#include <atomic>

namespace sluice::cli {

/// While alive, the first Ctrl-C (or SIGTERM) sets a flag instead of ending the process; the second
/// ends it. At most one at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// The flag, for MapperControl::cancel.
  const std::atomic<bool>& flag() const;

 private:
  struct sigaction previous_interrupt_ {};
  struct sigaction previous_terminate_ {};
};

}  // namespace sluice::cli
