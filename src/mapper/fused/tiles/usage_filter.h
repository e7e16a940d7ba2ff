#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "state_lists.h"

namespace sluice::fused {

/// What uses of the demanding fanouts the tile shapes of one template can make.
class UsageTable {
 public:
  UsageTable(const TileSearchContext& context, StateLists& lists);

  /// Numbers of all uses, whether a tile shape with them fits or not.
  const std::vector<std::uint32_t>& possible() const { return possible_.front(); }
  /// Whether the classes from `depth` on can turn `used` into `target`.
  bool reachable(std::uint32_t used, std::uint32_t target, std::size_t depth) const;
  /// Whether some tile shape with this use of the fanouts meets all limits.
  bool fits(std::uint32_t target);

 private:
  void find_lists();
  bool fits(std::uint32_t target, std::uint32_t used, std::size_t depth, int fused_loops,
            const std::vector<double>& point);

  const TileSearchContext& context_;
  StateLists& lists_;
  const std::size_t n_classes_;
  std::vector<std::map<std::uint32_t, std::vector<std::uint32_t>>>
      usage_lists_;                                              // per class, if needed
  std::set<std::pair<std::size_t, std::vector<double>>> tried_;  // by fits(), in vain
  std::vector<std::vector<std::uint32_t>> possible_;             // per depth: numbers, ascending
};

/// What a use of the demanding fanouts is worth, dimension by dimension: at most what is wanted.
std::vector<double> worth(const StateLists::Usage& usage, const std::vector<double>& wanted);

/// The soft `min_usage` filter: tile shapes are to use of the demanding fanouts as much of what is
/// wanted, the first dimension first, as the best one that fits. The best one is judged over all
/// templates of one placement, whatever their loops, and over even tiles: uneven ones only add to
/// what is allowed.
class PlacementUsages {
 public:
  /// The templates of one placement, as indices.
  explicit PlacementUsages(std::vector<std::uint32_t> members) : members_(std::move(members)) {}

  /// The worth of the best use; empty where no even tile shape fits. Worked out when first asked
  /// for. `lists`: of one of the members.
  const std::vector<double>& demanded(const TileSearchContext& context,
                                      const std::vector<Template>& templates,
                                      const std::vector<CompiledTemplate>& compiled,
                                      StateLists& lists);

 private:
  std::vector<std::uint32_t> members_;
  std::once_flag once_;
  std::vector<double> demanded_;
};

/// Gives the templates of each placement one PlacementUsages.
void share_usages(const std::vector<Template>& templates, std::vector<CompiledTemplate>* compiled);

}  // namespace sluice::fused
