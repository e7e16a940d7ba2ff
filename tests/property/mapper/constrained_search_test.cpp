// Constraints: what they ask for is in the mapping, what the optimum does anyway costs nothing, and
// what leaves nothing is named.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "mapper/request/constraint_check.h"
#include "sluice/frontend/load.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/model/evaluate.h"

namespace sluice {
namespace {

constexpr const char* kSpecs = R"(workload:
  rank_sizes: {M: 8, K: 4, N: 6, P: 4}
  bits_per_value: {All: 8}
  einsums: ["B[m,n] = A[m,k] * W[k,n]", "C[m,p] = B[m,n] * V[n,p]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All},
             actions: [{name: read, energy: 64, throughput: 4}, {name: write, energy: 32, throughput: 8}]}
  - !Memory {name: Buffer, size: 400, tensors: {keep: ~Main, may_keep: All},
             actions: [{name: read, energy: 4, throughput: 16}, {name: write, energy: 2, throughput: 16}]}
  - !Memory {name: Local, size: 64, tensors: {keep: Nothing, may_keep: All}, spatial: [{name: x, fanout: 4}],
             actions: [{name: read, energy: 1, throughput: 32}, {name: write, energy: 1, throughput: 32}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)";

struct Asked {
  BoundProblem problem;
  MapperOptions options;  ///< with the constraints
};

Asked asked(const std::string& yaml) {
  const auto specs = load_specs_from_text({{"problem.yaml", yaml}}, {});
  if (!specs) throw std::runtime_error(to_string(specs.error().front()));
  MapperOptions options;
  options.constraints = specs->constraints.value();
  return {bind(*specs->workload, *specs->arch).value(), options};
}

struct Found {
  Specs specs;
  tl::expected<MapperResult, NoMapping> result;

  const Mapping& mapping() const { return result->mappings.at(0).mapping; }
  double edp() const { return result->mappings.at(0).cost.edp_js(); }
};

Found map_with(const std::string& constraints) {
  auto specs = load_specs_from_text(
      {{"specs.yaml", kSpecs + (constraints.empty() ? "" : "constraints:\n" + constraints)}}, {});
  if (!specs) throw std::runtime_error(to_string(specs.error().front()));
  MapperOptions options;
  options.max_fused_loops = 2;
  if (specs->constraints) options.constraints = *specs->constraints;
  const auto problem = bind(*specs->workload, *specs->arch);
  auto result = run_mapper(*standard_mappers().find("fused"), *problem, options, {});
  return {std::move(*specs), std::move(result)};
}

/// Calls `visit(node, einsums below)` for the nodes on the way to one Einsum, outermost first.
void walk_to(const NodeList& nodes, EinsumId einsum,
             const std::function<void(const Node&)>& visit) {
  const std::function<bool(const NodeList&, std::vector<const Node*>&)> find =
      [&](const NodeList& list, std::vector<const Node*>& path) {
        const std::size_t before = path.size();
        for (const Node& node : list) {
          path.push_back(&node);
          const auto* compute = std::get_if<ComputeNode>(&node.kind);
          if (compute != nullptr && compute->einsum == einsum) return true;
          if (const auto* split = std::get_if<SplitNode>(&node.kind))
            for (const NodeList& child : split->children)
              if (find(child, path)) return true;
        }
        path.resize(before);
        return false;
      };
  std::vector<const Node*> path;
  ASSERT_TRUE(find(nodes, path));
  for (const Node* node : path) visit(*node);
}

/// Names of the temporal loops' variables on the way to the second Einsum, and of the memories.
std::vector<std::string> nest_of_c(const Found& found) {
  std::vector<std::string> nest;
  const EinsumId einsum = find_einsum(*found.specs.workload, "C").value();
  walk_to(found.mapping().nodes, einsum, [&](const Node& node) {
    if (const auto* loop = std::get_if<TemporalNode>(&node.kind)) {
      for (RankVariableId variable : loop->variables)
        if (uses_variable((*found.specs.workload)[einsum], variable)) {
          nest.push_back((*found.specs.workload)[variable].name + std::to_string(loop->tile_shape));
          break;
        }
    } else if (const auto* storage = std::get_if<StorageNode>(&node.kind)) {
      nest.push_back((*found.specs.arch)[storage->component].name);
    }
  });
  return nest;
}

TEST(ConstrainedSearch, KeepsTheLoopsBetweenTwoMemoriesInOrder) {
  const double free = map_with("").edp();
  std::vector<std::vector<std::string>> orders = {
      {"m", "n", "p"}, {"p", "n", "m"}, {"n", "m", "p"}, {"p", "m", "n"}};
  bool some_order_is_free = false;
  for (const auto& order : orders) {
    const Found found = map_with("  loop_orders: [{einsum: C, memory: Main, order: [" + order[0] +
                                 ", " + order[1] + ", " + order[2] + "]}]\n");
    ASSERT_TRUE(found.result.has_value()) << found.result.error().reason;
    EXPECT_GE(found.edp(), free);
    some_order_is_free = some_order_is_free || found.edp() == free;
    std::size_t last = 0;
    for (const std::string& item : nest_of_c(found)) {
      if (item == "Buffer" || item == "Local") break;
      const auto at = std::find(order.begin(), order.end(), item.substr(0, 1));
      if (at == order.end()) continue;
      EXPECT_GE(static_cast<std::size_t>(at - order.begin()), last) << item;
      last = static_cast<std::size_t>(at - order.begin());
    }
  }
  EXPECT_TRUE(some_order_is_free);
}

TEST(ConstrainedSearch, BoundsTheTileAtAMemory) {
  const double free = map_with("").edp();
  double best = INFINITY;
  for (const int tile : {1, 2, 4, 8}) {
    const Found found = map_with(
        "  tiles: [{einsum: C, memory: Buffer, rank_variable: m, "
        "tile_shape: " +
        std::to_string(tile) + "}]\n");
    ASSERT_TRUE(found.result.has_value()) << found.result.error().reason;
    int innermost = 8, current = 8;
    for (const std::string& item : nest_of_c(found)) {
      if (item[0] == 'm') current = std::stoi(item.substr(1));
      if (item == "Buffer") innermost = current;
    }
    EXPECT_EQ(innermost, tile);
    best = std::min(best, found.edp());
  }
  EXPECT_EQ(best, free);  // the optimum has one of them
}

TEST(ConstrainedSearch, NamesTheConstraintThatLeavesNothing) {
  const Found found = map_with(R"(  tiles:
  - {name: harmless, memory: Buffer, rank_variable: p, minimum: 1}
  - {name: too wide, memory: Local, tensors: [B], rank_variable: m, minimum: 8}
  - {name: too high, memory: Local, tensors: [B], rank_variable: n, minimum: 2}
  fusion: [{name: on chip, tensor: B, memory: Local}]
)");
  ASSERT_FALSE(found.result.has_value());
  const std::string wanted = "constraints leave no mapping: too wide, too high, on chip (";
  EXPECT_EQ(found.result.error().reason.substr(0, wanted.size()), wanted);
}

// H has mappings alone; Inner has no room for Y, A and Z with two values of k each.
TEST(ConstrainedSearch, NamesTheEinsumThatHasNoMappingAlone) {
  auto [problem, options] = asked(R"yaml(workload:
  rank_sizes: {M: 2, K: 6, N: 12}
  bits_per_value: {All: 4}
  renames: {weight: W | V}
  einsums: ["H[m,n] = A[m,k] * W[k,n]", "Y[m,k] = H[m,n] * V[n,k]", "Z[m,k] = Y[m,k] + A[m,k]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 10, throughput: 1}, {name: write, energy: 7, throughput: 1}]}
  - !Memory {name: Buffer, size: 43, tensors: {keep: All}, actions: [{name: read, energy: 2, throughput: inf}, {name: write, energy: 2, throughput: 3}]}
  - !Memory {name: Inner, size: 14, tensors: {keep: ~weight}, actions: [{name: read, energy: 1, throughput: 3}, {name: write, energy: 1, throughput: 4}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
constraints:
  tiles: [{name: pairs, memory: Inner, rank_variable: k, tile_shape: 2}]
)yaml");
  const auto found = run_mapper(*standard_mappers().find("fused"), problem, options, {});
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(
      found.error().reason,
      "constraints leave no mapping: pairs (Einsum Z: even the smallest tiles of Y, A, Z need "
      "20 bit of Inner, which has 14 bit)");
}

// Constraints take all tensors but T past G, which is slow and dear: what no mapping that meets G's
// `keep` is below is no bound here.
TEST(ConstrainedSearch, BoundsNothingWhereAConstraintCountsMoreThanKeep) {
  auto [problem, options] = asked(R"yaml(workload:
  rank_sizes: {M: 40, N: 6, K: 60}
  bits_per_value: {All: 8}
  einsums: ["T[m,n] = A[m,k] * B[k,n]", "Z[m,k] = T[m,n] * C[n,k]"]
arch:
  nodes:
  - !Memory {name: D, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 1, throughput: 9000}, {name: write, energy: 1, throughput: 9000}]}
  - !Memory {name: G, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 900, throughput: 1}, {name: write, energy: 900, throughput: 1}]}
  - !Memory {name: L, size: 400, tensors: {may_keep: All}, spatial: [{name: x, fanout: 16}], actions: [{name: read, energy: 0.001, throughput: 9000}, {name: write, energy: 0.001, throughput: 9000}]}
  - !Compute {name: M, actions: [{name: compute, energy: 0.0001, throughput: 1}]}
constraints:
  storage: [{memory: G, forbid: A | B | C | Z}]
)yaml");
  options.objectives = {Objective::kEnergy};
  options.budget_evaluations = 500;  // ends the search before its space does
  for (const LatencyPolicy policy : {LatencyPolicy::kOverlap, LatencyPolicy::kStaged}) {
    options.policy = policy;
    const auto found = run_mapper(*standard_mappers().find("compound"), problem, options, {});
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->guarantee.kind, GuaranteeKind::kNone)
        << found->mappings.at(0).cost.energy_j << " J, bound " << found->guarantee.bound << " J";
  }
}

/// A node that stands above the loops which it sinks through counts where it is written, and takes
/// the room that it has further in.
TEST(ConstrainedSearch, ATileThatSinksNeedsNoRoom) {
  const Found found = map_with(R"(  tiles: [{memory: Local, rank_variable: m, minimum: 8}]
  storage: [{memory: Local, keep: [A]}]
)");
  ASSERT_TRUE(found.result.has_value()) << found.result.error().reason;
  EXPECT_TRUE(constraint_violations(*found.specs.constraints,
                                    *bind(*found.specs.workload, *found.specs.arch),
                                    found.mapping())
                  .empty());
}

/// Under each constraint the mapper's optimum keeps it, and where the free optimum does, too, it
/// costs the same.
TEST(ConstrainedSearch, AgreesWithTheCheckOfWholeMappings) {
  const Found free = map_with("");
  int kept = 0, broken = 0;
  for (const char* constraint : {
           "storage: [{memory: Local, keep: [W]}]",
           "storage: [{memory: Local, forbid: [W, B]}]",
           "storage: [{einsum: C, memory: Buffer, keep: [V, B]}]",
           "tiles: [{einsum: B, memory: Buffer, rank_variable: k, maximum: 2}]",
           "tiles: [{memory: Local, rank_variable: n, maximum: 1}]",
           "spatial: [{component: Local, dimension: x, rank_variables: [m]}]",
           "spatial: [{einsum: C, component: Local, dimension: x, rank_variables: [p]}]",
           "spatial: [{component: Local, dimension: x, rank_variables: [k, n]}]",
           "fusion: [{tensor: B}]",
           "fusion: [{tensor: B, memory: Local}]",
           "fusion: [{tensor: B, fused: false}]",
           "loop_orders: [{memory: Main, order: [m, n]}]",
           "loop_orders: [{einsum: B, memory: Local, order: [n, k, m]}]",
           "schedules: [{einsums: [B, C], kind: sequential}]",
       }) {
    const Found found = map_with(std::string("  ") + constraint + "\n");
    if (!found.result) continue;
    const BoundProblem problem = bind(*found.specs.workload, *found.specs.arch).value();
    const Constraints& constraints = *found.specs.constraints;
    EXPECT_TRUE(constraint_violations(constraints, problem, found.mapping()).empty())
        << constraint << "\n"
        << to_yaml(found.mapping(), problem.workload, problem.arch);
    const bool is_kept = constraint_violations(constraints, problem, free.mapping()).empty();
    (is_kept ? kept : broken) += 1;
    if (is_kept) EXPECT_EQ(found.edp(), free.edp()) << constraint;
  }
  EXPECT_GT(kept, 2);
  EXPECT_GT(broken, 2);
}

TEST(ConstrainedSearch, RefusesWhatTheMapperNeverMakes) {
  const Found pipelined =
      map_with("  schedules: [{name: overlapped, einsums: [B, C], kind: pipeline}]\n");
  ASSERT_FALSE(pipelined.result.has_value());
  EXPECT_EQ(pipelined.result.error().reason,
            "the constraint overlapped asks for a split of the kind pipeline; the mapper fused "
            "makes sequential ones only");
  EXPECT_TRUE(map_with("  schedules: [{einsums: [B, C], kind: sequential}]\n").result.has_value());
}

// One mapping of a convolution along one rank. The tiles of a register file that a loop does not
// move stay there, windows slide: as much is fetched as by the nodes of the mapping that keep their
// tiles from visit to visit.
TEST(ConstrainedSearch, FindsTheMappingThatConstraintsLeave) {
  const std::string specs = R"(workload:
  rank_sizes: {K: 8, R: 3, P: 4}
  bits_per_value: {All: 8}
  einsums: ["Outputs[k,p] = Weights[k,r] * Inputs[X:r+p]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 64, throughput: inf}, {name: write, energy: 64, throughput: inf}]}
  - !Memory {name: Buffer, size: 4096, tensors: {may_keep: All}, actions: [{name: read, energy: 5, throughput: inf}, {name: write, energy: 4, throughput: inf}]}
  - !Memory {name: File, size: 512, tensors: {may_keep: All}, actions: [{name: read, energy: 1, throughput: inf}, {name: write, energy: 1, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)";
  const std::string constraints = R"(constraints:
  storage: [{memory: Buffer, keep: [Weights, Inputs, Outputs]}, {memory: File, keep: [Weights, Inputs, Outputs]}]
  tiles:
  - {memory: Buffer, rank_variable: k, tile_shape: 8, tensors: [Weights, Outputs]}
  - {memory: Buffer, rank_variable: r, tile_shape: 3, tensors: [Weights, Inputs]}
  - {memory: Buffer, rank_variable: p, tile_shape: 4, tensors: [Inputs, Outputs]}
  - {memory: File, rank_variable: k, tile_shape: 2, tensors: [Weights, Outputs]}
  - {memory: File, rank_variable: r, tile_shape: 3, tensors: [Weights, Inputs]}
  - {memory: File, rank_variable: p, tile_shape: 1, tensors: [Inputs, Outputs]}
  loop_orders: [{memory: Buffer, order: [k, r, p]}, {memory: File, order: [k, p, r]}]
)";
  const std::string mapping = R"(mapping:
  nodes:
  - !Storage {tensors: [Weights, Inputs, Outputs], component: Main}
  - !Storage {tensors: [Weights, Inputs, Outputs], component: Buffer, incremental: true}
  - !Temporal {rank_variable: k, tile_shape: 2}
  - !Temporal {rank_variable: p, tile_shape: 1}
  - !Storage {tensors: [Weights, Inputs, Outputs], component: File, incremental: true}
  - !Temporal {rank_variable: k, tile_shape: 1}
  - !Temporal {rank_variable: r, tile_shape: 1}
  - !Compute {einsum: Outputs, component: MAC}
)";
  const auto loaded = load_specs_from_text({{"specs.yaml", specs + constraints + mapping}}, {});
  ASSERT_TRUE(loaded) << to_string(loaded.error().front());
  const auto problem = bind(*loaded->workload, *loaded->arch);
  const auto cost = evaluate(*problem, loaded->mappings.front());
  ASSERT_TRUE(cost);
  for (const char* mapper : {"fused", "exhaustive"}) {
    MapperOptions options;
    options.objectives = {Objective::kEnergy};
    options.constraints = *loaded->constraints;
    const auto found = run_mapper(*standard_mappers().find(mapper), *problem, options, {});
    ASSERT_TRUE(found) << found.error().reason;
    EXPECT_EQ(found->mappings.front().cost.energy_j, cost->energy_j) << mapper;
    EXPECT_TRUE(
        constraint_violations(*loaded->constraints, *problem, found->mappings.front().mapping)
            .empty());
  }
}

TEST(Constraints, ThatContradictEachOtherLeaveNothingAndAreNamed) {
  for (const char* pair :
       {"  storage: [{name: a, memory: Local, keep: A}, {name: b, memory: Local, forbid: A}]\n",
        "  storage: [{name: a, memory: Local, forbid: A}, {name: b, memory: Local, keep: A}]\n",
        "  fusion: [{name: a, tensor: B, fused: true}, {name: b, tensor: B, fused: false}]\n",
        "  fusion: [{name: a, tensor: B, fused: false}, {name: b, tensor: B, fused: true}]\n",
        "  storage: [{name: a, memory: Main, forbid: B}]\n"
        "  fusion: [{name: b, tensor: B, fused: false}]\n"}) {
    const Found found = map_with(pair);
    ASSERT_FALSE(found.result.has_value()) << pair;
    EXPECT_NE(found.result.error().reason.find("constraints leave no mapping: a, b"),
              std::string::npos)
        << found.result.error().reason;
  }
}

}  // namespace
}  // namespace sluice
