#pragma once

#include <algorithm>
#include <vector>

#include "model/nest.h"

namespace sluice {

/// What is alive in the memories of a flattened mapping while each nest runs (model.md,
/// "Capacity"). A reservation is an index: an entry of the tree, or (from `tree.entries.size()` on)
/// the largest of several backing nodes of one tensor, which stays between their branches.
class Reservations {
 public:
  Reservations(const BoundProblem& problem, const FlatTree& tree);

  /// Reservations alive while a nest runs, each once.
  const std::vector<std::uint32_t>& live_at(std::size_t nest_index);

  /// The entries of which a reservation is the largest.
  std::vector<std::uint32_t> entries_of(std::uint32_t reservation) const;
  const TreeEntry& entry_of(std::uint32_t reservation) const;
  double bits(std::uint32_t reservation) const;
  /// Bits that an entry reserves, per bit of its tile: buffering and instances.
  double multiple(const TreeEntry& entry) const;

 private:
  /// A tensor with backing nodes in several branches: one reservation that lives between them too.
  struct Spread {
    std::vector<std::uint32_t> entries;
    int first_user = 0, last_user = 0;
  };

  bool is_persistent(const TreeEntry& entry) const;
  double persistent_instances(TensorId tensor) const;
  void add(std::uint32_t index);
  bool any_alias_of(const Spread& spread) const;
  void find_persistent();
  void find_spreads();
  void find_aliases();

  const BoundProblem& problem_;
  const FlatTree& tree_;
  std::vector<std::uint32_t> persistent_;
  std::vector<Spread> spreads_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> alias_pairs_;
  std::vector<std::uint32_t> live_;
  std::vector<int> counted_;
  int stamp_ = 0;
};

}  // namespace sluice
