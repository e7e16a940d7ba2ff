#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "hash_tables.h"
#include "key_hash.h"

namespace sluice::fused {

/// The number of a thing by its hash: of those that are numbered the one that `is_it` accepts, or
/// `next`, once `add` has added it.
template <class IsIt, class Add>
std::uint32_t number_in(HashIndex* index, std::uint64_t hash, std::size_t next, const IsIt& is_it,
                        const Add& add) {
  for (;; hash = KeyHash::mix(hash + 1)) {
    const auto [number, is_new] = index->try_emplace(hash, static_cast<std::uint32_t>(next));
    if (is_new) add();
    if (is_new || is_it(number)) return number;
  }
}

/// Different things in the order in which they were first seen, found by a hash of theirs.
template <class T>
class Numbered {
 public:
  template <class U>
  std::uint32_t number(std::uint64_t hash, U&& item) {
    return number_in(
        &index_, hash, items_.size(), [&](std::uint32_t number) { return items_[number] == item; },
        [&] { items_.push_back(std::forward<U>(item)); });
  }
  const T& operator[](std::uint32_t number) const { return items_[number]; }
  std::size_t size() const { return items_.size(); }
  std::vector<T> take() { return std::move(items_); }

 private:
  std::vector<T> items_;
  HashIndex index_;
};

}  // namespace sluice::fused
