#include "set_order.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace sluice::kapla {
namespace {

/// Hash of a tuple of small whole numbers: xxHash as CPython shortens it.
std::uint64_t tuple_hash(const Triple& triple) {
  constexpr std::uint64_t kPrime1 = 11400714785074694791U;
  constexpr std::uint64_t kPrime2 = 14029467366897019727U;
  constexpr std::uint64_t kPrime5 = 2870177450012600261U;
  constexpr std::uint64_t kLengthSalt = 3527539U;
  std::uint64_t hash = kPrime5;
  for (const std::int64_t item : triple) {
    hash += static_cast<std::uint64_t>(item) * kPrime2;
    hash = std::rotl(hash, 31) * kPrime1;
  }
  return hash + (triple.size() ^ (kPrime5 ^ kLengthSalt));
}

/// A hash table that is probed as CPython's: up to nine neighbours, then elsewhere.
class TupleSet {
 public:
  void add(const Triple& triple) {
    const std::size_t slot = slot_of(triple);
    if (slots_[slot]) return;
    slots_[slot] = triple;
    ++used_;
    if (used_ * 5 >= mask() * 3) grow();
  }

  std::vector<Triple> in_order() const {
    std::vector<Triple> triples;
    for (const auto& slot : slots_)
      if (slot) triples.push_back(*slot);
    return triples;
  }

 private:
  std::size_t mask() const { return slots_.size() - 1; }

  /// Where the triple is or belongs.
  std::size_t slot_of(const Triple& triple) const {
    constexpr std::size_t kNeighbours = 9;
    const std::uint64_t hash = tuple_hash(triple);
    std::uint64_t perturb = hash;
    for (std::size_t start = hash & mask();; start = (start * 5 + 1 + perturb) & mask()) {
      const std::size_t last = start + kNeighbours <= mask() ? start + kNeighbours : start;
      for (std::size_t slot = start; slot <= last; ++slot)
        if (!slots_[slot] || *slots_[slot] == triple) return slot;
      perturb >>= 5;
    }
  }

  void grow() {
    std::vector<Triple> triples = in_order();
    std::size_t size = 8;
    while (size <= used_ * 4) size *= 2;
    slots_.assign(size, std::nullopt);
    for (const Triple& triple : triples) slots_[slot_of(triple)] = triple;
  }

  std::vector<std::optional<Triple>> slots_ = std::vector<std::optional<Triple>>(8);
  std::size_t used_ = 0;
};

}  // namespace

std::vector<Triple> in_set_order(const std::vector<Triple>& triples) {
  TupleSet set;
  for (const Triple& triple : triples) set.add(triple);
  return set.in_order();
}

}  // namespace sluice::kapla
