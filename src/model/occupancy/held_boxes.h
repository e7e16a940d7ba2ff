#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "model/bind/index_extent.h"
#include "model/tree/nest.h"

namespace sluice {

/// The steps of some loops of the tree; all others stand at their first one.
using Moment = std::vector<std::pair<const Node*, std::int64_t>>;

/// Where Einsums touch different boxes of a tensor (rows that follow from readers, borders, slices
/// of a state), the largest tiles of all nodes need not meet in one step. Works out what the nodes
/// hold at each moment: the values that the Einsums which they serve touch then, each value once.
class HeldBoxes {
 public:
  HeldBoxes(const BoundProblem& problem, FlatTree& tree);

  /// Calls `visit` for moments at which every reservation, and every sum of them, is the largest
  /// while a nest runs. `visit` sees the bits of that moment in the tree's entries.
  void for_each_moment(std::size_t nest, const std::function<void(const Moment&)>& visit);
  /// Sets the entries' bits to what they hold at a moment.
  void hold(const Moment& moment);

 private:
  /// A storage node as one nest sees it.
  struct Holder {
    std::size_t nest = 0;
    std::uint32_t storage = 0;
  };
  /// Entries that are one reservation, and whom they serve.
  struct Group {
    std::vector<std::uint32_t> entries;
    std::vector<const Node*> loops;  ///< of more than one step, above
    std::vector<Holder> holders;
  };
  /// One variable's tile at a moment.
  struct Tile {
    std::int64_t offset = 0, size = 0;
    bool starts_sweep = true;
  };
  using Box = std::vector<IndexRange>;

  void add(std::uint32_t entry, const Holder& holder);
  std::vector<const Node*> loops_above(const Holder& holder) const;
  void walk(std::size_t nest, std::uint32_t loop, Moment& moment,
            const std::function<void(const Moment&)>& visit);
  std::vector<std::int64_t> steps_to_try(const Node* node, const Moment& moment) const;
  std::vector<Tile> tiles_below(const Nest& nest, std::uint32_t end, const Moment& moment) const;
  void add_boxes(const Holder& holder, const Moment& moment, std::vector<Box>& boxes) const;
  static std::int64_t volume(const std::vector<Box>& boxes);

  const BoundProblem& problem_;
  FlatTree& tree_;
  std::vector<Group> groups_;
};

}  // namespace sluice
