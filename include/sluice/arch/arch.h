#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sluice/arch/topology.h"
#include "sluice/support/expression.h"
#include "sluice/support/strong_id.h"

namespace sluice {

inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// What a component can be asked to do. Numbers that depend on an Einsum's tensors stay
/// expressions.
struct Action {
  std::string name;     ///< memories: read, write; computes: compute or an operation kind
  double energy_j = 0;  ///< per action; not a number where it is unknown (`null`)
  double throughput = kUnbounded;  ///< actions per second
  double bits_per_action = 1;
  double setup_s = 0;  ///< start-up of one transfer (policies pipeline, staged)
  /// given instead of bits_per_action: one action moves so many values, whatever their width
  std::optional<double> values_per_action;
  friend bool operator==(const Action& a, const Action& b);  ///< unknown energies are equal
};

/// Bits that one action moves of values that are `bits_per_value` wide.
inline double bits_moved_by(const Action& action, double bits_per_value) {
  return action.values_per_action ? *action.values_per_action * bits_per_value
                                  : action.bits_per_action;
}

/// One dimension of a fanout: `fanout` instances of the component and of all that follows it.
struct SpatialDimension {
  std::string name;
  std::int64_t fanout = 1;
  Expression may_reuse;  ///< tensors that this dimension multicasts or reduces (default All)
  std::optional<Expression> reuse;  ///< only loops over variables that index none of these tensors
  std::optional<Expression> min_usage;  ///< least used share of the fanout, soft
  friend bool operator==(const SpatialDimension&, const SpatialDimension&) = default;
};

/// Which tensors a memory or toll holds, per Einsum.
struct TensorPolicy {
  std::optional<Expression> keep;  ///< must be held
  std::optional<Expression>
      may_keep;                    ///< may be held; absent: nothing if `keep` is given, else all
  std::optional<Expression> back;  ///< must be backed here
  /// each entry: groups of tensors, outermost first
  std::vector<std::vector<Expression>> tensor_order_options;
  bool force_memory_hierarchy_order = true;
  friend bool operator==(const TensorPolicy&, const TensorPolicy&) = default;
};

struct BitsOverride {
  Expression tensors;         ///< set expression
  Expression bits_per_value;  ///< number
  friend bool operator==(const BitsOverride&, const BitsOverride&) = default;
};

enum class Buffering : std::uint8_t { kSingle, kDouble };
enum class Ports : std::uint8_t { kShared, kSeparate };
enum class MergingReads : std::uint8_t { kFree, kCounted };
/// Whether a value that is written back to the parent costs a read where it comes from.
enum class DrainingReads : std::uint8_t { kCounted, kFree };
/// What a part of an action costs: its part, or as much as a whole one. Then the actions of each
/// tensor are rounded up to whole ones at each instance that an Einsum uses.
enum class PartialActions : std::uint8_t { kPart, kWhole };

struct Memory {
  Expression size_bits;  ///< per instance; `inf` never binds; may depend on an Einsum's tensors
  TensorPolicy tensors;
  std::vector<BitsOverride> bits_per_value;
  Buffering buffering = Buffering::kSingle;
  Ports ports = Ports::kShared;
  MergingReads merging_reads = MergingReads::kFree;
  DrainingReads draining_reads = DrainingReads::kCounted;
  PartialActions partial_actions = PartialActions::kPart;
  friend bool operator==(const Memory&, const Memory&) = default;
};

/// Pass-through that charges for what crosses it; holds nothing. Has only `read` actions.
struct Toll {
  enum class Direction : std::uint8_t { kDown, kUp, kUpAndDown };
  TensorPolicy tensors;
  std::vector<BitsOverride> bits_per_value;
  Direction direction = Direction::kUpAndDown;
  friend bool operator==(const Toll&, const Toll&) = default;
};

/// Compute time of a systolic array (`array: {kind: systolic, dataflow, rows, cols}`).
struct SystolicArray {
  enum class Dataflow : std::uint8_t { kWeightStationary, kOutputStationary, kInputStationary };
  Dataflow dataflow = Dataflow::kWeightStationary;
  std::string rows, cols;  ///< names of this container's spatial dimensions
  friend bool operator==(const SystolicArray&, const SystolicArray&) = default;
};

struct Container {
  std::optional<SystolicArray> array;
  friend bool operator==(const Container&, const Container&) = default;
};

/// Where values enter a mesh: at node 0, or in the middle of the first column (of the edge along
/// all dimensions but the first), between its two middle nodes where their number is even.
enum class NetworkEntry : std::uint8_t { kCorner, kEdge };
/// Which nodes of a mesh the instances of spatial loops are: those of a dimension's own loops, or
/// instance after instance in the order of the loops, the first dimension filled first.
enum class NodeLayout : std::uint8_t { kAligned, kPacked };
/// Whether partial sums that come back down cost anything.
enum class ReturningSums : std::uint8_t { kCounted, kFree };
/// Whether a value that a node has taken (or given) costs hops again while the loops below the
/// network's instances run, or in the step after.
enum class RepeatedValues : std::uint8_t { kCounted, kFree };

/// What transfers between a parent and a child wait for on a network: every receiver of each value,
/// each value once, or nothing at all (their bits take no time on the links either).
enum class ImplicitTime : std::uint8_t { kReceivers, kOnce, kNone };

/// At which nodes of a network the memory above stands. Corners: of all dimensions; edges: nodes at
/// an end of some dimension; own: at none, one link away from each node of an all_to_all.
enum class PortPlaces : std::uint8_t { kEntry, kCorners, kEdges, kAll, kOwn, kListed };
struct NetworkPorts {
  PortPlaces places = PortPlaces::kEntry;        ///< kEntry: as NetworkEntry says, one place
  std::vector<std::vector<std::int64_t>> nodes;  ///< kListed: their coordinates
  friend bool operator==(const NetworkPorts&, const NetworkPorts&) = default;
};
/// How nodes that share a value get it: over joined dimension-order routes from their ports, or
/// from one another, each time the node that is nearest to any that has it (docs/model.md,
/// "Networks").
enum class Multicast : std::uint8_t { kDimensionOrder, kGreedyTree };

/// Links between the instances of the container that follows it.
struct Network {
  Topology topology = Topology::kMesh;
  NetworkEntry entry = NetworkEntry::kCorner;  ///< meshes
  NodeLayout layout = NodeLayout::kAligned;    ///< meshes
  NetworkPorts ports;                          ///< of topologies that link nodes
  Multicast multicast = Multicast::kDimensionOrder;
  ReturningSums returning_sums = ReturningSums::kCounted;
  RepeatedValues repeated_values = RepeatedValues::kCounted;
  ImplicitTime implicit_time = ImplicitTime::kReceivers;
  std::int64_t channel_width_bits = 1;
  double link_bandwidth = kUnbounded;  ///< bit/s
  double router_latency_s = 0;
  double queue_latency_s = 0;
  double hop_energy_j = 0;  ///< per `bits_per_hop_energy` bits and hop
  double bits_per_hop_energy = 1;
  friend bool operator==(const Network&, const Network&) = default;
};

struct Compute {
  friend bool operator==(const Compute&, const Compute&) = default;
};

/// One element of the hierarchy.
struct Component {
  std::string name;
  std::variant<Memory, Toll, Container, Network, Compute> kind;
  std::vector<Action> actions;
  std::vector<SpatialDimension> spatial;    ///< fans out this component and everything after it
  std::optional<Expression> enabled;        ///< predicate on the Einsum; default true
  std::optional<Expression> total_latency;  ///< over the actions; default Σ n_calls / throughput
  double leak_power_w = 0;                  ///< per instance
  bool power_gated = false;                 ///< no leakage in Einsums that do not use it
  std::optional<double> area_m2;            ///< per instance
  std::optional<ForkId> fork;               ///< innermost fork it stands in
  friend bool operator==(const Component&, const Component&) = default;

  bool is_memory() const { return std::holds_alternative<Memory>(kind); }
  bool is_network() const { return std::holds_alternative<Network>(kind); }
  bool is_compute() const { return std::holds_alternative<Compute>(kind); }
  bool is_toll() const { return std::holds_alternative<Toll>(kind); }
  /// Memory or toll: may have storage nodes.
  bool holds_tensors() const { return tensor_policy() != nullptr; }
  /// What a memory or toll holds; null for every other kind.
  const TensorPolicy* tensor_policy() const {
    if (const Memory* memory = std::get_if<Memory>(&kind)) return &memory->tensors;
    const Toll* toll = std::get_if<Toll>(&kind);
    return toll ? &toll->tensors : nullptr;
  }
  /// Whether it is a memory of which a part of an action costs as much as a whole one.
  bool has_whole_actions() const {
    const Memory* memory = std::get_if<Memory>(&kind);
    return memory != nullptr && memory->partial_actions == PartialActions::kWhole;
  }
};

struct Fork {
  std::optional<ForkId> parent;
  friend bool operator==(const Fork&, const Fork&) = default;
};

/// The hierarchy, outermost first. A plain value.
struct Arch {
  std::string name;
  std::optional<double> clock_hz;
  std::vector<Component> components;  ///< document order
  std::vector<Fork> forks;            ///< parents before children
  friend bool operator==(const Arch&, const Arch&) = default;

  const Component& operator[](ComponentId id) const { return components[id.index()]; }
};

/// Whether some memory has whole actions: prices that are sums of products leave that out, and are
/// lower bounds.
bool has_whole_actions(const Arch& arch);

std::optional<ComponentId> find_component(const Arch& arch, const std::string& name);

/// The path of a compute: every non-compute component before it whose fork contains it, outermost
/// first, then the compute itself. (A compute ends its own path and is on nobody else's.)
std::vector<ComponentId> path_to(const Arch& arch, ComponentId compute);
std::vector<ComponentId> computes_of(const Arch& arch);

/// Number of instances of a component in the machine: product of the fanouts of all components
/// before it on its path and of its own spatial dimensions.
std::int64_t instances_of(const Arch& arch, ComponentId component);

/// The architecture as canonical YAML (`arch:` document) that parses back to an equal value.
std::string to_yaml(const Arch& arch);

}  // namespace sluice
