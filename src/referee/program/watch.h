#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "sluice/referee/execution.h"

namespace sluice::referee {

/// Thrown through a run that is to end now.
struct Cancelled {};

/// Tells how far a run is, and ends it when it is asked to.
class Watch {
 public:
  explicit Watch(const ExecutionOptions& options) : options_(options) {}

  void begin(std::string phase, std::int64_t points) {
    phase_ = std::move(phase);
    all_ = points;
    done_ = 0;
    next_ = 0;
    note(0);
  }
  void note(std::int64_t points) {
    done_ += points;
    if (done_ >= next_) report();
  }

 private:
  void report() {
    constexpr std::int64_t kBetweenReports = 20'000;
    next_ = done_ + kBetweenReports;
    if (options_.cancel && options_.cancel->load()) throw Cancelled{};
    if (options_.progress) options_.progress({phase_, done_, all_});
  }

  const ExecutionOptions& options_;
  std::string phase_;
  std::int64_t done_ = 0, all_ = 0, next_ = 0;
};

}  // namespace sluice::referee
