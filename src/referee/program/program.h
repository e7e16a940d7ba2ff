#pragma once

#include <map>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "sluice/mapping/mapping.h"

namespace sluice::referee {

/// A mapping as the steps that the machine takes: every storage of a single tensor, standing where
/// it takes effect (model.md, "Normal form"), with the Einsums that it serves.

using EinsumSet = std::set<EinsumId>;

struct StorageItem {
  std::size_t id = 0;  ///< number among all storages of the program
  TensorId tensor;
  ComponentId component;
  bool is_toll = false;     ///< holds nothing: counts what passes
  bool is_backing = false;  ///< the outermost memory of the tensor for the Einsums it serves
  bool is_hoisted = false;  ///< written in several branches: lives from the first to the last
  std::map<EinsumId, std::size_t> ids_as_written;  ///< hoisted: of each branch's own node
  bool persistent = false;
  bool resident = false;
  bool incremental = false;  ///< keeps its tile from visit to visit and fetches what is new in it
  EinsumSet served;
  /// So many instances along a dimension have a share each of its tile, cut along a variable.
  std::int64_t shared_by = 1;
  std::optional<std::pair<ComponentId, std::uint32_t>> over;
  std::optional<RankVariableId> along;
  std::optional<std::size_t> slides_over;  ///< id of the loop whose new points alone it fetches
  /// Of a tensor that goes from its maker's instances to those of its readers: by a collective
  /// (gives, takes), or forwarded by a pipelined split (sends, receives).
  enum class Exchange : std::uint8_t { kNone, kGives, kTakes, kSends, kReceives };
  Exchange exchange = Exchange::kNone;
  std::size_t own_loops = 0;  ///< forwarded tensors: loops between the split and this storage
  /// Resident in a child of a pipelined split of several steps: how many splits whose children run
  /// at the same time stand above that pipeline. It keeps its tile as long as the pipeline runs.
  std::optional<std::size_t> stays_in;
  bool is_interrupted = false;  ///< such a one below a loop of several steps of that child

  bool is_forwarded() const {
    return exchange == Exchange::kSends || exchange == Exchange::kReceives;
  }

  /// Grows with the order in which the storages on an Einsum's way are written.
  std::size_t order_as_written(EinsumId einsum) const {
    const auto own = ids_as_written.find(einsum);
    return own == ids_as_written.end() ? id : own->second;
  }
};

struct LoopItem {
  std::size_t id = 0;  ///< number among all loops of the program
  std::vector<RankVariableId> variables;
  std::int64_t tile_shape = 1;
  std::optional<std::int64_t> initial_tile_shape;
  std::map<EinsumId, std::size_t> steps;  ///< with work, at most, of each Einsum that walks it
  bool has_one_step = false;              ///< for every Einsum
  std::optional<std::size_t> rotates;     ///< id of the storage whose shares go round in its steps
  bool is_spatial = false;
  ComponentId component;        ///< spatial loops
  std::uint32_t dimension = 0;  ///< spatial loops
};

struct Body;
struct SplitItem {
  SplitKind kind = SplitKind::kSequential;
  std::vector<Body> children;
  /// `over` as written, and the dimension of that name; none where there is not exactly one.
  std::string over;
  std::optional<std::pair<ComponentId, std::uint32_t>> shared_out;
  std::vector<std::int64_t> shares;                        ///< instances of each child
  std::vector<std::pair<TensorId, ComponentId>> forwards;  ///< and through which memory
};

struct ComputeItem {
  EinsumId einsum;
  ComponentId component;
};

/// A child of a split: among the instances that walk it.
struct CollectiveStep {
  std::size_t id = 0;  ///< index into Program::collectives
};

using Item = std::variant<StorageItem, LoopItem, SplitItem, ComputeItem, CollectiveStep>;

/// A list of nodes, outermost first.
struct Body {
  std::vector<Item> items;
  EinsumSet einsums;  ///< that are computed in it
  /// Of a list that ends in a pipelined split: the first of the loops that are its steps.
  std::optional<std::size_t> steps_begin;
};

/// One storage on the way of a tensor to the compute of one Einsum.
struct Link {
  const StorageItem* storage = nullptr;
  std::size_t spatial_depth = 0;  ///< spatial loops above it
  std::size_t loop_depth = 0;     ///< loops above it, temporal ones too
  std::size_t order = 0;          ///< storages above it on the Einsum's path, of all tensors
};

/// What one Einsum meets on its way from the root to its compute.
struct Path {
  std::map<TensorId, std::vector<Link>> links;  ///< outermost first, tolls included
  std::vector<const LoopItem*> loops;           ///< temporal and spatial, outermost first
  std::vector<const LoopItem*> spatial;         ///< the spatial ones
  std::size_t n_storages = 0;                   ///< on the way
  ComponentId compute;
};

struct Program {
  Body root;
  std::size_t n_storages = 0;
  std::size_t n_loops = 0;
  std::map<EinsumId, Path> paths;           ///< of the Einsums that have a compute
  std::vector<CollectiveNode> collectives;  ///< in order of execution
  /// A collective from one layout to another stands in a pipelined or parallel split.
  bool exchanges_at_the_same_time = false;

  Program() = default;
  Program(const Program&) = delete;  // paths point into root
  Program& operator=(const Program&) = delete;
  Program(Program&&) = default;
  Program& operator=(Program&&) = default;
};

/// The loop variable that an Einsum walks: the first of the loop's that it uses.
std::optional<RankVariableId> walked(const LoopItem& loop, const Einsum& einsum);

/// Whether a collective on the tensor brings together what the instances of a spatial loop have.
bool is_collected(const Program& program, const Arch& arch, TensorId tensor, const LoopItem& loop);

/// The spatial loops of several steps above a storage that shares its tile over whose instances it
/// is shared, as places among those of an Einsum's path, outermost first.
std::vector<std::size_t> loops_over_peers(const Workload& workload, EinsumId einsum,
                                          const Path& path, const Link& link);

/// Makes the program.
Program make_program(const Workload& workload, const Arch& arch, const Mapping& mapping);

}  // namespace sluice::referee
