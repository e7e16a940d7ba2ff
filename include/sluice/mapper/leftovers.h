#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace sluice {

/// What cancelled searches need not free before they answer: gigabytes of small tables take a
/// while. It refers to nothing that must outlive the searches. Safe to share between threads.
class Leftovers {
 public:
  void add(std::shared_ptr<void> tables) {
    const std::lock_guard lock(mutex_);
    tables_.push_back(std::move(tables));
  }

  void clear() { take(); }

  void move_to(Leftovers* other) {
    for (std::shared_ptr<void>& tables : take()) other->add(std::move(tables));
  }

 private:
  std::vector<std::shared_ptr<void>> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(tables_, {});
  }

  std::mutex mutex_;
  std::vector<std::shared_ptr<void>> tables_;
};

}  // namespace sluice
