#include "model/collectives/core.h"
#include "sluice/model/collective_algorithm.h"

namespace sluice {
namespace {

using Arrival = CollectiveTally::Arrival;

/// log2 P steps at distances 1, 2, 4, …: partners exchange all they have.
///   all_reduce  DV = P · log2 P · V for powers of two, + 2 · extras · V and two steps otherwise
///   all_gather  DV = (P − 1) · V
class RecursiveDoubling : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "recursive_doubling"; }
  bool performs(CollectiveType type) const override {
    return type == CollectiveType::kAllReduce || type == CollectiveType::kAllGather;
  }

  void count(CollectiveTally& tally) const override {
    const FoldedCore core(tally, 0);
    const std::int64_t all = tally.request().values;
    const bool reduces = tally.request().type == CollectiveType::kAllReduce;
    const Arrival arrival = reduces ? Arrival::kCombined : Arrival::kStored;
    for (std::int64_t i = 0; i < core.extras(); ++i)
      tally.send(core.size() + i, i, reduces ? all : core.block(core.size() + i), arrival);
    tally.end_step();
    for (std::int64_t distance = 1; distance < core.size(); distance *= 2) {
      for (std::int64_t p = 0; p < core.size(); ++p)
        tally.send(p, p ^ distance, reduces ? all : core.blocks(p / distance * distance, distance),
                   arrival);
      tally.end_step();
    }
    for (std::int64_t i = 0; i < core.extras(); ++i)
      tally.send(i, core.size() + i, reduces ? all : all - core.block(core.size() + i));
    tally.end_step();
  }
};

}  // namespace

const CollectiveAlgorithm& recursive_doubling() {
  static const RecursiveDoubling algorithm;
  return algorithm;
}

}  // namespace sluice
