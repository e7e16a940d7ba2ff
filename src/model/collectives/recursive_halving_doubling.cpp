#include "model/collectives/core.h"
#include "sluice/model/collective_algorithm.h"
#include "sluice/support/checked.h"

namespace sluice {
namespace {

using Arrival = CollectiveTally::Arrival;

/// COMET's algorithm (§IV-B, after its reference 30). Halving: at distances P/2, P/4, …, 1 partners
/// hand over what is the business of the other's half. Doubling: the way back. For powers of two
///   all_reduce      DV = 2 · (P − 1) · V   in 2 · log2 P steps
///   reduce_scatter  DV = (P − 1) · V,  all_gather  DV = (P − 1) · V
///   broadcast       DV = log2 P · V / 2 + (P − 1) · V   (scatter, then all_gather)
///   gather, scatter DV = log2 P · V / 2
///   all_to_all      DV = P · log2 P · V / 2
class RecursiveHalvingDoubling : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "recursive_halving_doubling"; }
  bool performs(CollectiveType) const override { return true; }

  void count(CollectiveTally& tally) const override {
    const CollectiveRequest& request = tally.request();
    const FoldedCore core(tally, has_root(request.type) ? request.root : 0);
    const BlockSizes core_blocks(request.values, core.size());
    const auto of_core = [&](std::int64_t first, std::int64_t count) {
      return core_blocks.of_range(first, count);
    };
    const auto of_all = [&](std::int64_t first, std::int64_t count) {
      return core.blocks(first, count);
    };
    const auto whole = [&](std::int64_t) { return request.values; };
    const auto own = [&](std::int64_t extra) { return core.block(extra); };
    const auto others = [&](std::int64_t extra) { return request.values - core.block(extra); };
    switch (request.type) {
      case CollectiveType::kAllReduce:
        fold_in(tally, core, whole, Arrival::kCombined);
        halve(tally, core, of_core);
        double_up(tally, core, of_core);
        fold_out(tally, core, whole);
        break;
      case CollectiveType::kReduceScatter:
        fold_in(tally, core, whole, Arrival::kCombined);
        halve(tally, core, of_all);
        fold_out(tally, core, own);
        break;
      case CollectiveType::kAllGather:
        fold_in(tally, core, own, Arrival::kStored);
        double_up(tally, core, of_all);
        fold_out(tally, core, others);
        break;
      case CollectiveType::kBroadcast:
        scatter(tally, core, of_core);
        double_up(tally, core, of_core);
        fold_out(tally, core, whole);
        break;
      case CollectiveType::kGather:
        fold_in(tally, core, own, Arrival::kStored);
        gather(tally, core);
        break;
      case CollectiveType::kScatter:
        scatter(tally, core, of_all);
        fold_out(tally, core, own);
        break;
      case CollectiveType::kAllToAll:
        fold_in(tally, core, others, Arrival::kStored);
        exchange(tally, core);
        fold_out(tally, core, [&](std::int64_t extra) {
          return (tally.participants() - 1) * core.block(extra);
        });
        break;
    }
  }

 private:
  template <class Values>
  static void fold_in(CollectiveTally& tally, const FoldedCore& core, Values values,
                      Arrival arrival) {
    for (std::int64_t i = 0; i < core.extras(); ++i)
      tally.send(core.rank(core.size() + i), core.rank(i), values(core.size() + i), arrival);
    tally.end_step();
  }

  template <class Values>
  static void fold_out(CollectiveTally& tally, const FoldedCore& core, Values values) {
    for (std::int64_t i = 0; i < core.extras(); ++i)
      tally.send(core.rank(i), core.rank(core.size() + i), values(core.size() + i));
    tally.end_step();
  }

  template <class Range>
  static void halve(CollectiveTally& tally, const FoldedCore& core, Range range) {
    for (std::int64_t distance = core.size() / 2; distance >= 1; distance /= 2) {
      for (std::int64_t p = 0; p < core.size(); ++p)
        tally.send(p, p ^ distance, range((p ^ distance) / distance * distance, distance),
                   Arrival::kCombined);
      tally.end_step();
    }
  }

  template <class Range>
  static void double_up(CollectiveTally& tally, const FoldedCore& core, Range range) {
    for (std::int64_t distance = 1; distance < core.size(); distance *= 2) {
      for (std::int64_t p = 0; p < core.size(); ++p)
        tally.send(core.rank(p), core.rank(p ^ distance), range(p / distance * distance, distance));
      tally.end_step();
    }
  }

  template <class Range>
  static void scatter(CollectiveTally& tally, const FoldedCore& core, Range range) {
    for (std::int64_t distance = core.size() / 2; distance >= 1; distance /= 2) {
      for (std::int64_t p = 0; p < core.size(); p += 2 * distance)
        tally.send(core.rank(p), core.rank(p + distance), range(p + distance, distance));
      tally.end_step();
    }
  }

  static void gather(CollectiveTally& tally, const FoldedCore& core) {
    for (std::int64_t distance = 1; distance < core.size(); distance *= 2) {
      for (std::int64_t p = distance; p < core.size(); p += 2 * distance)
        tally.send(core.rank(p), core.rank(p - distance), core.blocks(p, distance));
      tally.end_step();
    }
  }

  /// Before the step at `distance` a place holds what the vectors of all places that agree with it
  /// in the bits up to `distance` have for the places that agree with it in the bits above.
  static void exchange(CollectiveTally& tally, const FoldedCore& core) {
    for (std::int64_t distance = core.size() / 2; distance >= 1; distance /= 2) {
      for (std::int64_t p = 0; p < core.size(); ++p) {
        std::int64_t vectors = 0;
        for (std::int64_t from = p % (2 * distance); from < core.size(); from += 2 * distance)
          vectors += from < core.extras() ? 2 : 1;
        const std::int64_t for_partner =
            core.blocks((p ^ distance) / distance * distance, distance);
        tally.send(p, p ^ distance, checked_multiply(vectors, for_partner));
      }
      tally.end_step();
    }
  }
};

}  // namespace

const CollectiveAlgorithm& recursive_halving_doubling() {
  static const RecursiveHalvingDoubling algorithm;
  return algorithm;
}

}  // namespace sluice
