// Which instances of a fanout have work, and what is there for those that read forwarded tensors:
// model and executor say the same.
#include <gmock/gmock.h>

#include "settled_differences.h"
#include "sluice/referee/execute.h"

namespace sluice::settled {
namespace {

using ::testing::HasSubstr;

std::string arch_of(int nodes) {
  return R"(
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Network {name: Mesh, topology: mesh, link_bandwidth: 8, hop_energy: 1}
  - !Container {name: Node, spatial: [{name: c, fanout: )" +
         std::to_string(nodes) + R"(}]}
  - !Memory {name: GB, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
mapping:
  nodes:
)";
}

constexpr const char* kFiveRows =
    "workload:\n  rank_sizes: {M: 5, K: 2}\n  bits_per_value: {All: 8}\n"
    "  einsums: [\"Y[m] = X[m,k] * W[k]\"]\n";

std::string loops_of_five_rows(const std::string& outer) {
  return "  - !Storage {tensors: [X, W, Y], component: DRAM}\n" + outer + R"(
  - !Spatial {rank_variable: m, tile_shape: 1, component: Node, name: c}
  - !Storage {tensors: [X, W, Y], component: GB}
  - !Temporal {rank_variable: k, tile_shape: 1}
  - !Compute {einsum: Y, component: MAC}
)";
}

// Seed 12,009,672. Of m 5 the first loop makes tiles of 2, 2 and 1, the second one 2, 2 and 1
// instances of these: 0 to 4. The sixth of 3 · 2 has nothing to do, and need not be there.
TEST(SettledInstances, OfTwoUnevenLoopsTheLastOnesNeedNotBeThere) {
  const std::string loops = loops_of_five_rows(
      "  - !Spatial {rank_variable: m, tile_shape: 2, component: Node, name: c}");
  const Settled six(kFiveRows, loops, arch_of(6)), five(kFiveRows, loops, arch_of(5));
  EXPECT_TRUE(six.legal);
  ASSERT_TRUE(five.legal);
  EXPECT_EQ(five.count("GB", "X", "write"), 10);
  EXPECT_FALSE(Settled(kFiveRows, loops, arch_of(4)).legal);
}

// In the steps of a temporal loop outside, all but the last one have full tiles.
// A loop of one step does nothing, be it over instances that are not on the way.
TEST(SettledInstances, ALoopOfOneStepMayBeOverAnyInstances) {
  const Settled aside(R"yaml(
workload:
  rank_sizes: {M: 2}
  bits_per_value: {All: 8}
  einsums: ["Y[m] = exp(X[m])"]
)yaml",
                      R"yaml(
  - !Storage {tensors: [X, Y], component: DRAM}
  - !Spatial {rank_variable: m, tile_shape: 2, component: PE, name: x}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Compute {einsum: Y, component: VEC}
)yaml",
                      R"yaml(
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Fork
    nodes:
    - !Compute {name: VEC, actions: [{name: compute, energy: 1, throughput: 1}]}
  - !Container {name: PE, spatial: [{name: x, fanout: 2}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
mapping:
  nodes:
)yaml");
  EXPECT_TRUE(aside.legal);
}

TEST(SettledInstances, ATemporalLoopOutsideLeavesFullTilesToTheInnerOnes) {
  const std::string loops = loops_of_five_rows(
      "  - !Temporal {rank_variable: m, tile_shape: 4}\n"
      "  - !Spatial {rank_variable: m, tile_shape: 3, component: Node, name: c}");
  // Tiles of 3 and 1: instances 0 to 2, and 3 of 2 · 3 = 6.
  EXPECT_TRUE(Settled(kFiveRows, loops, arch_of(4)).legal);
  EXPECT_FALSE(Settled(kFiveRows, loops, arch_of(3)).legal);
}

// The second step of Z needs rows 2 to 4 of T. Row 2 was made in the first one, for a window there,
// and is no longer at hand. That this could not be priced either does not matter.
TEST(SettledInstances, AForwardOfRowsOfAnEarlierStepIsIllegal) {
  const std::string workload =
      "workload:\n  rank_sizes: {P: 6, U: 5}\n  bits_per_value: {All: 8}\n  einsums: [\"T[p] = "
      "X[p] * 2\", \"Z[u] = T[P:u+r] * W[r]\"]\n  iteration_space_shape: {r: 0 <= r < 2}\n";
  const Settled found(workload, R"(
  - !Storage {tensors: [X, W, Z], component: DRAM}
  - !Temporal {rank_variable: [u, p], tile_shape: 2}
  - !Pipeline
    forward: {T: GB}
    nodes:
    - !Nested
      nodes:
      - !Storage {tensors: [T], component: GB}
      - !Temporal {rank_variable: p, tile_shape: 1}
      - !Compute {einsum: T, component: MAC}
    - !Nested
      nodes:
      - !Storage {tensors: [T], component: GB}
      - !Temporal {rank_variable: u, tile_shape: 1}
      - !Temporal {rank_variable: r, tile_shape: 1}
      - !Compute {einsum: Z, component: MAC}
)",
                      arch_of(2));
  EXPECT_FALSE(found.legal);
  const auto said = evaluate(found.loaded.problem, found.loaded.mapping);
  ASSERT_FALSE(said);
  std::string reasons;
  for (const Violation& violation : said.error())
    if (violation.kind != ViolationKind::kUnsupportedNode) reasons += violation.message;
  EXPECT_THAT(reasons, HasSubstr("The forward of T to GB: the Einsum Z needs the indices 2 to 4 of "
                                 "its rank P in a step; the Einsum T makes 3 to 4."));
  const Execution run =
      execute(found.loaded.problem.workload, found.loaded.problem.arch, found.loaded.mapping);
  ASSERT_FALSE(run.is_legal());
  EXPECT_FALSE(run.is_unsupported());
  EXPECT_THAT(run.complaints[0].message, HasSubstr("before anybody has made it in this step"));
}

}  // namespace
}  // namespace sluice::settled
