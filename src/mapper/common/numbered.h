#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "hash_tables.h"
#include "key_hash.h"

namespace sluice::fused {

/// Different things in the order in which they were first seen, found by a hash of theirs.
template <class T>
class Numbered {
 public:
  template <class U>
  std::uint32_t number(std::uint64_t hash, U&& item) {
    const auto next = static_cast<std::uint32_t>(items_.size());
    for (;; hash = KeyHash::mix(hash + 1)) {
      const auto [number, is_new] = index_.try_emplace(hash, next);
      if (is_new) items_.push_back(std::forward<U>(item));
      if (is_new || items_[number] == item) return number;
    }
  }
  const T& operator[](std::uint32_t number) const { return items_[number]; }
  std::size_t size() const { return items_.size(); }
  std::vector<T> take() { return std::move(items_); }

 private:
  std::vector<T> items_;
  HashIndex index_;
};

}  // namespace sluice::fused
