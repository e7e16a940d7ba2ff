#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "mapper/common/numbered.h"
#include "spine_table.h"

namespace sluice::fused {

/// Many spines in flat arrays.
class SpineList {
 public:
  std::size_t size() const { return structures_.size(); }

  SpineView operator[](std::size_t i) const {
    return {structures_[i],
            {extents_.data() + first_extent_[i], first_extent_[i + 1] - first_extent_[i]},
            {exchanges_.data() + first_live_[i], first_live_[i + 1] - first_live_[i]},
            {bits_.data() + first_live_[i], first_live_[i + 1] - first_live_[i]}};
  }

  void add(const SpineView& spine) {
    structures_.push_back(spine.structure);
    extents_.insert(extents_.end(), spine.extents.begin(), spine.extents.end());
    first_extent_.push_back(extents_.size());
    exchanges_.insert(exchanges_.end(), spine.exchanges.begin(), spine.exchanges.end());
    bits_.insert(bits_.end(), spine.bits.begin(), spine.bits.end());
    first_live_.push_back(exchanges_.size());
  }

 private:
  std::vector<std::uint32_t> structures_;
  std::vector<std::size_t> first_extent_{0};
  std::vector<std::uint32_t> extents_;
  std::vector<std::size_t> first_live_{0};
  std::vector<std::uint64_t> exchanges_;
  std::vector<double> bits_;
};

/// Different spines, in the order in which they were first seen.
class NumberedSpines {
 public:
  std::uint32_t number(const SpineView& spine) {
    std::uint64_t hash = KeyHash::mix(spine.structure + 1);
    for (const std::uint32_t extent : spine.extents) hash = KeyHash::mix(hash ^ (extent + 1));
    return number_in(
        &index_, hash, spines_.size(), [&](std::uint32_t known) { return spines_[known] == spine; },
        [&] { spines_.add(spine); });
  }
  const SpineList& spines() const { return spines_; }
  SpineList take() { return std::move(spines_); }

 private:
  SpineList spines_;
  HashIndex index_;
};

}  // namespace sluice::fused
