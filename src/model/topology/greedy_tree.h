#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace sluice {

/// One node of a tree that is served from another one.
struct TreeBranch {
  std::size_t from = 0, to = 0;
  std::int64_t links = 0;  ///< between the two
  std::int64_t depth = 0;  ///< from the source

  bool operator==(const TreeBranch&) const = default;
};

/// Trees from sources to the same nodes: again and again the node that is nearest to any that is
/// served, of equals the first one, from the one that was served first (KAPLA's multicasts).
class GreedyTrees {
 public:
  /// Links between two nodes, row by row: `links[a * n_nodes + b]`.
  GreedyTrees(std::size_t n_nodes, std::vector<std::int32_t> links);

  /// From sources (numbers 0 … n − 1 of the branches) to all nodes (from n on), in the order of
  /// service. `links[s * n_nodes + b]`: from a source to a node. Valid until the next call.
  const std::vector<TreeBranch>& grow(const std::vector<std::int32_t>& links);

 private:
  using Word = std::uint64_t;
  static constexpr std::int32_t kFewLinks = 1024;
  static constexpr std::size_t kMostKnown = 1U << 20;  ///< some 32 MB
  /// What is reached over so many links.
  struct Distance {
    std::int32_t links = 0;
    std::vector<Word> around;    ///< by node: bits of the nodes there
    std::vector<char> is_found;  ///< by node: whether `around` has them
    // From those that are served by the tree at hand:
    std::size_t tree = 0;
    std::size_t n_seen = 0;           ///< of those that are served
    std::vector<Word> reached;        ///< bit by node
    std::vector<std::uint32_t> from;  ///< by node: who reached it first
  };

  /// Of one source: the node that it serves first, and how far the nearest of the others is.
  struct Nearest {
    std::size_t node = 0;
    std::int32_t links = 0, next_links = 0;
  };
  /// The tree below the node that is served first, as all sources beyond `longest` of the other
  /// nodes have it: they serve nobody else.
  struct Below {
    bool is_known = false;
    std::int32_t longest = 0;          ///< of its branches
    std::vector<TreeBranch> branches;  ///< from one source; depths from the node served first
  };

  Nearest nearest() const;
  bool take_known(const Nearest& first);
  void remember(const Nearest& first);
  void start();
  std::unique_ptr<Distance>& at(std::int32_t links) {
    const auto place = static_cast<std::size_t>(links);
    if (place < few_links_.size()) return few_links_[place];
    if (links >= kFewLinks) return many_links_[links];
    few_links_.resize(place + 1);
    return few_links_[place];
  }
  Distance& use(std::int32_t links);
  void reach(Distance& distance);
  const Word* around(Distance& distance, std::size_t node);
  std::size_t first_open(const Distance& distance) const;
  void serve(std::size_t node, const Distance& distance);

  std::size_t n_nodes_, n_words_;
  std::vector<std::int32_t> links_, distinct_links_;
  std::vector<std::unique_ptr<Distance>> few_links_;  ///< by links, looked up often
  std::unordered_map<std::int32_t, std::unique_ptr<Distance>> many_links_;
  std::size_t n_known_ = 0;   ///< branches in `below_`
  std::vector<Below> below_;  ///< by node that is served first
  // Of the tree that grows:
  std::size_t tree_ = 0, n_sources_ = 0;
  const std::vector<std::int32_t>* source_links_ = nullptr;
  std::vector<Distance*> distances_;   ///< the shortest first
  std::vector<std::uint32_t> served_;  ///< nodes, numbered after the sources
  std::vector<Word> open_;
  std::vector<std::int64_t> depth_;
  std::vector<TreeBranch> branches_;
};

}  // namespace sluice
