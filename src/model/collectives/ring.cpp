#include "model/collectives/ring_lines.h"
#include "sluice/model/collective_algorithm.h"

namespace sluice {
namespace {

/// All participants in one ring, in the order of their ranks.
///   all_reduce  DV = 2 · (P − 1) · V   in 2 · (P − 1) steps;  reduce_scatter, all_gather half of
///   it broadcast   DV = (P − 1) · V;  gather, scatter  DV = (P − 1) · V / 2 all_to_all  DV = P ·
///   (P − 1) · V / 2
class Ring : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "ring"; }
  bool performs(CollectiveType) const override { return true; }

  void count(CollectiveTally& tally) const override {
    const CollectiveRequest& request = tally.request();
    const BlockSizes sizes(request.values, tally.participants());
    std::vector<RingLine> lines(1);
    for (std::int64_t rank = 0; rank < tally.participants(); ++rank) {
      lines[0].ranks.push_back(rank);
      lines[0].blocks.push_back(sizes.of(rank));
    }
    switch (request.type) {
      case CollectiveType::kAllReduce:
        ring_reduce_scatter(tally, lines);
        ring_all_gather(tally, lines);
        break;
      case CollectiveType::kReduceScatter:
        ring_reduce_scatter(tally, lines);
        break;
      case CollectiveType::kAllGather:
        ring_all_gather(tally, lines);
        break;
      case CollectiveType::kBroadcast:
        ring_broadcast(tally, lines, request.root);
        break;
      case CollectiveType::kGather:
        ring_gather(tally, lines, request.root);
        break;
      case CollectiveType::kScatter:
        ring_scatter(tally, lines, request.root);
        break;
      case CollectiveType::kAllToAll:
        ring_all_to_all(tally, lines, 1);
        break;
    }
  }
};

}  // namespace

const CollectiveAlgorithm& ring() {
  static const Ring algorithm;
  return algorithm;
}

}  // namespace sluice
