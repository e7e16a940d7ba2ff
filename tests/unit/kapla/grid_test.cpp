#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "kapla/grid/layout.h"
#include "kapla/grid/partition.h"
#include "kapla/grid/region.h"

namespace sluice::kapla {
namespace {

using ::testing::ElementsAre;

TEST(Stripes, FoldWhereTheGridEndsAndGoBack) {
  // 4 × 4 nodes: stripes of gcd(4, 6, 10) = 2 rows; 3 nodes along for the first, 5 for the second:
  // one to the right of it, then back from the right in the next stripe.
  const std::vector<Region> regions = stripes({4, 4}, {6, 10});
  ASSERT_EQ(regions.size(), 2);
  EXPECT_EQ(regions[1].dim, (Extent{2, 5}));
  EXPECT_EQ(regions[1].at({0, 0}), (Node{0, 3}));
  EXPECT_EQ(regions[1].at({1, 1}), (Node{3, 3}));
  EXPECT_EQ(regions[1].at({0, 4}), (Node{2, 0}));
}

TEST(Stripes, AreNoneForMoreNodesThanThereAre) { EXPECT_TRUE(stripes({4, 4}, {8, 9}).empty()); }

TEST(Ports, AreAtTheCorners) {
  EXPECT_THAT(nodes_of(corner_ports({4, 3})),
              ElementsAre(Node{0, 0}, Node{0, 2}, Node{3, 0}, Node{3, 2}));
}

TEST(Partition, NumbersNodesByItsOrder) {
  Partition partition;
  partition.order = {kByOutputChannels, kByPlane, kBySamples, kByInputChannels};
  partition.parts[kBySamples] = {2, 1};
  partition.parts[kByInputChannels] = {2, 2};
  PartIndex index;
  index.fill({0, 0});
  index[kBySamples] = {1, 0};
  index[kByInputChannels] = {1, 1};
  // Samples outside: 1 · 2 + 1 rows down.
  EXPECT_EQ(node_of(partition, whole_grid({4, 2}), index), (Node{3, 1}));
}

TEST(Partition, IsCutFromOutsideWhereItsRegionIsSmaller) {
  Partition partition;
  partition.order = {kByPlane, kByInputChannels, kBySamples, kByOutputChannels};
  partition.parts[kBySamples] = {4, 1};
  partition.parts[kByOutputChannels] = {2, 1};
  partition.parts[kByInputChannels] = {1, 8};
  const Partition cut = project(partition, corner_ports({16, 16}));
  EXPECT_EQ(cut.parts[kByOutputChannels], (Extent{2, 1}));  // innermost: both rows of ports
  EXPECT_EQ(cut.parts[kBySamples], (Extent{1, 2}));  // the only ones left across: widened to 2
  EXPECT_EQ(cut.parts[kByInputChannels], (Extent{1, 1}));
}

/// The least links of a tree that reaches all nodes from one of the sources, through no other
/// nodes: every order of joining them.
std::int64_t best_tree(const std::vector<Node>& reached, std::vector<Node> to) {
  if (to.empty()) return 0;
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < to.size(); ++i) {
    std::vector<Node> rest = to;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    std::vector<Node> more = reached;
    more.push_back(to[i]);
    std::int64_t nearest = std::numeric_limits<std::int64_t>::max();
    for (const Node& node : reached) nearest = std::min(nearest, distance(node, to[i]));
    best = std::min(best, nearest + best_tree(more, rest));
  }
  return best;
}

TEST(Tree, IsTheShortestOnGridsUpToFourByFour) {
  std::mt19937 random(1);
  const std::vector<Node> grid = nodes_of(whole_grid({4, 4}));
  for (int i = 0; i < 200; ++i) {
    std::vector<Node> nodes = grid;
    std::shuffle(nodes.begin(), nodes.end(), random);
    const std::vector<Node> sources(nodes.begin(), nodes.begin() + 1 + i % 2);
    const std::vector<Node> to(nodes.begin() + 2, nodes.begin() + 3 + i % 5);
    EXPECT_EQ(tree_links(sources, to), best_tree(sources, to));
  }
}

// A map of 4 channels at two nodes, two at each. All of it to (0,1): 2 words over 1 link and 2 over
// 0. To both (0,1) and (0,0): as cheap to either; from the first to the other 4 words over 1 link.
TEST(Layout, BringsAMapAlongATree) {
  Partition halves{{kByPlane, kBySamples, kByInputChannels, kByOutputChannels}, {}};
  halves.parts[kByOutputChannels] = {1, 2};
  const Box map{{Interval{0, 1}, Interval{0, 4}, Interval{0, 1}, Interval{0, 1}}};
  const Layout layout({{map, whole_grid({1, 2}), halves}});
  EXPECT_THAT(layout.words_times_links(map, {{0, 1}}), ElementsAre(2));
  EXPECT_EQ(layout.along_a_tree(map, {{0, 0}, {0, 1}}), 2 + 4);
}

}  // namespace
}  // namespace sluice::kapla
