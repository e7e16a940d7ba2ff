#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "referee/points/element_set.h"
#include "referee/program/lane.h"

namespace sluice::referee {

/// What became of a tensor's elements: their values as they were when they left their backing
/// storage. An element that left without a value is known, but not made.
class Results {
 public:
  explicit Results(std::int64_t volume)
      : cells_(static_cast<std::size_t>(volume)), known_(volume) {}
  /// From now on it is known.
  Cell& operator[](Element element) {
    known_.insert(element);
    return cells_[static_cast<std::size_t>(element)];
  }
  bool knows(Element element) const { return known_.has(element); }
  const Cell& at(Element element) const { return cells_[static_cast<std::size_t>(element)]; }
  Element size() const { return static_cast<Element>(cells_.size()); }

 private:
  std::vector<Cell> cells_;
  ElementSet known_;
};

/// An instance that made something: its Einsum, its share of the spatial loops above, and which run
/// of each that was.
struct Maker {
  EinsumId einsum;
  std::vector<std::int64_t> turns;
  std::vector<std::size_t> runs;
  friend auto operator<=>(const Maker&, const Maker&) = default;
};

/// Who made the elements of a tensor, where instances that run apart could meet.
class Makers {
 public:
  explicit Makers(std::int64_t volume) : volume_(volume) {}
  std::uint32_t number_of(const Maker& maker) {
    const auto [place, is_new] =
        numbers_.try_emplace(maker, static_cast<std::uint32_t>(makers_.size()));
    if (is_new) makers_.push_back(&place->first);
    return place->second;
  }
  void note(Element element, std::uint32_t maker) {
    if (heads_.empty()) heads_.resize(static_cast<std::size_t>(volume_), kNone);
    std::uint32_t& head = heads_[static_cast<std::size_t>(element)];
    for (std::uint32_t at = head; at != kNone; at = entries_[at].next)
      if (entries_[at].maker == maker) return;
    entries_.push_back({maker, head});
    head = static_cast<std::uint32_t>(entries_.size() - 1);
  }
  void forget(Element element) {
    if (!heads_.empty()) heads_[static_cast<std::size_t>(element)] = kNone;
  }
  /// Whether `is_wanted` of one of them.
  template <class Predicate>
  bool any_of(Element element, const Predicate& is_wanted) const {
    if (heads_.empty()) return false;
    for (std::uint32_t at = heads_[static_cast<std::size_t>(element)]; at != kNone;
         at = entries_[at].next)
      if (is_wanted(*makers_[entries_[at].maker])) return true;
    return false;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Entry {
    std::uint32_t maker, next;
  };
  std::int64_t volume_;
  std::map<Maker, std::uint32_t> numbers_;
  std::vector<const Maker*> makers_;
  std::vector<std::uint32_t> heads_;  ///< per element
  std::vector<Entry> entries_;
};

/// When something is made: the slots of the pipelined and parallel splits around, outermost first.
struct Moment {
  std::size_t run = 0;     ///< of the split
  std::size_t slot = 0;    ///< time slot of this run
  std::size_t branch = 0;  ///< whose turn it is
  friend auto operator<=>(const Moment&, const Moment&) = default;
};

/// When the elements of a tensor were made last, where children of a split run at the same time.
class MomentsMade {
 public:
  explicit MomentsMade(std::int64_t volume) : volume_(volume) {}
  void note(Element element, const std::vector<Moment>& now) {
    if (numbers_.empty()) numbers_.resize(static_cast<std::size_t>(volume_), 0);
    if (moments_.empty() || moments_.back() != now) moments_.push_back(now);
    numbers_[static_cast<std::size_t>(element)] = static_cast<std::uint32_t>(moments_.size());
  }
  /// Null where it was never made so.
  const std::vector<Moment>* find(Element element) const {
    const std::uint32_t number = numbers_.empty() ? 0 : numbers_[static_cast<std::size_t>(element)];
    return number == 0 ? nullptr : &moments_[number - 1];
  }

 private:
  std::int64_t volume_;
  std::vector<std::uint32_t> numbers_;  ///< per element; 0: never
  std::vector<std::vector<Moment>> moments_;
};

}  // namespace sluice::referee
