#include "model/topology/greedy_tree.h"

#include <algorithm>

#include "sluice/model/collective_algorithm.h"

namespace sluice {
namespace {

using Arrival = CollectiveTally::Arrival;

/// A tree that grows from the root: again and again the participant nearest to any in the tree
/// joins it, over that one (KAPLA). Level after level, away from the root or towards it:
///   broadcast   DV = (P − 1) · V;  gather, scatter: Σ over participants of the blocks below them
///   all_reduce  DV = 2 · (P − 1) · V  (reduce to rank 0, broadcast)
///   reduce_scatter  = reduce, scatter;  all_gather = gather, broadcast
class GreedyTree : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "greedy_tree"; }
  bool performs(CollectiveType type) const override { return type != CollectiveType::kAllToAll; }
  bool is_automatic() const override { return false; }

  void count(CollectiveTally& tally) const override {
    const CollectiveType type = tally.request().type;
    const Levels tree(tally, has_root(type) ? tally.request().root : 0);
    const bool gathers = type == CollectiveType::kGather || type == CollectiveType::kAllGather;
    const bool reduces =
        type == CollectiveType::kAllReduce || type == CollectiveType::kReduceScatter;
    const bool scatters =
        type == CollectiveType::kScatter || type == CollectiveType::kReduceScatter;
    if (gathers || reduces)
      tree.up(tally, gathers, reduces ? Arrival::kCombined : Arrival::kStored);
    if (type != CollectiveType::kGather) tree.down(tally, scatters);
  }

 private:
  class Levels {
   public:
    Levels(CollectiveTally& tally, std::int64_t root) : all_(tally.request().values), root_(root) {
      const auto participants = static_cast<std::size_t>(tally.participants());
      const auto links_from = [&](std::size_t begin, std::size_t end) {
        std::vector<std::int32_t> links;
        for (std::size_t from = begin; from < end; ++from)
          for (std::size_t to = 1; to < participants; ++to)
            links.push_back(static_cast<std::int32_t>(tally.hops(rank(from), rank(to))));
        return links;
      };
      GreedyTrees trees(participants - 1, links_from(1, participants));
      branches_ = trees.grow(links_from(0, 1));
      const BlockSizes sizes(all_, tally.participants());
      for (std::size_t n = 0; n < participants; ++n) below_.push_back(sizes.of(rank(n)));
      level_.resize(participants, 0);
      for (const TreeBranch& branch : branches_) level_[branch.to] = level_[branch.from] + 1;
      for (std::size_t b = branches_.size(); b-- > 0;)
        below_[branches_[b].from] += below_[branches_[b].to];
    }

    void up(CollectiveTally& tally, bool blocks, Arrival arrival) const {
      for (std::size_t level = deepest(); level > 0; --level) {
        for (const TreeBranch& branch : branches_)
          if (level_[branch.to] == level)
            tally.send(rank(branch.to), rank(branch.from), values(branch, blocks), arrival);
        tally.end_step();
      }
    }

    void down(CollectiveTally& tally, bool blocks) const {
      for (std::size_t level = 1; level <= deepest(); ++level) {
        for (const TreeBranch& branch : branches_)
          if (level_[branch.to] == level)
            tally.send(rank(branch.from), rank(branch.to), values(branch, blocks));
        tally.end_step();
      }
    }

   private:
    /// Node 0 is the root, the others follow in the order of their ranks.
    std::int64_t rank(std::size_t node) const {
      const auto n = static_cast<std::int64_t>(node);
      return n == 0 ? root_ : n <= root_ ? n - 1 : n;
    }
    std::int64_t values(const TreeBranch& branch, bool blocks) const {
      return blocks ? below_[branch.to] : all_;
    }
    std::size_t deepest() const { return *std::max_element(level_.begin(), level_.end()); }

    std::int64_t all_, root_;
    std::vector<TreeBranch> branches_;
    std::vector<std::int64_t> below_;  ///< values of the blocks of a node and of those it serves
    std::vector<std::size_t> level_;
  };
};

}  // namespace

const CollectiveAlgorithm& greedy_tree_collective() {
  static const GreedyTree algorithm;
  return algorithm;
}

}  // namespace sluice
