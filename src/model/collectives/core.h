#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sluice/model/collective_algorithm.h"

namespace sluice {

/// The largest power of two among the participants (the *core*), and the rest (the *extras*): the
/// extra at place core + i is folded onto place i. Places count from the root.
class FoldedCore {
 public:
  FoldedCore(const CollectiveTally& tally, std::int64_t root)
      : participants_(tally.participants()),
        root_(root),
        size_(static_cast<std::int64_t>(
            std::bit_floor(static_cast<std::uint64_t>(tally.participants())))),
        blocks_(tally.request().values, tally.participants()) {}

  std::int64_t size() const { return size_; }
  std::int64_t extras() const { return participants_ - size_; }
  std::int64_t rank(std::int64_t place) const { return (place + root_) % participants_; }
  /// The block of the participant at a place.
  std::int64_t block(std::int64_t place) const { return blocks_.of(rank(place)); }

  /// Blocks of `count` core places and of the extras folded onto them.
  std::int64_t blocks(std::int64_t first, std::int64_t count) const {
    const std::int64_t folded = std::clamp(participants_ - (size_ + first), std::int64_t{0}, count);
    return run(first, count) + run(size_ + first, folded);
  }

 private:
  /// Blocks at consecutive places; ranks go round.
  std::int64_t run(std::int64_t first, std::int64_t count) const {
    if (count == 0) return 0;
    const std::int64_t start = rank(first);
    const std::int64_t before_end = std::min(count, participants_ - start);
    return blocks_.of_range(start, before_end) + blocks_.of_range(0, count - before_end);
  }

  std::int64_t participants_, root_, size_;
  BlockSizes blocks_;
};

}  // namespace sluice
