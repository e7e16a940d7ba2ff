#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace sluice::chains {

/// Sets of things that are the same, by pairs of them.
class Classes {
 public:
  explicit Classes(std::size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t of(std::size_t item) const {
    while (parent_[item] != item) item = parent_[item];
    return item;
  }
  void join(std::size_t a, std::size_t b) { parent_[shorten(a)] = shorten(b); }

 private:
  /// As of(), with the way there halved.
  std::size_t shorten(std::size_t item) {
    while (parent_[item] != item) item = parent_[item] = parent_[parent_[item]];
    return item;
  }

  std::vector<std::size_t> parent_;
};

}  // namespace sluice::chains
