#include "sluice/model/collective_algorithm.h"

namespace sluice {
namespace {

using Arrival = CollectiveTally::Arrival;

/// Everyone to everyone who needs it, in one step (all_reduce: reduce_scatter and all_gather, two).
///   all_reduce  DV = 2 · (P − 1) · V;  reduce_scatter, all_gather, all_to_all  DV = (P − 1) · V
///   broadcast   DV = (P − 1) · V;  gather, scatter  DV = V − the root's block
class Direct : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "direct"; }
  bool performs(CollectiveType) const override { return true; }
  bool fits(const TopologyFacts& topology) const override { return topology.links_all_pairs; }
  std::string needs() const override { return "an all_to_all network"; }

  void count(CollectiveTally& tally) const override {
    const CollectiveRequest& request = tally.request();
    const BlockSizes sizes(request.values, tally.participants());
    const std::int64_t root = request.root;
    const auto to_block = [&](std::int64_t, std::int64_t to) { return sizes.of(to); };
    const auto own_block = [&](std::int64_t from, std::int64_t) { return sizes.of(from); };
    switch (request.type) {
      case CollectiveType::kAllReduce:
        step(tally, to_block, Arrival::kCombined);
        step(tally, own_block, Arrival::kStored);
        break;
      case CollectiveType::kReduceScatter:
        step(tally, to_block, Arrival::kCombined);
        break;
      case CollectiveType::kAllGather:
        step(tally, own_block, Arrival::kStored);
        break;
      case CollectiveType::kAllToAll:
        step(tally, to_block, Arrival::kStored);
        break;
      case CollectiveType::kBroadcast:
        step(
            tally, [&](auto from, auto) { return from == root ? request.values : 0; },
            Arrival::kStored);
        break;
      case CollectiveType::kScatter:
        step(
            tally, [&](auto from, auto to) { return from == root ? sizes.of(to) : 0; },
            Arrival::kStored);
        break;
      case CollectiveType::kGather:
        step(
            tally, [&](auto from, auto to) { return to == root ? sizes.of(from) : 0; },
            Arrival::kStored);
        break;
    }
  }

 private:
  template <class Values>
  static void step(CollectiveTally& tally, Values values, Arrival arrival) {
    for (std::int64_t from = 0; from < tally.participants(); ++from)
      for (std::int64_t to = 0; to < tally.participants(); ++to)
        if (from != to) tally.send(from, to, values(from, to), arrival);
    tally.end_step();
  }
};

}  // namespace

const CollectiveAlgorithm& direct() {
  static const Direct algorithm;
  return algorithm;
}

}  // namespace sluice
