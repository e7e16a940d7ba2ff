#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mapper/common/key_hash.h"

namespace sluice::fused {

/// A set of a template's class loops, by their numbers: one word, and further ones where a template
/// has more than 64.
class LoopSet {
 public:
  void add(std::uint32_t loop) {
    if (loop >= kBits && more_.size() < loop / kBits) more_.resize(loop / kBits, 0);
    word(loop / kBits) |= std::uint64_t{1} << loop % kBits;
  }
  bool contains(std::uint32_t loop) const {
    if (loop < kBits) return (first_ >> loop & 1U) != 0;
    const std::size_t index = loop / kBits - 1;
    return index < more_.size() && (more_[index] >> loop % kBits & 1U) != 0;
  }
  bool empty() const { return first_ == 0 && more_.empty(); }
  friend LoopSet operator|(LoopSet a, const LoopSet& b) {
    if (a.more_.size() < b.more_.size()) a.more_.resize(b.more_.size(), 0);
    a.first_ |= b.first_;
    for (std::size_t i = 0; i < b.more_.size(); ++i) a.more_[i] |= b.more_[i];
    return a;
  }
  bool operator==(const LoopSet&) const = default;
  std::uint64_t hash() const {
    std::uint64_t hash = KeyHash::mix(first_ + more_.size());
    for (const std::uint64_t word : more_) hash = KeyHash::mix(hash ^ word);
    return hash;
  }

 private:
  static constexpr std::uint32_t kBits = 64;
  std::uint64_t& word(std::size_t index) { return index == 0 ? first_ : more_[index - 1]; }

  std::uint64_t first_ = 0;
  std::vector<std::uint64_t> more_;  ///< the last one is not 0
};

}  // namespace sluice::fused
