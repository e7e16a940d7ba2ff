#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "loop_classes.h"
#include "mapper/common/key_hash.h"

namespace sluice::fused {

struct Column;

/// A column over the nodes of a trie: its extremes among the states below each node, and how the
/// values below are spread. Where two nodes have the same structure and the same shape, the values
/// below one are those below the other, times the quotient of their largest ones. Most nodes are of
/// few kinds.
class TrieColumn {
 public:
  static constexpr std::uint32_t kConstant = 0;  ///< the shape where all values are equal

  double least(std::uint32_t node) const { return kinds_[kind_[node]].least; }
  double most(std::uint32_t node) const { return kinds_[kind_[node]].most; }
  std::uint32_t shape(std::uint32_t node) const { return kinds_[kind_[node]].shape; }

 private:
  friend class StateTrie;
  struct Kind {
    double least, most;
    std::uint32_t shape;  ///< its number in the trie
  };
  std::vector<Kind> kinds_;
  std::vector<std::uint32_t> kind_;  ///< per node
};

/// The states of a class as a tree: a node stands for the trip counts of the first loops of some
/// order, its children for those of the next loop.
class StateTrie {
 public:
  struct Node {
    std::uint32_t first = 0, n = 0;  ///< children
    std::uint32_t state = 0;         ///< of a leaf: its state
  };
  /// `order`: the loops, those of the root's children first.
  StateTrie(const ClassStates& states, const std::vector<std::uint32_t>& order);

  const std::vector<Node>& nodes() const { return nodes_; }
  /// Nodes with equal numbers have the same trip counts below them.
  std::uint32_t structure(std::uint32_t node) const { return structure_[node]; }
  /// Worked out when first asked for; stays as long as the trie. Safe to share between threads.
  const TrieColumn& column(const Column& column);

 private:
  using Numbers = std::unordered_map<std::vector<std::int64_t>, std::uint32_t, KeyHash>;

  void find_structures(const std::vector<std::int64_t>& trips);
  TrieColumn::Kind kind_of(std::uint32_t node, const TrieColumn& column);

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> structure_;
  std::mutex mutex_;
  std::map<std::uint32_t, TrieColumn> columns_;  // by the column's number in its table
  Numbers shape_numbers_;
  std::vector<std::int64_t> key_;  // scratch
};

}  // namespace sluice::fused
