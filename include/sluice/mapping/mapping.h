#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sluice/arch/arch.h"
#include "sluice/workload/workload.h"

namespace sluice {

/// The one mapping IR: a LoopTree. Nodes of a list stand outermost first.

struct Node;
using NodeList = std::vector<Node>;

/// Keeps a tile of each tensor in a memory (or charges a toll) for everything below it.
struct StorageNode {
  std::vector<TensorId> tensors;
  ComponentId component;
  bool persistent = false;  ///< stays for the whole run
  bool resident = false;    ///< in a pipeline's child: filled once per visit of the pipeline
  bool sliding = false;     ///< passes one partially relevant loop and refetches only new rows
  /// Stays where it is written and, at each visit, fetches only what its last tile did not hold:
  /// nothing if it has not moved, the new part if the innermost loop above moves it forwards along
  /// one rank and so has this step, else all of it. Instances of a fanout that fetch the same share
  /// one message. An output's tile is written back when it moves.
  bool incremental = false;
  std::optional<std::int64_t> shared_by;  ///< each of so many peers holds 1/shared_by, rotating
  std::optional<std::string> over;        ///< spatial dimension of the peers
  std::optional<RankVariableId> along;    ///< rank variable along which the tile is cut
  /// The Einsums that this node serves; empty: every Einsum below it that uses the tensor. Above a
  /// shared loop, one Einsum may keep its own copy of a tensor that its neighbours fetch
  /// differently.
  std::vector<EinsumId> einsums;
  friend bool operator==(const StorageNode&, const StorageNode&) = default;
};

/// `tile_shape` is the size of the variable's tile inside the loop; trips = enclosing tile / it.
/// Above a split, branches may know the loop by different variables: each Einsum takes the first of
/// them that it uses (so where an Einsum uses two, the one that the loop moves for it stands
/// first).
struct TemporalNode {
  std::vector<RankVariableId> variables;
  std::int64_t tile_shape = 1;
  std::optional<std::int64_t> initial_tile_shape;  ///< first tile, where larger (sliding windows)
  friend bool operator==(const TemporalNode&, const TemporalNode&) = default;
};

/// A loop whose steps are spread over one spatial dimension of a component.
struct SpatialNode {
  std::vector<RankVariableId> variables;
  std::int64_t tile_shape = 1;
  ComponentId component;
  std::uint32_t dimension = 0;  ///< index into Component::spatial
  std::optional<std::int64_t> initial_tile_shape;
  friend bool operator==(const SpatialNode&, const SpatialNode&) = default;
};

enum class CollectiveType : std::uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kGather,
  kScatter,
  kAllToAll
};

/// Communication among the instances of the spatial dimensions in `over` (COMET §IV).
struct CollectiveNode {
  CollectiveType type = CollectiveType::kAllReduce;
  TensorId tensor;
  std::optional<Reduction> op;
  ComponentId src;
  ComponentId dst;
  std::vector<std::string> over;
  std::vector<std::pair<std::string, std::int64_t>> root;  ///< coordinates by dimension
  std::string algorithm = "auto";
  friend bool operator==(const CollectiveNode&, const CollectiveNode&) = default;
};

struct ComputeNode {
  EinsumId einsum;
  ComponentId component;
  friend bool operator==(const ComputeNode&, const ComputeNode&) = default;
};

enum class SplitKind : std::uint8_t { kSequential, kPipeline, kParallel };

/// Several branches under the loops above. A child is a `!Nested` list or a single collective.
struct SplitNode {
  SplitKind kind = SplitKind::kSequential;
  std::vector<NodeList> children;
  std::optional<std::string> over;                        ///< pipeline: the divided dimension
  std::vector<std::int64_t> shares;                       ///< instances of each child
  std::vector<std::pair<TensorId, ComponentId>> forward;  ///< tensor moved between the buffers
  friend bool operator==(const SplitNode&, const SplitNode&);
};

struct Node {
  std::variant<StorageNode, TemporalNode, SpatialNode, SplitNode, CollectiveNode, ComputeNode> kind;
  friend bool operator==(const Node&, const Node&);
};

/// How much of a tensor a core keeps while it waits to be executed (read by the chip compiler).
struct PreloadState {
  TensorId tensor;
  std::int64_t shares = 1;
  std::string over;
  friend bool operator==(const PreloadState&, const PreloadState&) = default;
};

struct Mapping {
  NodeList nodes;
  std::vector<PreloadState> preload;
  friend bool operator==(const Mapping&, const Mapping&) = default;
};

/// Names as in spec files: `all_reduce`; `sum` (of a collective's `op`); `pipeline`.
std::string collective_name(CollectiveType type);
std::string reduction_name(Reduction reduction);
std::string split_name(SplitKind kind);

/// The mapping as canonical YAML (`mapping:` document, names instead of ids).
std::string to_yaml(const Mapping& mapping, const Workload& workload, const Arch& arch);

}  // namespace sluice
