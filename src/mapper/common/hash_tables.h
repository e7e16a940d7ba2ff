#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sluice {

/// A set of numbers that are hashes already, in one array: to look one up is to look at one place.
class HashSet {
 public:
  std::size_t size() const { return size_ + (has_zero_ ? 1 : 0); }

  bool contains(std::uint64_t hash) const {
    if (hash == 0) return has_zero_;
    return !places_.empty() && places_[place_of(hash)] == hash;
  }

  void insert(std::uint64_t hash) {
    if (hash == 0) {
      has_zero_ = true;
      return;
    }
    if (2 * (size_ + 1) > places_.size()) grow();
    std::uint64_t& place = places_[place_of(hash)];
    if (place == 0) ++size_;
    place = hash;
  }

 private:
  /// Where a hash stands or would stand.
  std::size_t place_of(std::uint64_t hash) const {
    const std::size_t mask = places_.size() - 1;
    std::size_t place = hash & mask;
    while (places_[place] != 0 && places_[place] != hash) place = (place + 1) & mask;
    return place;
  }

  void grow() {
    constexpr std::size_t kFirst = 64;
    std::vector<std::uint64_t> old(places_.empty() ? kFirst : 2 * places_.size(), 0);
    std::swap(old, places_);
    for (const std::uint64_t hash : old)
      if (hash != 0) places_[place_of(hash)] = hash;
  }

  std::vector<std::uint64_t> places_;  ///< a power of two of them, at most half taken; 0: free
  std::size_t size_ = 0;
  bool has_zero_ = false;
};

/// Numbers by a hash, in one array: to look one up is to look at one place.
class HashIndex {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::size_t size() const { return size_; }

  /// kNone: it is not there.
  std::uint32_t find(std::uint64_t hash) const {
    return places_.empty() ? kNone : places_[place_of(hash)].number;
  }

  /// The number of a hash, which is `number` (not kNone) where there was none; whether it was so.
  std::pair<std::uint32_t, bool> try_emplace(std::uint64_t hash, std::uint32_t number) {
    if (2 * (size_ + 1) > places_.size()) grow();
    Place& place = places_[place_of(hash)];
    if (place.number != kNone) return {place.number, false};
    place = {hash, number};
    ++size_;
    return {number, true};
  }

 private:
  struct Place {
    std::uint64_t hash = 0;
    std::uint32_t number = kNone;
  };

  /// Where a hash stands or would stand.
  std::size_t place_of(std::uint64_t hash) const {
    const std::size_t mask = places_.size() - 1;
    std::size_t place = hash & mask;
    while (places_[place].number != kNone && places_[place].hash != hash)
      place = (place + 1) & mask;
    return place;
  }

  void grow() {
    constexpr std::size_t kFirst = 16;
    std::vector<Place> old(places_.empty() ? kFirst : 2 * places_.size());
    std::swap(old, places_);
    for (const Place& place : old)
      if (place.number != kNone) places_[place_of(place.hash)] = place;
  }

  std::vector<Place> places_;  ///< a power of two of them, at most half taken
  std::size_t size_ = 0;
};

}  // namespace sluice
