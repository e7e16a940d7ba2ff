#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"
#include "triples/kinds.h"

namespace sluice::triples {

/// A workload, an architecture and a mapping, small enough to be run literally, as text fields that
/// print as one YAML file.

struct NodeSpec {
  enum class Kind { kStorage, kTemporal, kSpatial, kSequential, kCompute, kCollective };
  Kind kind = Kind::kStorage;
  std::vector<std::string> names;  ///< tensors; rank variables; the Einsum
  std::string component;           ///< storage, spatial loop, compute; a collective's source
  std::string dimension;           ///< spatial loop
  std::int64_t tile = 1;           ///< loops
  std::int64_t first_tile = 0;     ///< temporal loops: 0 where not stated
  bool sliding = false, persistent = false, incremental = false, resident = false;  ///< storage
  std::int64_t shared_by = 1;                                                       ///< storage
  std::string over_peers, along;     ///< storage: `over`, `along`; empty: not given
  std::vector<std::string> einsums;  ///< storage: whom it serves; empty: everybody
  std::string split = "Sequential";  ///< kSequential: its tag
  std::vector<std::vector<NodeSpec>> children;
  std::string shared_out;                                    ///< split: `over`; empty: not given
  std::vector<std::int64_t> shares;                          ///< split
  std::vector<std::pair<std::string, std::string>> forward;  ///< split: tensor, memory
  std::string type, op, destination, algorithm, root;        ///< collective; empty: not given
  std::vector<std::string> over;                             ///< collective
};

struct DimensionSpec {
  std::string name;
  int fanout = 2;
  std::string may_reuse = "All";
  std::string reuse;  ///< empty: not given
};

struct ComponentSpec {
  enum class Kind { kMemory, kToll, kContainer, kNetwork, kCompute };
  Kind kind = Kind::kMemory;
  std::string name;
  std::string size = "inf";
  std::string bits_per_value;  ///< inside of a flow mapping, or empty
  bool is_double = false, counts_merging = false, frees_drains = false;
  int bits_per_action = 1;                                   ///< memory
  bool whole_actions = false;                                ///< memory: `partial_actions: whole`
  std::string direction;                                     ///< toll
  std::string topology;                                      ///< network
  bool enters_at_edge = false, is_packed = false;            ///< network
  std::string ports;                                         ///< network; empty: not given
  bool grows_trees = false;                                  ///< network: `multicast: greedy_tree`
  bool frees_returning_sums = false, frees_repeats = false;  ///< network
  int leak_power = 0;                                        ///< all; 0: not given
  bool is_gated = false;                                     ///< all
  int channel_width = 0, link_bandwidth = 1;                 ///< network; a width of 0: not given
  int router_latency = 0, queue_latency = 0;                 ///< network
  std::string enabled;                                       ///< compute
  bool by_kind = false;                                      ///< compute: actions by operation kind
  bool in_fork = false;                                      ///< on a branch of its own
  std::vector<DimensionSpec> spatial;
};

struct EinsumSpec {
  std::string text;
  std::string name;
  bool is_copy = false;
  int n_instances = 1;
};

struct Triple {
  std::vector<std::pair<std::string, std::int64_t>> rank_sizes;
  std::vector<std::string> bounds;  ///< `0 <= r < 3`
  std::string bits_per_value = "All: 8";
  std::string persistent;  ///< set expression, or empty
  std::string initial;     ///< inside of a flow mapping, or empty
  int n_instances = 1;
  std::vector<EinsumSpec> einsums;
  std::vector<ComponentSpec> components;  ///< outermost first
  std::vector<NodeSpec> nodes;
};

/// The whole as one YAML document.
std::string to_yaml(const Triple& triple);

/// The same as values. Nothing where the document does not load or bind; `why` then says why.
struct LoadedTriple {
  BoundProblem problem;
  Mapping mapping;
};
std::optional<LoadedTriple> load(const Triple& triple, std::string* why);

/// The triple of one seed. Most are legal.
Triple random_triple(std::uint64_t seed, const Kinds& kinds = kTestedKinds);

/// The triple of one seed without incremental storages, most of its splits pipelined or parallel.
Triple concurrent_triple(std::uint64_t seed, const Kinds& kinds = kTestedKinds);

/// The triple of one seed with collectives.
Triple collective_triple(std::uint64_t seed, const Kinds& kinds = kTestedKinds);

/// The triple of one seed with pipelined and parallel splits whose children have regions, forward
/// tensors or keep resident nodes.
Triple region_triple(std::uint64_t seed, const Kinds& kinds = kTestedKinds);

/// The triple of one seed with forwards of one of the kinds that have a name (by channels, rows or
/// trees); precondition: `kinds` has one of them. Most are legal.
Triple forward_triple(std::uint64_t seed, const Kinds& kinds = kTestedKinds);

/// The triple of one seed with a tile that peers share and rotate.
Triple rotation_triple(std::uint64_t seed, const Kinds& kinds = kTestedKinds);

/// Where model and executor differ on a triple; empty where they agree.
std::vector<std::string> differences(const LoadedTriple& triple);

/// Greedily simpler triples on which the two still differ.
Triple shrink(const Triple& triple);

}  // namespace sluice::triples
