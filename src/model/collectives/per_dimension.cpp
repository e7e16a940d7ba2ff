#include "model/collectives/ring_lines.h"
#include "sluice/model/collective_algorithm.h"

namespace sluice {
namespace {

/// Rings along one dimension of `over` after the other: what is collected or reduced goes along the
/// last (innermost) dimension first, what is spread along the first one first. With extents n1 × n2
///   all_reduce  DV = 2 · (P − 1) · V   in 2 · (n1 − 1 + n2 − 1) steps
class PerDimension : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "per_dimension"; }
  bool performs(CollectiveType) const override { return true; }
  bool fits(const TopologyFacts& topology) const override { return topology.is_grid; }
  std::string needs() const override { return "a mesh or torus"; }

  void count(CollectiveTally& tally) const override {
    const CollectiveRequest& request = tally.request();
    const std::size_t n = request.group.over.size();
    const auto reduce_scatter = [&] {
      for (std::size_t d = n; d-- > 0;)
        ring_reduce_scatter(tally, lines(tally, d, Agreeing::kAfter));
    };
    const auto all_gather = [&] {
      for (std::size_t d = 0; d < n; ++d) ring_all_gather(tally, lines(tally, d, Agreeing::kAfter));
    };
    switch (request.type) {
      case CollectiveType::kAllReduce:
        reduce_scatter();
        all_gather();
        break;
      case CollectiveType::kReduceScatter:
        reduce_scatter();
        break;
      case CollectiveType::kAllGather:
        all_gather();
        break;
      case CollectiveType::kBroadcast:
        for (std::size_t d = 0; d < n; ++d)
          ring_broadcast(tally, lines(tally, d, Agreeing::kBefore), root_at(request, d));
        break;
      case CollectiveType::kGather:
        for (std::size_t d = n; d-- > 0;)
          ring_gather(tally, lines(tally, d, Agreeing::kBefore), root_at(request, d));
        break;
      case CollectiveType::kScatter:
        for (std::size_t d = 0; d < n; ++d)
          ring_scatter(tally, lines(tally, d, Agreeing::kBefore), root_at(request, d));
        break;
      case CollectiveType::kAllToAll:
        for (std::size_t d = n; d-- > 0;)
          ring_all_to_all(tally, lines(tally, d, Agreeing::kAfter), stride(request.group, d));
        break;
    }
  }

 private:
  /// Whose blocks a member of a line along d is concerned with: those of all participants that
  /// agree with it in d and in the dimensions
  enum class Agreeing : bool {
    kAfter,  ///< after d: sums have gone there already
    kBefore  ///< before d: what is spread has come through there already
  };

  /// Distance in rank of two neighbours along d.
  static std::int64_t stride(const CollectiveGroup& group, std::size_t d) {
    std::int64_t product = 1;
    for (std::size_t inner = d + 1; inner < group.over.size(); ++inner)
      product *= group.over[inner].participants;
    return product;
  }

  static std::int64_t root_at(const CollectiveRequest& request, std::size_t d) {
    return request.root / stride(request.group, d) % request.group.over[d].participants;
  }

  static std::vector<RingLine> lines(const CollectiveTally& tally, std::size_t d,
                                     Agreeing agreeing) {
    const CollectiveRequest& request = tally.request();
    const std::int64_t step = stride(request.group, d);
    const std::int64_t period = step * request.group.over[d].participants;
    const BlockSizes sizes(request.values, tally.participants());
    std::vector<RingLine> result;
    for (std::int64_t outer = 0; outer < tally.participants(); outer += period)
      for (std::int64_t inner = 0; inner < step; ++inner) {
        RingLine line;
        for (std::int64_t rank = outer + inner; rank < outer + period; rank += step) {
          line.ranks.push_back(rank);
          line.blocks.push_back(agreeing == Agreeing::kAfter
                                    ? every(tally.participants(), sizes, rank, period)
                                    : sizes.of_range(rank - inner, step));
        }
        line.is_on_roots_way = inner == request.root % step;
        result.push_back(std::move(line));
      }
    return result;
  }

  /// Blocks of all ranks that differ from `rank` by multiples of `period`.
  static std::int64_t every(std::int64_t participants, const BlockSizes& sizes, std::int64_t rank,
                            std::int64_t period) {
    std::int64_t sum = 0;
    for (std::int64_t r = rank % period; r < participants; r += period) sum += sizes.of(r);
    return sum;
  }
};

}  // namespace

const CollectiveAlgorithm& per_dimension() {
  static const PerDimension algorithm;
  return algorithm;
}

}  // namespace sluice
