// What each kind of constraint asks of a whole mapping, on a distributed softmax.
#include "mapper/request/constraint_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sluice/frontend/load.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kSoftmax = R"yaml(workload:
  rank_sizes: {M: 4, N: 16, K: 8}
  bits_per_value: {All: 16}
  einsums: ["C[m,n] = A[m,k] * B[k,n]", "MX[m] = max(C[m,n])", "EX[m,n] = exp(C[m,n] - MX[m])",
            "DN[m] = sum(EX[m,n])", "S[m,n] = EX[m,n] / DN[m]"]
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, tensors: {keep: ~Intermediates, may_keep: All},
             actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Network {name: Mesh, topology: mesh, channel_width: 256, link_bandwidth: inf, hop_energy: 0}
  - !Container {name: Cluster, spatial: [{name: cx, fanout: 2}]}
  - !Memory {name: GB, size: 2 MiB, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Network {name: CoreMesh, topology: mesh, channel_width: 256, link_bandwidth: inf, hop_energy: 0}
  - !Container {name: Core, spatial: [{name: kx, fanout: 2}]}
  - !Memory {name: OB, size: 128 KiB, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: PE, actions: [{name: compute, energy: 1, throughput: 1}]}
mapping:
  nodes:
  - !Storage {tensors: [A, B, S], component: DRAM}
  - !Temporal {rank_variable: m, tile_shape: 2}
  - !Spatial {rank_variable: n, tile_shape: 8, component: Cluster, name: cx}
  - !Storage {tensors: [A, B, S], component: GB}
  - !Spatial {rank_variable: n, tile_shape: 4, component: Core, name: kx}
  - !Storage {tensors: [C, MX, EX, DN], component: OB}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Temporal {rank_variable: n, tile_shape: 2},
                       !Storage {tensors: [A], component: OB}, !Temporal {rank_variable: n, tile_shape: 1},
                       !Temporal {rank_variable: k, tile_shape: 1}, !Compute {einsum: C, component: PE}]}
    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Temporal {rank_variable: n, tile_shape: 1}, !Compute {einsum: MX, component: PE}]}
    - !Collective {type: all_reduce, tensor: MX, op: max, src: OB, over: [cx, kx], algorithm: recursive_doubling}
    - !Pipeline
      nodes:
      - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Temporal {rank_variable: n, tile_shape: 1}, !Compute {einsum: EX, component: PE}]}
      - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Temporal {rank_variable: n, tile_shape: 1}, !Compute {einsum: DN, component: PE}]}
    - !Collective {type: all_reduce, tensor: DN, op: sum, src: OB, over: [cx, kx], algorithm: auto}
    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Temporal {rank_variable: n, tile_shape: 1}, !Compute {einsum: S, component: PE}]}
)yaml";

std::vector<std::string> broken(const std::string& kind, const std::string& constraint) {
  const auto specs = load_specs_from_text(
      {{"specs.yaml",
        kSoftmax + ("constraints:\n  " + kind + ":\n  - {name: it, ") + constraint + "}\n"}},
      {});
  if (!specs) throw std::runtime_error(to_string(specs.error().front()));
  const auto problem = bind(*specs->workload, *specs->arch);
  return constraint_violations(*specs->constraints, *problem, specs->mappings.front());
}

struct Case {
  std::string kind, constraint;
  bool holds;
};

class ConstraintCheck : public ::testing::TestWithParam<Case> {};

TEST_P(ConstraintCheck, NamesWhatIsBroken) {
  const auto names = broken(GetParam().kind, GetParam().constraint);
  if (GetParam().holds)
    EXPECT_THAT(names, IsEmpty()) << GetParam().kind << " " << GetParam().constraint;
  else
    EXPECT_THAT(names, ElementsAre("it")) << GetParam().kind << " " << GetParam().constraint;
}

INSTANTIATE_TEST_SUITE_P(Storage, ConstraintCheck,
                         ::testing::Values(Case{"storage", "memory: GB, keep: [A]", true},
                                           Case{"storage", "memory: GB, keep: [C]", false},
                                           Case{"storage", "memory: GB, forbid: [MX, C]", true},
                                           Case{"storage", "memory: OB, forbid: [MX]", false},
                                           Case{"storage", "einsum: S, memory: OB, forbid: [EX]",
                                                false}));

INSTANTIATE_TEST_SUITE_P(
    Tiles, ConstraintCheck,
    ::testing::Values(Case{"tiles", "memory: GB, rank_variable: n, tile_shape: 8", true},
                      Case{"tiles", "memory: GB, rank_variable: n, maximum: 4", false},
                      Case{"tiles", "einsum: MX, memory: GB, rank_variable: n, maximum: 4", true},
                      // C's innermost node of OB is that of A, with tiles of 1 × 2; MX's is outside
                      Case{"tiles", "einsum: C, memory: OB, rank_variable: n, tile_shape: 2", true},
                      Case{"tiles", "einsum: C, memory: OB, rank_variable: m, minimum: 2", false},
                      Case{"tiles", "einsum: MX, memory: OB, rank_variable: n, tile_shape: 4",
                           true},
                      Case{"tiles", "memory: OB, rank_variable: n, minimum: 4", false}));

INSTANTIATE_TEST_SUITE_P(
    Spatial, ConstraintCheck,
    ::testing::Values(
        Case{"spatial", "component: Cluster, dimension: cx, rank_variables: [n]", true},
        Case{"spatial", "component: Cluster, dimension: cx, rank_variables: [m]", false},
        Case{"spatial", "component: Core, dimension: kx, rank_variables: [m, n]", true},
        Case{"spatial", "einsum: S, component: Core, dimension: kx, rank_variables: [m]", false}));

INSTANTIATE_TEST_SUITE_P(Fusion, ConstraintCheck,
                         ::testing::Values(Case{"fusion", "tensor: C", true},
                                           Case{"fusion", "tensor: C, memory: OB", true},
                                           Case{"fusion", "tensor: C, memory: GB", false},
                                           Case{"fusion", "tensor: C, fused: false", false},
                                           Case{"fusion", "tensor: S, fused: false", true},
                                           Case{"fusion", "tensor: A", false}));

INSTANTIATE_TEST_SUITE_P(
    LoopOrders, ConstraintCheck,
    ::testing::Values(Case{"loop_orders", "einsum: C, memory: OB, order: [m, n, k]", true},
                      Case{"loop_orders", "einsum: C, memory: OB, order: [m, k]", true},
                      Case{"loop_orders", "einsum: C, memory: OB, order: [k, n]", false},
                      // from DRAM to GB stands one temporal loop; the other is spatial
                      Case{"loop_orders", "memory: DRAM, order: [n, m]", true},
                      Case{"loop_orders", "memory: OB, order: [n, m]", false}));

INSTANTIATE_TEST_SUITE_P(
    Schedules, ConstraintCheck,
    ::testing::Values(Case{"schedules", "einsums: [C, MX, S], kind: sequential", true},
                      Case{"schedules", "einsums: [EX, DN], kind: pipeline", true},
                      Case{"schedules", "einsums: [EX, DN], kind: sequential", false},
                      Case{"schedules", "einsums: [MX, EX, DN], kind: pipeline", false},
                      Case{"schedules", "einsums: [EX, DN], kind: parallel", false}));

INSTANTIATE_TEST_SUITE_P(
    Collectives, ConstraintCheck,
    ::testing::Values(Case{"collectives", "tensor: MX", true},
                      Case{"collectives", "tensor: EX", false},  // there is none
                      Case{"collectives", "tensor: MX, types: [gather, all_reduce]", true},
                      Case{"collectives", "tensor: MX, types: [reduce_scatter]", false},
                      Case{"collectives", "tensor: MX, over: [kx, cx]", true},
                      Case{"collectives", "tensor: MX, over: [cx]", false},
                      Case{"collectives", "tensor: MX, algorithms: [ring, recursive_doubling]",
                           true},
                      Case{"collectives", "tensor: MX, algorithms: [ring]", false},
                      Case{"collectives", "tensor: DN, algorithms: [auto]", true}));

}  // namespace
}  // namespace sluice
