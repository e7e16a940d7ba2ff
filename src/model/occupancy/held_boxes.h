#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "model/bind/index_extent.h"
#include "model/tree/nest.h"

namespace sluice {

/// The steps of some loops of the tree, by their index in FlatTree::tree_loops; all others stand at
/// their first one.
using Moment = std::vector<std::pair<std::uint32_t, std::int64_t>>;

/// Where Einsums touch different boxes of a tensor (rows that follow from readers, borders, slices
/// of a state), the largest tiles of all nodes need not meet in one step. Works out what the nodes
/// hold at each moment: the values that the Einsums which they serve touch then, each value once.
class HeldBoxes {
 public:
  HeldBoxes(const BoundProblem& problem, FlatTree& tree);

  /// Calls `visit` for moments at which every reservation, and every sum of them, is the largest
  /// while a nest runs. `visit` sees the bits of that moment in these entries of the tree.
  void for_each_moment(std::size_t nest, std::span<const std::uint32_t> entries,
                       const std::function<void(const Moment&)>& visit);
  /// Sets all entries' bits to what they hold at a moment.
  void hold(const Moment& moment);
  /// Whether an entry holds the same at each moment.
  bool is_constant(std::uint32_t entry) const {
    return groups_of_[entry].empty() || !groups_[groups_of_[entry].back()].moves;
  }

 private:
  /// A storage node as one nest sees it.
  struct Holder {
    std::size_t nest = 0;
    std::uint32_t storage = 0;
  };
  /// Entries that are one reservation, and whom they serve.
  struct Group {
    std::vector<std::uint32_t> entries;
    std::vector<Holder> holders;
    bool moves = false;  ///< what it holds depends on the moment
  };
  /// Backing nodes with one key are one reservation: tensor, component, loops of several steps
  /// above.
  using SpreadKey = std::tuple<std::size_t, std::size_t, std::vector<std::uint32_t>>;
  /// A loop as one nest sees it.
  struct LoopUser {
    std::uint32_t nest = 0, loop = 0;
  };
  /// One variable's tile at a moment.
  struct Tile {
    std::int64_t offset = 0, size = 0;
    bool starts_sweep = true;
  };
  /// Boxes of one tensor: the ranges of their ranks, box after box.
  struct Boxes {
    std::vector<IndexRange> ranges;
    std::size_t n_ranks = 0, n = 0;
    const IndexRange* box(std::size_t b) const { return ranges.data() + b * n_ranks; }
  };

  void find_users();
  void add(std::uint32_t entry, const Holder& holder);
  std::vector<std::uint32_t> loops_above(const Holder& holder) const;
  bool moves(const Holder& holder) const;
  std::span<const LoopUser> users_of(std::uint32_t tree_loop) const {
    return {users_.data() + users_begin_[tree_loop], users_.data() + users_begin_[tree_loop + 1]};
  }
  void walk(std::size_t nest, std::uint32_t loop, Moment& moment,
            const std::function<void(const Moment&)>& visit);
  const std::vector<std::int64_t>& steps_to_try(std::uint32_t tree_loop, const Moment& moment);
  void hold_group(std::uint32_t group, const Moment& moment);
  bool find_tiles(const Nest& nest, std::uint32_t end, const Moment& moment);
  void add_boxes(const Holder& holder, const Moment& moment);
  static std::int64_t volume(const Boxes& boxes);
  static std::int64_t volume_of_parts(const Boxes& boxes);

  const BoundProblem& problem_;
  FlatTree& tree_;
  std::vector<Group> groups_;
  std::vector<std::vector<std::uint32_t>>
      groups_of_;  ///< per entry, ascending: the last one counts
  std::map<SpreadKey, std::uint32_t> spread_group_;
  std::vector<std::uint32_t> users_begin_;  ///< per tree loop: where its users start
  std::vector<LoopUser> users_;
  std::map<std::pair<std::uint32_t, Moment>, std::vector<std::int64_t>> steps_;
  std::vector<Tile> tiles_;  ///< of find_tiles
  Boxes boxes_;              ///< of hold_group
};

}  // namespace sluice
