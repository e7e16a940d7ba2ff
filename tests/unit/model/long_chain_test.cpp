#include <gtest/gtest.h>

#include <string>

#include "model/tree/interval_lists.h"
#include "unit/model/builders.h"

namespace sluice::testing {
namespace {

constexpr int kEinsums = 40;

Arch machine_of_chains() {
  Arch arch;
  arch.components = {memory("DRAM", "inf", "Nothing", 10, 1), memory("GB", "inf", "Nothing", 1, 1),
                     compute("MAC", {{"compute", 1, 1, 1, 0}})};
  return arch;
}

std::string tensor(int i) { return "T" + std::to_string(i); }

/// T1 = T0, T2 = T1, …: 4 values of 8 bits each.
Workload long_chain() {
  WorkloadBuilder builder({{"m", 4}}, 8);
  for (int i = 0; i < kEinsums; ++i) builder.einsum(tensor(i + 1) + "[m] = " + tensor(i) + "[m]");
  return builder.workload;
}

Node storage(const MappingBuilder& b, const char* component, int begin, int end) {
  Node node = b.storage(component, {});
  for (int i = begin; i < end; ++i)
    std::get<StorageNode>(node.kind).tensors.emplace_back(static_cast<std::size_t>(i));
  return node;
}

/// `tile`: of each Einsum's loop, above its compute.
NodeList chain_mapping(const MappingBuilder& b, std::int64_t tile) {
  std::vector<NodeList> children;
  for (int i = 0; i < kEinsums; ++i)
    children.push_back({b.temporal("m", tile), b.compute(tensor(i + 1), "MAC")});
  Node ends = storage(b, "DRAM", 0, 1);
  std::get<StorageNode>(ends.kind).tensors.emplace_back(std::size_t{kEinsums});
  return {ends, storage(b, "GB", 1, kEinsums), b.sequential(std::move(children))};
}

// One storage node for 39 intermediates: each is there for two steps. T0 and T40 are read and
// written in DRAM, 4 values each; each intermediate is written and read once.
TEST(LongChain, ANodeOfManyTensorsHoldsEachFromItsFirstToItsLastUse) {
  const Workload w = long_chain();
  const Arch arch = machine_of_chains();
  const Cost cost = priced(w, arch, chain_mapping(MappingBuilder(w, arch), 1));
  EXPECT_EQ(peak_bits(cost, arch, "GB"), 2 * 4 * 8);
  EXPECT_EQ(values(cost, w, arch, "DRAM", "read"), (Values{{"T0", 4}}));
  EXPECT_EQ(values(cost, w, arch, "GB", "read").size(), kEinsums - 1U);
  ASSERT_EQ(cost.fusion_groups.size(), 1U);
  EXPECT_EQ(cost.fusion_groups[0].size(), 40U);
}

// The search for what holds up a node that would sink goes through both alike.
TEST(LongChain, ANodeOfManyTensorsIsLikeANodeEach) {
  const Workload w = long_chain();
  const Arch arch = machine_of_chains();
  const MappingBuilder b(w, arch);
  NodeList together = chain_mapping(b, 1), apart = together;
  together[0] = apart[0] = storage(b, "DRAM", 0, kEinsums + 1);
  apart.erase(apart.begin() + 1);
  for (int i = 1; i < kEinsums; ++i) apart.insert(apart.begin() + i, storage(b, "GB", i, i + 1));
  const Cost one = priced(w, arch, together), each = priced(w, arch, apart);
  EXPECT_EQ(one.energy_j, each.energy_j);
  EXPECT_EQ(one.latency_s, each.latency_s);
  EXPECT_EQ(peak_bits(one, arch, "GB"), 2 * 4 * 8);
  EXPECT_EQ(peak_bits(each, arch, "GB"), 2 * 4 * 8);
}

TEST(LongChain, EachOfManyViolationsNamesItsNode) {
  const Workload w = long_chain();
  const Arch arch = machine_of_chains();
  const MappingBuilder b(w, arch);
  Mapping mapping;
  mapping.nodes = chain_mapping(b, 2);
  const auto cost = evaluate(bound(w, arch), mapping);
  ASSERT_FALSE(cost);
  ASSERT_EQ(cost.error().size(), 40U);  // each leaves a tile of 2 at its compute
  for (std::size_t i = 0; i < 40; ++i)
    EXPECT_EQ(cost.error()[i].node_path, (std::vector<std::size_t>{2, i, 1}));
}

TEST(IntervalLists, HaveTheIntervalsOfEachPlaceInOrder) {
  const std::vector<PlaceRange> ranges = {{-1, 2}, {1, 1}, {1, 3}, {2, 9}};
  const IntervalLists lists(3, ranges);
  const auto at = [&](std::size_t place) {
    return std::vector<std::uint32_t>(lists[place].begin(), lists[place].end());
  };
  EXPECT_EQ(at(0), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(at(1), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(at(2), (std::vector<std::uint32_t>{2, 3}));
  EXPECT_TRUE(at(3).empty());
}

}  // namespace
}  // namespace sluice::testing
