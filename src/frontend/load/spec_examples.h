#pragma once

#include <array>

namespace sluice {

/// Specs that between them use every key there is, with every form of its value: what spec_schema()
/// watches the readers read. A key that none of them has is known to the schema by name only; a
/// test says which.
inline constexpr std::array kSpecExamples = {
    R"yaml(
variables: {TILE: 2, WIDTH: 8 bit}
renames: {input: Inputs}
workload:
  name: every_key
  rank_sizes: {M: 8, N: 8, K: 8}
  iteration_space_shape: {m: 0 <= m < 8}
  bits_per_value: {W: WIDTH, Other: 8}
  persistent_tensors: [W]
  n_instances: 2
  renames:
    einsums:
    - {name: default, tensor_accesses: [{name: weight, source: Outputs, expected_count: 1}]}
  einsums:
  - "A[m,k] = X[m,k]"
  - einsum: "B[m,n] = A[m,k] * W[k,n]"
    name: Product
    n_instances: 1
    iteration_space_shape: [0 <= m < 8]
    bits_per_value: {B: 16}
    renames: {left: A}
  - name: C
    is_copy_operation: false
    iteration_space_shape: 0 <= m < 8
    renames: [{name: right, source: V, expected_count: 1}]
    tensor_accesses:
    - {name: B, projection: [m, n], bits_per_value: 8}
    - {name: V, projection: {M: m, N: n}}
    - {name: C, projection: [m, n], output: true}
arch:
  name: every_key
  clock: 1 GHz
  nodes:
  - !Memory
    name: Outer
    size: inf
    tensors: {keep: [X, V, C], may_keep: All, back: {X}, tensor_order_options: [[All], [Inputs, Outputs]], force_memory_hierarchy_order: false}
    bits_per_value: {All: 8}
    buffering: single
    ports: shared
    merging_reads: free
    draining_reads: counted
    partial_actions: whole
    enabled: true
    leak_power: 0 W
    area: 1e-6 m2
    power_gated: false
    actions:
    - {name: read, energy: 1 pJ/bit, throughput: 8 GB/s, bits_per_action: 8, setup: 1 ns}
    - {name: write, energy: 1 pJ, throughput: 1 GHz, values_per_action: 1}
  - !Toll {name: Link, direction: up_and_down, tensors: {may_keep: All}, bits_per_value: {All: 8}, actions: [{name: read, energy: 0, throughput: inf}]}
  - !Network
    name: Mesh
    topology: mesh
    layout: aligned
    ports: [[0, 0]]
    multicast: greedy_tree
    returning_sums: counted
    repeated_values: counted
    implicit_time: once
    channel_width: 8
    link_bandwidth: 8 GB/s
    router_latency: 1 ns
    queue_latency: 0 ns
    bits_per_hop_energy: 8
    hop_energy: 1 pJ
  - !Network {name: Entry, topology: mesh, entry: corner, link_bandwidth: inf, hop_energy: 0}
  - !Network {name: Edges, topology: mesh, ports: all, link_bandwidth: inf, hop_energy: 0}
  - !Container
    name: Core
    array: {kind: systolic, dataflow: ws, rows: y, cols: x}
    spatial:
    - {name: y, fanout: 2, reuse: All, may_reuse: All, min_usage: 0}
    - {name: x, fanout: 2}
  - !Fork
    nodes:
    - !Memory {name: Side, size: 1 KiB, tensors: {may_keep: All}, total_latency: 0, actions: [{name: read, energy: 1 pJ}, {name: write, energy: null}]}
    - !Compute {name: Other, enabled: false, actions: [{name: compute, energy: 1 pJ, throughput: null}]}
  - !Memory {name: Inner, size: 1 KiB, tensors: {may_keep: All}, actions: [{name: read, energy: 1 pJ, throughput: inf}, {name: write, energy: 1 pJ, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1 pJ, throughput: 1 GHz}]}
constraints:
  storage: [{name: first, einsum: A, memory: Outer, keep: [X], forbid: A}, {memory: Inner, keep: X, forbid: [B]}]
  tiles:
  - {name: second, einsum: A, memory: Inner, rank_variable: m, tensors: [X], minimum: 1, maximum: 4}
  - {memory: Inner, rank_variable: m, tile_shape: TILE}
  spatial: [{name: third, einsum: A, component: Core, dimension: x, rank_variables: [m]}, {component: Core, dimension: y, rank_variables: k}]
  fusion: [{name: fourth, tensor: A, fused: true, memory: Inner}]
  loop_orders: [{name: fifth, einsum: A, memory: Inner, order: [m, k]}]
  schedules: [{name: sixth, einsums: [A, Product], kind: sequential}]
  collectives: [{name: seventh, tensor: A, types: [broadcast], over: [x], algorithms: [auto]}]
mapper: {max_fused_loops: 1}
)yaml",
    R"yaml(
renames: {einsums: [{name: default, tensor_accesses: {output: Outputs}}]}
workload:
  rank_sizes: {N: 2, C: 2, K: 4, L: 4}
  bits_per_value: {Other: 8}
  iteration_space_shape: [0 <= n < 2]
  persistent_tensors: W1 | W2
  renames: {input: Inputs}
  initial: {P: 0}
  einsums:
  - "Y[n,k] = X[n,c] * W1[k,c]"
  - "Z[n,l] = Y[n,k] * W2[l,k]"
  - repeat: {times: 2, carry: {P: Q}, shared: [R]}
    einsums: [{einsum: "Q[n] = P[n] * R[n]"}, "S[n] = Q[n]"]
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Network {name: Mesh, topology: mesh, link_bandwidth: 1, hop_energy: 1}
  - !Container {name: Node, spatial: [{name: gx, fanout: 4}]}
  - !Memory {name: Buffer, size: 1 KiB, tensors: {may_keep: All}, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
plan: {preload: {W1: {shares: 2, over: gx}}}
mapping:
  nodes:
  - !Storage {tensors: [X, W1, W2, Z], component: DRAM, persistent: false, einsums: [Y, Z]}
  - !Temporal {rank_variable: n, tile_shape: 1, initial_tile_shape: 1}
  - !Pipeline
    over: gx
    shares: [2, 2]
    forward: {Y: Buffer}
    nodes:
    - !Nested
      nodes:
      - !Spatial {rank_variable: [k, l], tile_shape: 2, component: Node, name: gx, initial_tile_shape: 2}
      - !Spatial {rank_variable: c, tile_shape: 2, component: Node, name: gx}
      - !Storage {tensors: W1, component: Buffer, resident: true}
      - !Storage {tensors: [X], component: Buffer, sliding: true, einsums: Y}
      - !Storage {tensors: [Y], component: Buffer, incremental: true}
      - !Temporal {rank_variable: [k], tile_shape: 1}
      - !Compute {einsum: Y, component: MAC}
    - !Collective {type: reduce_scatter, tensor: Y, op: sum, src: Buffer, dst: Buffer, over: [gx], algorithm: auto}
    - !Compute {einsum: Z, component: MAC}
)yaml",
    R"yaml(
renames: {einsums: [{name: default, tensor_accesses: [{name: input, source: Inputs, expected_count: 1}]}]}
workload: {rank_sizes: {M: 4, K: 4}, bits_per_value: {All: 8}, iteration_space_shape: 0 <= m < 4, einsums: ["Y[m] = X[m,k]", "Z[m] = Y[m]"]}
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Container {name: Node, spatial: [{name: gx, fanout: 4}]}
  - !Memory {name: Buffer, size: inf, component_class: Example, component_attributes: {any: 1}, actions: [{name: read}, {name: write}]}
  - !Network {name: Mesh, topology: mesh, component_class: Example, link_bandwidth: 1}
  - !Compute {name: MAC, component_class: Example, actions: [{name: compute}]}
mapping:
  nodes:
  - !Storage {tensors: [X], component: Buffer, shared_by: 4, over: gx, along: k}
  - !Sequential
    nodes:
    - !Collective {type: broadcast, tensor: X, src: DRAM, over: gx, root: {gx: 0}}
    - !Parallel
      over: gx
      shares: [2, 2]
      nodes:
      - !Compute {einsum: Y, component: MAC}
      - !Compute {einsum: Z, component: MAC}
)yaml",
};

}  // namespace sluice
