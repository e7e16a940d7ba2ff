#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "mapper/common/hash_tables.h"
#include "spine_table.h"

namespace sluice::fused {

/// Many spines with the same live tensors, in flat arrays.
class SpineList {
 public:
  std::size_t size() const { return structures_.size(); }

  SpineView operator[](std::size_t i) const {
    return {structures_[i],
            {extents_.data() + first_extent_[i], first_extent_[i + 1] - first_extent_[i]},
            {exchanges_.data() + i * n_live_, n_live_},
            {bits_.data() + i * n_live_, n_live_}};
  }

  void add(const SpineView& spine) {
    n_live_ = spine.exchanges.size();
    structures_.push_back(spine.structure);
    extents_.insert(extents_.end(), spine.extents.begin(), spine.extents.end());
    first_extent_.push_back(extents_.size());
    exchanges_.insert(exchanges_.end(), spine.exchanges.begin(), spine.exchanges.end());
    bits_.insert(bits_.end(), spine.bits.begin(), spine.bits.end());
  }

 private:
  std::size_t n_live_ = 0;
  std::vector<std::uint32_t> structures_;
  std::vector<std::size_t> first_extent_{0};
  std::vector<std::uint32_t> extents_;
  std::vector<std::uint64_t> exchanges_;
  std::vector<double> bits_;
};

/// Different spines, in the order in which they were first seen.
class NumberedSpines {
 public:
  std::uint32_t number(std::uint64_t hash, const SpineView& spine) {
    const auto next = static_cast<std::uint32_t>(spines_.size());
    for (std::uint64_t key = hash;; key = KeyHash::mix(key + 1)) {
      const auto [number, is_new] = index_.try_emplace(key, next);
      if (is_new) {
        spines_.add(spine);
        hashes_.push_back(hash);
      }
      if (is_new || spines_[number] == spine) return number;
    }
  }
  const SpineList& spines() const { return spines_; }
  std::uint64_t hash(std::uint32_t number) const { return hashes_[number]; }
  SpineList take() { return std::move(spines_); }

 private:
  SpineList spines_;
  std::vector<std::uint64_t> hashes_;  // per spine
  HashIndex index_;
};

}  // namespace sluice::fused
