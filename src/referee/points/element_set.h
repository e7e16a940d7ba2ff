#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "points.h"

namespace sluice::referee {

/// Elements of one tensor, a bit for each that can be reached.
class ElementSet {
 public:
  ElementSet() = default;
  explicit ElementSet(std::int64_t volume) : bits_(static_cast<std::size_t>(volume), false) {}
  /// Whether it is new.
  bool insert(Element element) {
    const auto place = bits_.begin() + element;
    const bool is_new = !*place;
    *place = true;
    return is_new;
  }
  bool has(Element element) const { return bits_[static_cast<std::size_t>(element)]; }

 private:
  std::vector<bool> bits_;
};

/// The same for a few elements of many, near to each other: what one of many instances has seen.
class SparseElementSet {
 public:
  bool insert(Element element) {
    std::uint64_t& word = page_of(element)[word_of(element)];
    const std::uint64_t bit = std::uint64_t{1} << (element % 64);
    const bool is_new = (word & bit) == 0;
    word |= bit;
    return is_new;
  }
  bool has(Element element) {
    return (page_of(element)[word_of(element)] >> (element % 64) & 1U) != 0;
  }

 private:
  static constexpr Element kPageSize = 512;
  using Page = std::array<std::uint64_t, kPageSize / 64>;
  static std::size_t word_of(Element element) {
    return static_cast<std::size_t>(element % kPageSize / 64);
  }
  Page& page_of(Element element) {
    if (!last_ || last_number_ != element / kPageSize) {
      last_number_ = element / kPageSize;
      last_ = &pages_[last_number_];
    }
    return *last_;
  }
  std::unordered_map<Element, Page> pages_;
  Page* last_ = nullptr;  ///< the page that was used last
  Element last_number_ = 0;
};

}  // namespace sluice::referee
