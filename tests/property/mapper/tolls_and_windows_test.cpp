// Tolls hold nothing, and so keep no node from sliding together with others.
#include "brute_force_agreement.h"

namespace sluice {
namespace {

TEST(TollsAndWindows, NodesSlideTogetherAcrossTolls) {
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

}  // namespace
}  // namespace sluice
