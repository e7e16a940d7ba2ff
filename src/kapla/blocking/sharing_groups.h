#pragma once

#include "kapla/grid/partition.h"
#include "kapla/layer/layer_shape.h"

namespace sluice::kapla {

/// Nodes that need the same values of each tensor, and hold parts of them for each other. The parts
/// go round: each node gives what it holds to the next of a chain that goes back and forth over the
/// group.
class SharingGroups {
 public:
  SharingGroups(const LayerShape& layer, const Region& region, const Partition& partition);

  std::int64_t size(Operand operand) const { return groups_[operand].dim.size(); }

  /// Links that a group's words cross on average while all parts go round once, in subgroups of
  /// `holders` nodes that hold one copy together; `units` parts are used one after the other.
  double round_links(Operand operand, std::int64_t holders, std::int64_t units) const;

  /// The same where nodes fetch a part that is `width` nodes wide from those before them.
  double wide_fetch_links(Operand operand, std::int64_t holders, double width) const;

 private:
  struct Group {
    Extent dim;
    NeighbourDistance distance;
  };
  struct Chain {
    std::array<std::int64_t, 2> dim{1, 1};  ///< down, across
    std::size_t along = 0;                  ///< the direction that it follows
  };

  static Group samples_group(const Region& region, const Partition& partition);
  Chain chain_of(const Group& group, std::int64_t holders) const;

  PerOperand<Group> groups_;
};

}  // namespace sluice::kapla
