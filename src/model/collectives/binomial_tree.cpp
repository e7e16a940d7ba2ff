#include <algorithm>
#include <bit>

#include "sluice/model/collective_algorithm.h"

namespace sluice {
namespace {

using Arrival = CollectiveTally::Arrival;

/// A binomial tree in ⌈log2 P⌉ steps; places count from the root, the parent of place p is p
/// without its lowest bit.
///   broadcast       DV = (P − 1) · V;  gather, scatter: Σ over places of the blocks of its subtree
///   all_reduce      DV = 2 · (P − 1) · V  (reduce to rank 0, broadcast), in 2 · ⌈log2 P⌉ steps
///   reduce_scatter  = reduce, scatter;  all_gather = gather, broadcast
class BinomialTree : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "tree"; }
  bool performs(CollectiveType type) const override { return type != CollectiveType::kAllToAll; }

  void count(CollectiveTally& tally) const override {
    const CollectiveType type = tally.request().type;
    const std::int64_t all = tally.request().values;
    const Places places{tally.participants(), has_root(type) ? tally.request().root : 0,
                        BlockSizes(all, tally.participants())};
    const auto whole = [all](std::int64_t, std::int64_t) { return all; };
    const auto subtree = [&](std::int64_t place, std::int64_t distance) {
      return places.blocks(place, distance);
    };
    switch (type) {
      case CollectiveType::kAllReduce:
        up(tally, places, whole, Arrival::kCombined);
        down(tally, places, whole);
        break;
      case CollectiveType::kReduceScatter:
        up(tally, places, whole, Arrival::kCombined);
        down(tally, places, subtree);
        break;
      case CollectiveType::kAllGather:
        up(tally, places, subtree, Arrival::kStored);
        down(tally, places, whole);
        break;
      case CollectiveType::kBroadcast:
        down(tally, places, whole);
        break;
      case CollectiveType::kGather:
        up(tally, places, subtree, Arrival::kStored);
        break;
      case CollectiveType::kScatter:
        down(tally, places, subtree);
        break;
      case CollectiveType::kAllToAll:
        break;
    }
  }

 private:
  struct Places {
    std::int64_t participants, root;
    BlockSizes sizes;

    std::int64_t rank(std::int64_t place) const { return (place + root) % participants; }
    /// Blocks of the subtree of a place whose parent is `distance` before it.
    std::int64_t blocks(std::int64_t place, std::int64_t distance) const {
      std::int64_t sum = 0;
      for (std::int64_t p = place; p < std::min(place + distance, participants); ++p)
        sum += sizes.of(rank(p));
      return sum;
    }
    std::int64_t span() const {
      return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(participants)));
    }
  };

  template <class Values>
  static void up(CollectiveTally& tally, const Places& places, Values values, Arrival arrival) {
    for (std::int64_t distance = 1; distance < places.span(); distance *= 2) {
      for (std::int64_t p = distance; p < places.participants; p += 2 * distance)
        tally.send(places.rank(p), places.rank(p - distance), values(p, distance), arrival);
      tally.end_step();
    }
  }

  template <class Values>
  static void down(CollectiveTally& tally, const Places& places, Values values) {
    for (std::int64_t distance = places.span() / 2; distance >= 1; distance /= 2) {
      for (std::int64_t p = distance; p < places.participants; p += 2 * distance)
        tally.send(places.rank(p - distance), places.rank(p), values(p, distance));
      tally.end_step();
    }
  }
};

}  // namespace

const CollectiveAlgorithm& binomial_tree() {
  static const BinomialTree algorithm;
  return algorithm;
}

}  // namespace sluice
