// Collectives: the cost formulas against the referee that performs each step on numbers.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "sluice/model/collective_cost.h"
#include "sluice/referee/collective_run.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

constexpr CollectiveType kTypes[] = {CollectiveType::kAllReduce, CollectiveType::kReduceScatter,
                                     CollectiveType::kAllGather, CollectiveType::kBroadcast,
                                     CollectiveType::kGather,    CollectiveType::kScatter,
                                     CollectiveType::kAllToAll};
Network network_of(Topology topology) {
  Network network;
  network.topology = topology;
  return network;
}

/// All instances of one container.
CollectiveGroup one_network(Topology topology, const std::vector<std::int64_t>& fanouts) {
  CollectiveGroup group;
  group.networks = {{network_of(topology), fanouts}};
  for (std::uint32_t d = 0; d < fanouts.size(); ++d) group.over.push_back({0, d, fanouts[d]});
  return group;
}

/// Every index of everyone's vector that the collective is about, as it must be after it.
double expected(const CollectiveRequest& request, Reduction op,
                const std::vector<std::vector<double>>& data, const std::vector<int>& owner,
                const referee::CollectiveItem& item) {
  const auto index = static_cast<std::size_t>(item.second);
  switch (request.type) {
    case CollectiveType::kAllReduce:
    case CollectiveType::kReduceScatter: {
      double result = data[0][index];
      for (std::size_t p = 1; p < data.size(); ++p)
        result = op == Reduction::kSum   ? result + data[p][index]
                 : op == Reduction::kMax ? std::max(result, data[p][index])
                                         : std::min(result, data[p][index]);
      return result;
    }
    case CollectiveType::kAllGather:
    case CollectiveType::kGather:
      return data[static_cast<std::size_t>(owner[index])][index];
    case CollectiveType::kBroadcast:
    case CollectiveType::kScatter:
      return data[static_cast<std::size_t>(request.root)][index];
    case CollectiveType::kAllToAll:
      return data[static_cast<std::size_t>(item.first)][index];
  }
  return 0;
}

/// How many values each participant must end with.
std::int64_t owed(const CollectiveRequest& request, std::int64_t participants, std::int64_t rank,
                  std::int64_t block) {
  switch (request.type) {
    case CollectiveType::kAllReduce:
    case CollectiveType::kAllGather:
    case CollectiveType::kBroadcast:
      return request.values;
    case CollectiveType::kReduceScatter:
    case CollectiveType::kScatter:
      return block;
    case CollectiveType::kGather:
      return rank == request.root ? request.values : 0;
    case CollectiveType::kAllToAll:
      return block * participants;
  }
  return 0;
}

struct CollectiveCase {
  CollectiveRequest request;
  std::string algorithm;
  Reduction op;
  std::string name() const {
    std::string shape;
    for (const CollectiveNetwork& network : request.group.networks) {
      shape += fmt::format(" topology {}", static_cast<int>(network.network.topology));
      for (std::int64_t fanout : network.fanouts) shape += fmt::format(" x{}", fanout);
    }
    return fmt::format("{} {}, {} values, root {},{}", algorithm, collective_name(request.type),
                       request.values, request.root, shape);
  }
};

void expect_equal(const referee::CollectiveCount& counted, const CollectiveQuantities& formula) {
  EXPECT_EQ(counted.latency_hops, formula.latency_hops);
  EXPECT_EQ(counted.volume_bits, formula.volume_bits);
  EXPECT_EQ(counted.bit_hops, formula.bit_hops);
}

/// One block of all values a participant: sizes differ by one at most, larger ones first.
std::vector<int> deal(std::int64_t values, std::int64_t participants) {
  std::vector<int> owner;
  for (std::int64_t p = 0; p < participants; ++p)
    owner.insert(owner.end(),
                 static_cast<std::size_t>((values + participants - 1 - p) / participants),
                 static_cast<int>(p));
  return owner;
}

void check(const CollectiveCase& c, std::mt19937_64& random) {
  SCOPED_TRACE(c.name());
  std::int64_t participants = 1;
  for (const CollectiveDimension& dimension : c.request.group.over)
    participants *= dimension.participants;
  std::vector<std::vector<double>> data(static_cast<std::size_t>(participants));
  for (std::vector<double>& vector : data)
    for (std::int64_t i = 0; i < c.request.values; ++i)
      vector.push_back(static_cast<double>(random() % 2001) - 1000);
  const referee::CollectiveRun run = referee::run_collective(c.request, c.algorithm, c.op, data);
  const CollectiveCounts counts = count_collective(c.request, c.algorithm);
  expect_equal(run.total, counts.total);
  for (std::size_t n = 0; n < run.networks.size(); ++n)
    expect_equal(run.networks[n], counts.networks[n]);
  EXPECT_EQ(run.combined_values, counts.combined_values);
  const std::vector<int> owner = deal(c.request.values, participants);
  for (std::int64_t rank = 0; rank < participants; ++rank) {
    const referee::CollectiveBuffer& result = run.results[static_cast<std::size_t>(rank)];
    const auto block = std::count(owner.begin(), owner.end(), static_cast<int>(rank));
    EXPECT_EQ(static_cast<std::int64_t>(result.size()), owed(c.request, participants, rank, block));
    for (const auto& [item, value] : result)
      EXPECT_EQ(value, expected(c.request, c.op, data, owner, item));
  }
}

/// Every type and algorithm that the group's networks admit. Returns how many.
int check_all(const CollectiveGroup& group, const std::vector<std::int64_t>& lengths,
              std::mt19937_64& random) {
  int checked = 0;
  std::int64_t participants = 1;
  for (const CollectiveDimension& dimension : group.over) participants *= dimension.participants;
  constexpr Reduction kOps[] = {Reduction::kSum, Reduction::kMax, Reduction::kMin};
  for (const CollectiveType type : kTypes)
    for (const std::string& algorithm : standard_collective_algorithms().names())
      for (const std::int64_t values : lengths)
        for (const Reduction op : kOps) {
          const bool reduces =
              type == CollectiveType::kAllReduce || type == CollectiveType::kReduceScatter;
          const bool rooted = type == CollectiveType::kBroadcast ||
                              type == CollectiveType::kGather || type == CollectiveType::kScatter;
          if (!reduces && !rooted && op != Reduction::kSum) continue;
          // Rooted ones: the first, the last and some other participant instead of operations.
          const std::int64_t root = !rooted                 ? 0
                                    : op == Reduction::kSum ? 0
                                    : op == Reduction::kMax
                                        ? participants - 1
                                        : static_cast<std::int64_t>(random()) % participants;
          const CollectiveRequest request{type, group, values, 16, root < 0 ? -root : root};
          if (why_no_collective(request, algorithm)) continue;
          check({request, algorithm, reduces ? op : Reduction::kNone}, random);
          ++checked;
          if (::testing::Test::HasFailure()) return checked;
        }
  return checked;
}

TEST(CollectiveAgreement, EveryAlgorithmOnEveryTopologyCountsAsTheReferee) {
  std::mt19937_64 random(1);
  int checked = 0;
  const std::vector<std::vector<std::int64_t>> shapes = {
      {2}, {3}, {4}, {6}, {8}, {16}, {32}, {2, 2}, {3, 2}, {2, 4}, {4, 4}, {4, 8}, {2, 2, 4}};
  for (const std::vector<std::int64_t>& shape : shapes)
    for (const TopologyFacts& facts : kTopologies) {
      const Topology topology = facts.topology;
      std::int64_t participants = 1;
      for (std::int64_t extent : shape) participants *= extent;
      checked += check_all(one_network(topology, shape),
                           {1, participants - 1, 2 * participants + 3}, random);
      if (HasFailure()) return;
    }
  EXPECT_GT(checked, 10000);
}

/// Clusters on one network, cores on another; some of the instances, in any order of dimensions.
CollectiveGroup two_networks(std::mt19937_64& random) {
  const auto pick = [&](std::uint64_t least, std::uint64_t most) {
    return static_cast<std::int64_t>(least + random() % (most - least + 1));
  };
  CollectiveGroup group;
  for (int n = 0; n < 2; ++n) {
    CollectiveNetwork network{network_of(kTopologies[random() % std::size(kTopologies)].topology),
                              {}};
    std::vector<std::int64_t> standing;
    for (std::int64_t d = pick(1, 2); d > 0; --d) network.fanouts.push_back(pick(1, 4));
    for (std::uint32_t d = 0; d < network.fanouts.size(); ++d) {
      const std::int64_t fanout = network.fanouts[d];
      const bool is_over = random() % 3 != 0;
      standing.push_back(is_over ? 0 : pick(0, static_cast<std::uint64_t>(fanout) - 1));
      if (is_over)
        group.over.push_back(
            {static_cast<std::size_t>(n), d, pick(1, static_cast<std::uint64_t>(fanout))});
    }
    group.networks.push_back(network);
    group.standing_at.push_back(standing);
  }
  std::shuffle(group.over.begin(), group.over.end(), random);
  return group;
}

TEST(CollectiveAgreement, RandomGroupsOverTwoNetworksCountAsTheReferee) {
  const testing::RandomCases cases = testing::random_cases(200, 1);
  for (std::int64_t i = 0; i < cases.count; ++i) {
    SCOPED_TRACE(fmt::format("seed {}", cases.seed + static_cast<std::uint64_t>(i)));
    std::mt19937_64 random(cases.seed + static_cast<std::uint64_t>(i));
    const CollectiveGroup group = two_networks(random);
    if (group.over.empty()) continue;
    check_all(group, {static_cast<std::int64_t>(1 + random() % 40)}, random);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace sluice
