#include "model/topology/greedy_tree.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <unordered_set>

namespace sluice {
namespace {

constexpr std::size_t kBits = 64;

/// One bit for each of `count` nodes that are so many links away.
void find_nodes(const std::int32_t* distances, std::size_t count, std::int32_t links,
                std::uint64_t* bits) {
  for (std::size_t node = 0; node < count; ++node)
    bits[node / kBits] |= static_cast<std::uint64_t>(distances[node] == links) << (node % kBits);
}

}  // namespace

GreedyTrees::GreedyTrees(std::size_t n_nodes, std::vector<std::int32_t> links)
    : n_nodes_(n_nodes), n_words_((n_nodes + kBits - 1) / kBits), links_(std::move(links)) {
  std::unordered_set<std::int32_t> distinct;
  std::array<bool, kFewLinks> is_known{};
  for (std::size_t a = 0; a < n_nodes_; ++a)
    for (std::size_t b = 0; b < n_nodes_; ++b) {
      const std::int32_t links = links_[a * n_nodes_ + b];
      if (a == b || (links < kFewLinks && is_known[static_cast<std::size_t>(links)])) continue;
      if (links < kFewLinks) is_known[static_cast<std::size_t>(links)] = true;
      distinct.insert(links);
    }
  distinct_links_.assign(distinct.begin(), distinct.end());
}

const std::vector<TreeBranch>& GreedyTrees::grow(const std::vector<std::int32_t>& links) {
  source_links_ = &links;
  n_sources_ = n_nodes_ == 0 ? 0 : links.size() / n_nodes_;
  if (n_sources_ == 1 && take_known(nearest())) return branches_;
  start();
  while (branches_.size() < n_nodes_)
    for (Distance* const distance : distances_) {
      reach(*distance);
      const std::size_t next = first_open(*distance);
      if (next == n_nodes_) continue;
      serve(next, *distance);
      break;
    }
  if (n_sources_ == 1) remember(nearest());
  return branches_;
}

GreedyTrees::Nearest GreedyTrees::nearest() const {
  constexpr std::int32_t kFar = std::numeric_limits<std::int32_t>::max();
  Nearest first{0, kFar, kFar};
  for (std::size_t node = 0; node < n_nodes_; ++node) {
    const std::int32_t links = (*source_links_)[node];
    if (links >= first.next_links) continue;
    if (links < first.links)
      first = {node, links, first.links};
    else
      first.next_links = links;
  }
  return first;
}

/// A tree that differs from a known one by its source alone.
bool GreedyTrees::take_known(const Nearest& first) {
  if (below_.empty()) return false;
  const Below& below = below_[first.node];
  if (!below.is_known || first.next_links <= below.longest) return false;
  branches_ = below.branches;
  branches_.front().links = first.links;
  for (TreeBranch& branch : branches_) branch.depth += first.links;
  return true;
}

void GreedyTrees::remember(const Nearest& first) {
  std::int64_t longest = 0;
  for (std::size_t b = 1; b < branches_.size(); ++b)
    longest = std::max(longest, branches_[b].links);
  if (first.next_links <= longest || n_known_ >= kMostKnown) return;
  below_.resize(n_nodes_);
  Below& below = below_[first.node];
  if (below.is_known) return;
  n_known_ += branches_.size();
  below = {true, static_cast<std::int32_t>(longest), branches_};
  for (TreeBranch& branch : below.branches) branch.depth -= first.links;
}

void GreedyTrees::start() {
  ++tree_;
  distances_.clear();
  for (const std::int32_t links : distinct_links_) use(links);
  for (std::size_t source = 0; source < n_sources_; ++source)
    for (std::size_t node = 0; node < n_nodes_; ++node) {
      Distance& distance = use((*source_links_)[source * n_nodes_ + node]);
      const Word bit = Word{1} << (node % kBits);
      if ((distance.reached[node / kBits] & bit) != 0) continue;
      distance.reached[node / kBits] |= bit;
      distance.from[node] = static_cast<std::uint32_t>(source);
    }
  std::sort(distances_.begin(), distances_.end(),
            [](const Distance* a, const Distance* b) { return a->links < b->links; });
  branches_.clear();
  served_.clear();
  depth_.assign(n_sources_ + n_nodes_, 0);
  open_.assign(n_words_, ~Word{0});
  if (n_nodes_ % kBits != 0) open_.back() = (Word{1} << (n_nodes_ % kBits)) - 1;
}

GreedyTrees::Distance& GreedyTrees::use(std::int32_t links) {
  std::unique_ptr<Distance>& distance = at(links);
  if (!distance) {
    distance = std::make_unique<Distance>();
    distance->links = links;
    distance->from.resize(n_nodes_);
  }
  if (distance->tree == tree_) return *distance;
  distance->tree = tree_;
  distance->n_seen = 0;
  distance->reached.assign(n_words_, 0);
  distances_.push_back(distance.get());
  return *distance;
}

/// Takes those into account that were served since the last time.
void GreedyTrees::reach(Distance& distance) {
  for (; distance.n_seen < served_.size(); ++distance.n_seen) {
    const std::uint32_t server = served_[distance.n_seen];
    const Word* const near = around(distance, server - n_sources_);
    for (std::size_t w = 0; w < n_words_; ++w) {
      Word added = near[w] & ~distance.reached[w];
      distance.reached[w] |= added;
      for (; added != 0; added &= added - 1)
        distance.from[w * kBits + static_cast<std::size_t>(std::countr_zero(added))] = server;
    }
  }
}

/// The nodes at this distance from a node.
const GreedyTrees::Word* GreedyTrees::around(Distance& distance, std::size_t node) {
  if (distance.is_found.empty()) {
    distance.around.assign(n_nodes_ * n_words_, 0);
    distance.is_found.assign(n_nodes_, 0);
  }
  Word* const bits = &distance.around[node * n_words_];
  if (distance.is_found[node] == 0) {
    find_nodes(&links_[node * n_nodes_], n_nodes_, distance.links, bits);
    distance.is_found[node] = 1;
  }
  return bits;
}

/// The first node there that is not served; n_nodes_ where there is none.
std::size_t GreedyTrees::first_open(const Distance& distance) const {
  for (std::size_t w = 0; w < n_words_; ++w)
    if (const Word open = distance.reached[w] & open_[w]; open != 0)
      return w * kBits + static_cast<std::size_t>(std::countr_zero(open));
  return n_nodes_;
}

void GreedyTrees::serve(std::size_t node, const Distance& distance) {
  const std::size_t from = distance.from[node];
  const std::size_t to = n_sources_ + node;
  depth_[to] = depth_[from] + distance.links;
  branches_.push_back({from, to, distance.links, depth_[to]});
  served_.push_back(static_cast<std::uint32_t>(to));
  open_[node / kBits] &= ~(Word{1} << (node % kBits));
}

}  // namespace sluice
