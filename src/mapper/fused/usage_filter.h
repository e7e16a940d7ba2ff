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
  const std::set<std::uint32_t>& possible() const { return possible_.front(); }
  /// Whether the classes from `depth` on can turn `used` into `target`.
  bool reachable(std::uint32_t used, std::uint32_t target, std::size_t depth) const;
  /// Whether some tile shape with this use of the fanouts meets all limits.
  bool fits(std::uint32_t target);

 private:
  bool fits(std::uint32_t target, std::uint32_t used, std::size_t depth, int fused_loops,
            const std::vector<double>& point);

  const TileSearchContext& context_;
  StateLists& lists_;
  const std::size_t n_classes_;
  std::vector<std::map<std::uint32_t, std::vector<std::uint32_t>>> usage_lists_;  // per class
  std::set<std::pair<std::size_t, std::vector<double>>> tried_;  // by fits(), in vain
  std::vector<std::set<std::uint32_t>> possible_;                // per depth: numbers of uses
};

/// The soft `min_usage` filter: of the uses of the demanding fanouts that have a fitting tile
/// shape, those that reach what is wanted everywhere; if there is none, dimension by dimension
/// those that use most of it. It is judged over all templates of one placement, whatever their
/// loops.
class PlacementUsages {
 public:
  using Usages = std::set<StateLists::Usage>;

  /// The templates of one placement, as indices.
  explicit PlacementUsages(std::vector<std::uint32_t> members) : members_(std::move(members)) {}

  /// Worked out when first asked for. `lists`: of one of the members.
  const Usages& allowed(const TileSearchContext& context, const std::vector<Template>& templates,
                        const std::vector<CompiledTemplate>& compiled, StateLists& lists);

 private:
  std::vector<std::uint32_t> members_;
  std::once_flag once_;
  Usages allowed_;
};

/// Gives the templates of each placement one PlacementUsages.
void share_usages(const std::vector<Template>& templates, std::vector<CompiledTemplate>* compiled);

}  // namespace sluice::fused
