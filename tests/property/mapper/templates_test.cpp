// Which nodes stand in which order: tolls hold nothing, and so keep no node from sliding together
// with others; templates that cost the same as others, or more, are not listed.
#include <algorithm>
#include <set>
#include <string>

#include "brute_force_agreement.h"
#include "mapper/space/template.h"
#include "oracle/compound/compound_case.h"
#include "sluice/mapper/run_mapper.h"

namespace sluice {
namespace {

constexpr const char* kSum = R"yaml(
workload:
  rank_sizes: {M: 4, N: 6}
  bits_per_value: {All: 8}
  einsums: ["O[m,n] = A[m,n] + B[m,n] + C[m,n] + V[n]"]
)yaml";

std::string machine_of(const std::string& inner) {
  return std::string(kSum) + R"yaml(
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 8, throughput: 1}, {name: write, energy: 8, throughput: 1}]}
)yaml" + inner +
         R"yaml(
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml";
}

constexpr const char* kActions =
    "actions: [{name: read, energy: 1, throughput: 4}, {name: write, energy: 1, throughput: 4}]}\n";

/// Which nodes stand in which order, outermost first: `Buffer:V` and the like, those of the
/// outermost memory left out.
std::set<std::string> orders_of(const std::string& inner) {
  const BoundProblem problem = oracle::bind_compound(machine_of(inner));
  const fused::EinsumShape shape = fused::make_einsum_shape(problem, EinsumId(0));
  std::set<std::string> orders;
  for (const fused::Template& templ :
       fused::enumerate_templates(problem, shape, MapperOptions(), Constraints())) {
    std::string order;
    for (const fused::Slot& slot : templ.slots) {
      if (slot.backing) continue;
      order += (order.empty() ? "" : " ") + problem.arch[slot.component].name + ":" +
               problem.workload[shape.tensors[slot.tensor].id].name;
    }
    orders.insert(order);
  }
  return orders;
}

TEST(Templates, NodesThatAllLoopsMoveStandLowestInOneOrder) {
  const std::string buffer =
      std::string("  - !Memory {name: Buffer, size: 800, tensors: {keep: All}, ") + kActions;
  EXPECT_EQ(orders_of(buffer),
            (std::set<std::string>{"Buffer:V Buffer:A Buffer:B Buffer:C Buffer:O"}));
}

TEST(Templates, NodesOfATollHaveOneOrder) {
  const std::string toll =
      "  - !Toll {name: Link, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: "
      "4}]}\n";
  EXPECT_EQ(orders_of(toll), (std::set<std::string>{"Link:A Link:B Link:C Link:V Link:O"}));
}

TEST(Templates, CopiesThatSaveNothingAreLeftOut) {
  const std::string buffer =
      std::string("  - !Memory {name: Buffer, size: 800, tensors: {may_keep: All}, ") + kActions;
  EXPECT_EQ(orders_of(buffer), (std::set<std::string>{"", "Buffer:V"}));
}

TEST(Templates, CopiesThatAnotherMemoryAsksForAreKept) {
  const std::string memories =
      std::string("  - !Memory {name: Buffer, size: 800, tensors: {may_keep: O}, ") + kActions +
      "  - !Memory {name: Local, size: 800, tensors: {keep: ~Buffer, may_keep: Nothing}, " +
      kActions;
  EXPECT_EQ(orders_of(memories).size(), 2U);
}

TEST(Tolls, NodesSlideTogetherAcrossTolls) {
  expect_brute_force_agreement(R"yaml(workload:
  rank_sizes: {M: 3, N0: 3, P1: 3, R1: 2}
  bits_per_value: {All: 16}
  persistent_tensors: All
  einsums:
  - {einsum: "T1[p1,n0] = T0[M:p1+r1,n0] * W1[r1,n0]", iteration_space_shape: [0 <= r1 < 2], renames: {input: T0, output: T1, weight: W1}}
  - {einsum: "T2[p1,n0] = T1[p1,n0]", renames: {input: T1, output: T2, weight: Nothing}}
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates}, actions: [{name: read, energy: 16, throughput: inf}, {name: write, energy: 32, throughput: inf}]}
  - !Memory {name: Buffer, size: 184, tensors: {keep: ~Main, may_keep: All}, buffering: double, actions: [{name: read, energy: 2, throughput: inf}, {name: write, energy: 6, throughput: inf}]}
  - !Toll {name: Link, tensors: {keep: weight | output}, actions: [{name: read, energy: 1, throughput: inf}]}
  - !Memory {name: Local, size: inf, tensors: {keep: input}, actions: [{name: read, energy: 2, throughput: inf}, {name: write, energy: 3, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 2, throughput: 0.5}]}
)yaml");
}

/// In any order of the nodes, of which `fused` lists one.
TEST(Tolls, SumsOfSeveralTensorsPassATollInOneOrder) {
  expect_brute_force_agreement(R"yaml(workload:
  rank_sizes: {M: 3, N: 2}
  bits_per_value: {All: 8}
  einsums: ["T[m,n] = A[m,n] * G[n] + B[m,n]", "O[m,n] = T[m,n] - C[m]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 16, throughput: 2}, {name: write, energy: 32, throughput: 4}]}
  - !Memory {name: Buffer, size: 48, tensors: {keep: ~Main, may_keep: All}, actions: [{name: read, energy: 2, throughput: 8}, {name: write, energy: 6, throughput: 8}]}
  - !Toll {name: Link, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: 16}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 2, throughput: 0.5}]}
)yaml");
}

/// Where `min_usage` asks each placement for as much as it can, one that can do less with a copy is
/// not the same without it.
TEST(Templates, CopiesThatKeepAFanoutFromBeingUsedAreNotLeftOut) {
  expect_brute_force_agreement(R"yaml(workload:
  rank_sizes: {M: 4}
  bits_per_value: {All: 8}
  einsums: ["O[m] = A[m] + B[m]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Memory {name: Buffer, size: 8, tensors: {may_keep: A}, actions: [{name: read, energy: 0, throughput: inf}, {name: write, energy: 0, throughput: inf}]}
  - !Network {name: Mesh, topology: mesh, link_bandwidth: inf, hop_energy: 1}
  - !Container {name: PE, spatial: [{name: x, fanout: 4, min_usage: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml");
}

/// L0 must hold A where L2 does not: a copy in L2 saves that one, though L1 would hold it as well.
TEST(Templates, CopiesThatSpareAnotherOneAreNotLeftOut) {
  expect_brute_force_agreement(R"yaml(workload:
  rank_sizes: {M: 4, N: 2}
  bits_per_value: {All: 8}
  einsums: ["O[m,n] = A[m,n] + B[m,n]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 8, throughput: 1}, {name: write, energy: 8, throughput: 1}]}
  - !Memory {name: L2, size: inf, tensors: {may_keep: A}, actions: [{name: read, energy: 1, throughput: 4}, {name: write, energy: 1, throughput: 4}]}
  - !Memory {name: L1, size: inf, tensors: {keep: A | B}, actions: [{name: read, energy: 1, throughput: 4}, {name: write, energy: 1, throughput: 4}]}
  - !Memory {name: L0, size: inf, tensors: {keep: ~L2 & A, may_keep: Nothing}, actions: [{name: read, energy: 100, throughput: 4}, {name: write, energy: 100, throughput: 4}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml");
}

/// A tensor and its copy, which one Einsum reads, have room where one of them has.
TEST(Templates, ATensorAndItsCopyShareTheirRoom) {
  const std::string text = R"yaml(workload:
  rank_sizes: {M: 1, N: 2}
  bits_per_value: {All: 8}
  einsums:
  - {einsum: "T[m,n] = A[m,n]"}
  - {einsum: "U[m,n] = T[m,n]", is_copy_operation: true}
  - {einsum: "O[m,n] = U[m,n] + T[m,n]"}
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Memory {name: Buffer, size: 8, tensors: {may_keep: All}, actions: [{name: read, energy: 0.5, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml";
  expect_brute_force_agreement(text);
  MapperOptions options;
  options.objectives = {Objective::kEnergy};
  const auto visited =
      run_mapper(*standard_mappers().find("exhaustive"), oracle::bind_compound(text), options, {});
  ASSERT_TRUE(visited);
  EXPECT_EQ(visited->mappings.front().cost.energy_j, 68);
}

/// So have two copies that only a tensor between them ties together: it stays for the whole run, or
/// the Einsum that reads them does not see it.
TEST(Templates, CopiesThatAnotherTensorTiesTogetherShareTheirRoom) {
  const auto least_of = [](const std::string& persistent, const std::string& sum,
                           const std::string& rules) {
    const std::string text =
        "workload:\n  persistent_tensors: " + persistent + R"yaml(
  rank_sizes: {M: 1, N: 1}
  bits_per_value: {All: 8}
  einsums:
  - {einsum: "A[m,n] = I[m,n]"}
  - {einsum: "P[m,n] = A[m,n]", is_copy_operation: true}
  - {einsum: "B[m,n] = P[m,n]", is_copy_operation: true}
  - {einsum: "O[m,n] = )yaml" +
        sum +
        R"yaml("}
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 10, throughput: 1}, {name: write, energy: 10, throughput: 1}]}
  - !Memory {name: Buffer, size: 8, tensors: {)yaml" +
        rules +
        R"yaml(}, actions: [{name: read, energy: 0.5, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml";
    expect_brute_force_agreement(text);
    MapperOptions options;
    options.objectives = {Objective::kEnergy};
    const auto visited = run_mapper(*standard_mappers().find("exhaustive"),
                                    oracle::bind_compound(text), options, {});
    return visited ? visited->mappings.front().cost.energy_j : 0;
  };
  for (const char* persistent : {"P", "Nothing"})
    for (const char* rules : {"may_keep: All", "keep: A | B | P"}) {
      SCOPED_TRACE(std::string(persistent) + ", " + rules);
      EXPECT_EQ(least_of(persistent, "A[m,n] + B[m,n] + P[m,n]", rules), 182);
      EXPECT_EQ(least_of(persistent, "A[m,n] + B[m,n]", rules), 178);
    }
}

/// Of the templates that are drawn, some fuse nothing: they keep each tensor as far out as it may
/// be, and where it must be.
TEST(Templates, ThatAreDrawnHoldEachTensorAsFarOutAsItMayBe) {
  std::string memories;
  for (const char* name : {"L1", "L2", "L3", "L4", "L5"})
    memories += std::string("  - !Memory {name: ") + name +
                ", size: 800, tensors: {may_keep: All}, " + kActions;
  const std::string text =
      std::string(R"yaml(workload:
  rank_sizes: {M: 4, N: 6}
  bits_per_value: {All: 8}
  einsums: ["T[m,n] = A[m,n]", "S[m] = sum(T[m,n])", "U[m,n] = T[m,n] - S[m]", "O[m,n] = U[m,n]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All - T}, actions: [{name: read, energy: 8, throughput: 1}, {name: write, energy: 8, throughput: 1}]}
)yaml") +
      memories + "  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}\n";
  const BoundProblem problem = oracle::bind_compound(text);
  const fused::EinsumShape shape = fused::make_einsum_shape(problem, EinsumId(2));
  fused::TemplateLimits limits;
  limits.most = 40;
  const auto drawn =
      fused::enumerate_templates(problem, shape, MapperOptions(), Constraints(), limits);
  const auto is_plain = [&](const fused::Template& templ) {
    return std::all_of(templ.slots.begin(), templ.slots.end(), [&](const fused::Slot& slot) {
      const bool is_t = problem.workload[shape.tensors[slot.tensor].id].name == "T";
      return problem.arch[slot.component].name == (is_t ? "L1" : "Main");
    });
  };
  EXPECT_TRUE(std::any_of(drawn.begin(), drawn.end(), is_plain)) << drawn.size();
}

}  // namespace
}  // namespace sluice
