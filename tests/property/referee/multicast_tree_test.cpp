// Greedy trees on grids up to 4 x 4, for every set of nodes and several sets of ports: against a
// minimum spanning tree of the distances, which they are, and against the smallest tree of links by
// brute force over all sets of nodes, which they are never below and at most twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "model/topology/greedy_tree.h"
#include "model/topology/ports.h"
#include "referee/topology/ports.h"

namespace sluice {
namespace {

struct Grid {
  std::int64_t rows, columns;
  std::vector<Coordinates> ports;

  std::size_t size() const { return static_cast<std::size_t>(rows * columns); }
  Coordinates node(std::size_t n) const {
    return {static_cast<std::int64_t>(n) / columns, static_cast<std::int64_t>(n) % columns};
  }
  std::int64_t distance(std::size_t a, std::size_t b) const {
    const Coordinates from = node(a), to = node(b);
    return std::abs(from[0] - to[0]) + std::abs(from[1] - to[1]);
  }
  unsigned port_set() const {
    unsigned set = 0;
    for (const Coordinates& port : ports) set |= 1U << (port[0] * columns + port[1]);
    return set;
  }
  Network network() const {
    return {.topology = Topology::kMesh,
            .ports = {PortPlaces::kListed, ports},
            .multicast = Multicast::kGreedyTree};
  }
};

/// Links of a forest that spans a set of nodes, each of its trees from one port; none if there is
/// no such forest.
std::optional<std::int64_t> spanning_links(const Grid& grid,
                                           const std::vector<unsigned>& neighbours, unsigned set) {
  const unsigned ports = grid.port_set() & set;
  unsigned reached = ports;
  for (unsigned before = 0; before != reached;) {
    before = reached;
    for (std::size_t n = 0; n < grid.size(); ++n)
      if (((before >> n) & 1U) != 0) reached |= neighbours[n] & set;
  }
  if (reached != set) return std::nullopt;
  return std::popcount(set) - std::popcount(ports);
}

/// The fewest links that connect each set of nodes with ports.
std::vector<std::int64_t> smallest_trees(const Grid& grid) {
  std::vector<unsigned> neighbours(grid.size(), 0);
  for (std::size_t a = 0; a < grid.size(); ++a)
    for (std::size_t b = 0; b < grid.size(); ++b)
      if (grid.distance(a, b) == 1) neighbours[a] |= 1U << b;
  std::vector<std::int64_t> links(std::size_t{1} << grid.size(), 1000);
  for (unsigned set = 0; set < links.size(); ++set)
    links[set] = spanning_links(grid, neighbours, set).value_or(1000);
  for (std::size_t n = 0; n < grid.size(); ++n)  // what spans more nodes spans these, too
    for (unsigned set = 0; set < links.size(); ++set)
      if (((set >> n) & 1U) == 0) links[set] = std::min(links[set], links[set | 1U << n]);
  return links;
}

/// Kruskal's minimum spanning tree of the ports, as one, and the nodes.
std::int64_t spanning_distance(const Grid& grid, unsigned set) {
  std::vector<std::array<std::int64_t, 3>> pairs;
  const unsigned ports = grid.port_set();
  for (std::size_t a = 0; a < grid.size(); ++a)
    for (std::size_t b = 0; b < grid.size(); ++b)
      if ((((ports | set) >> a) & 1U) != 0 && ((set >> b) & 1U) != 0)
        pairs.push_back(
            {grid.distance(a, b), static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)});
  std::sort(pairs.begin(), pairs.end());
  std::vector<std::int64_t> tree(grid.size());
  std::iota(tree.begin(), tree.end(), 0);
  const auto merge = [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t& member : tree)
      if (member == from) member = to;
  };
  const auto first = static_cast<std::int64_t>(std::countr_zero(ports));
  for (std::size_t n = 0; n < grid.size(); ++n)
    if (((ports >> n) & 1U) != 0) merge(tree[n], first);
  std::int64_t links = 0;
  for (const auto& [distance, a, b] : pairs) {
    const auto from = tree[static_cast<std::size_t>(a)], to = tree[static_cast<std::size_t>(b)];
    if (from == to) continue;
    merge(from, to);
    links += distance;
  }
  return links;
}

std::vector<Coordinates> nodes_of(const Grid& grid, unsigned set) {
  std::vector<Coordinates> nodes;
  for (std::size_t n = 0; n < grid.size(); ++n)
    if (((set >> n) & 1U) != 0) nodes.push_back(grid.node(n));
  return nodes;
}

void compare_all_sets(const Grid& grid, unsigned stride) {
  const std::vector<std::int64_t> smallest = smallest_trees(grid);
  const Network network = grid.network();
  const Coordinates fanouts = {grid.rows, grid.columns};
  const PortRoutes routes(network, fanouts);
  for (unsigned set = 1; set < smallest.size(); set += stride) {
    const std::vector<Coordinates> nodes = nodes_of(grid, set);
    const SharedRoutes tree = routes.to(nodes, false);
    const auto links = static_cast<std::int64_t>(tree.links.size());
    ASSERT_EQ(links, spanning_distance(grid, set)) << set;
    ASSERT_GE(links, smallest[set]) << set;
    ASSERT_LE(links, 2 * smallest[set]) << set;
    const referee::Spread walked =
        referee::spread_to(network, fanouts, {nodes.begin(), nodes.end()}, false);
    ASSERT_EQ(links, static_cast<std::int64_t>(walked.wires.size())) << set;
    ASSERT_EQ(tree.longest, walked.longest) << set;
  }
}

TEST(GreedyTrees, AreSpanningTreesOfTheDistancesAndNeverBelowTheSmallestTree) {
  for (std::int64_t rows = 1; rows <= 4; ++rows)
    for (std::int64_t columns = 1; columns <= 4; ++columns) {
      const unsigned stride = rows * columns == 16 ? 31 : rows * columns == 12 ? 3 : 1;
      compare_all_sets({rows, columns, {{0, 0}}}, stride);
      compare_all_sets({rows, columns, {{rows - 1, columns / 2}}}, stride);
      if (rows < 2 || columns < 2) continue;
      compare_all_sets(
          {rows, columns, {{0, 0}, {0, columns - 1}, {rows - 1, 0}, {rows - 1, columns - 1}}},
          stride);
    }
}

std::vector<std::int32_t> distances(const Grid& grid, const std::vector<std::size_t>& from,
                                    const std::vector<std::size_t>& to) {
  std::vector<std::int32_t> links;
  for (const std::size_t a : from)
    for (const std::size_t b : to) links.push_back(static_cast<std::int32_t>(grid.distance(a, b)));
  return links;
}

/// Trees to the same nodes share what they have in common; one that grows alone does not.
TEST(GreedyTrees, OfManySourcesAreThoseThatGrowAlone) {
  const Grid grid{4, 4, {}};
  for (unsigned set = 1; set < 1U << grid.size(); set += 37) {
    std::vector<std::size_t> nodes;
    for (std::size_t n = 0; n < grid.size(); ++n)
      if (((set >> n) & 1U) != 0) nodes.push_back(n);
    GreedyTrees trees(nodes.size(), distances(grid, nodes, nodes));
    for (std::size_t source = 0; source < grid.size(); ++source) {
      const std::vector<std::int32_t> links = distances(grid, {source}, nodes);
      GreedyTrees alone(nodes.size(), distances(grid, nodes, nodes));
      ASSERT_EQ(trees.grow(links), alone.grow(links)) << set << " from " << source;
    }
  }
}

/// A plus sign: five links join its four arms over the middle, which is no member itself; the
/// greedy tree goes from arm to arm, two links each.
TEST(GreedyTrees, MayBeLongerThanTheSmallestTree) {
  const Grid grid{3, 3, {{0, 1}}};
  const unsigned arms = 1U << 1 | 1U << 3 | 1U << 5 | 1U << 7;
  EXPECT_EQ(smallest_trees(grid)[arms], 4);
  EXPECT_EQ(spanning_distance(grid, arms), 6);
}

TEST(Ports, AreTheNearestOnes) {
  const Coordinates fanouts = {4, 4};
  Network network{.topology = Topology::kMesh, .ports = {PortPlaces::kCorners, {}}};
  std::vector<Coordinates> all;
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 4; ++j) all.push_back({i, j});
  // Each corner serves four nodes over three links. A sum goes to one corner: 3 + 4 * 3 links.
  EXPECT_EQ(PortRoutes(network, fanouts).to(all, false).links.size(), 12U);
  EXPECT_EQ(PortRoutes(network, fanouts).to(all, false).longest, 2);
  EXPECT_EQ(PortRoutes(network, fanouts).to(all, true).links.size(), 15U);
  EXPECT_EQ(hops_from_port(network, fanouts, {2, 1}), 2);
  network.ports.places = PortPlaces::kEdges;  // the four nodes inside are one link away
  EXPECT_EQ(PortRoutes(network, fanouts).to(all, false).links.size(), 4U);
  network.ports.places = PortPlaces::kAll;
  EXPECT_EQ(PortRoutes(network, fanouts).to(all, false).links.size(), 0U);
  network = {.topology = Topology::kAllToAll, .ports = {PortPlaces::kOwn, {}}};
  EXPECT_EQ(PortRoutes(network, fanouts).to(all, false).links.size(), 16U);
}

}  // namespace
}  // namespace sluice
