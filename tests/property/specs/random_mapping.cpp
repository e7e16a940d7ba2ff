#include <algorithm>
#include <limits>

#include "property/specs/random_specs.h"

namespace sluice::testing {
namespace {

class MappingMaker {
 public:
  MappingMaker(RandomSpecs& random, const Workload& workload, const Arch& arch)
      : random_(random), workload_(workload), arch_(arch) {
    for (std::size_t i = 0; i < arch.components.size(); ++i) {
      const Component& component = arch.components[i];
      if (component.holds_tensors()) memories_.push_back(ComponentId(i));
      if (component.is_compute()) computes_.push_back(ComponentId(i));
      if (!component.spatial.empty()) fanouts_.push_back(ComponentId(i));
      for (const SpatialDimension& dimension : component.spatial)
        dimensions_.push_back(dimension.name);
    }
  }

  Mapping make() {
    Mapping mapping;
    mapping.nodes = nodes(0);
    if (!dimensions_.empty() && random_.chance(30))
      mapping.preload.push_back({tensor(), random_.pick(1, 4), random_.any(dimensions_)});
    return mapping;
  }

  Constraints constraints() {
    Constraints result;
    const auto stored = maybe_einsum();
    result.storage.push_back({"s", stored, random_.any(memories_), {tensor_of(stored)}, {}});
    result.tiles.push_back(tile("t"));
    result.tiles.back().minimum =
        random_.pick(1, std::min<std::int64_t>(4, least_range(result.tiles.back())));
    result.tiles.push_back(tile("u"));
    result.tiles.back().maximum = random_.pick(1, 9);
    const auto spread = maybe_einsum();
    if (!fanouts_.empty())
      result.spatial.push_back({"f", spread, random_.any(fanouts_), 0, {variable_of(spread)}});
    result.fusion.push_back({"x", tensor(), random_.chance(50), {}});
    if (result.fusion.back().fused && random_.chance(50))
      result.fusion.back().memory = random_.any(memories_);
    const auto ordered = maybe_einsum();
    result.loop_orders.push_back({"o", ordered, random_.any(memories_), {variable_of(ordered)}});
    std::vector<RankVariableId>& order = result.loop_orders.back().order;
    if (const RankVariableId other = variable_of(ordered); other != order.front())
      order.push_back(other);
    result.schedules.push_back({"p", {EinsumId(0)}, SplitKind::kPipeline});
    result.collectives.push_back(
        {"c", tensor(), {CollectiveType::kAllReduce}, dimensions_, {"ring"}});
    return result;
  }

 private:
  template <class Id, class Values>
  Id id(const Values& values) {
    return Id(
        static_cast<std::size_t>(random_.pick(0, static_cast<std::int64_t>(values.size()) - 1)));
  }
  TensorId tensor() { return id<TensorId>(workload_.tensors); }
  /// One that the Einsum uses; none: any.
  TensorId tensor_of(std::optional<EinsumId> einsum) {
    return einsum ? random_.any(tensors_of(workload_[*einsum])) : tensor();
  }
  RankVariableId variable() { return id<RankVariableId>(workload_.rank_variables); }
  /// One that the Einsum has; none: any.
  RankVariableId variable_of(std::optional<EinsumId> einsum) {
    return einsum ? random_.any(workload_[*einsum].iteration_space).variable : variable();
  }
  EinsumId einsum() { return id<EinsumId>(workload_.einsums); }
  std::optional<EinsumId> maybe_einsum() {
    return random_.chance(50) ? std::optional(einsum()) : std::nullopt;
  }

  std::vector<RankVariableId> variables() {
    std::vector<RankVariableId> result = {variable()};
    if (random_.chance(20)) result.push_back(variable());
    return result;
  }

  NodeList nodes(int depth) {
    NodeList list;
    const std::int64_t n = random_.pick(0, 5);
    for (std::int64_t i = 0; i < n; ++i) list.push_back(node());
    if (depth < 3 && random_.chance(50))
      list.push_back({split(depth)});
    else
      list.push_back({ComputeNode{einsum(), random_.any(computes_)}});
    return list;
  }

  Node node() {
    const std::int64_t kind = random_.pick(0, fanouts_.empty() ? 1 : 2);
    if (kind == 0) return {storage()};
    if (kind == 1) {
      TemporalNode loop{variables(), random_.pick(1, 64), {}};
      if (random_.chance(20)) loop.initial_tile_shape = random_.pick(1, 64);
      return {loop};
    }
    SpatialNode loop{variables(), random_.pick(1, 64), random_.any(fanouts_), 0, {}};
    loop.dimension = static_cast<std::uint32_t>(
        random_.pick(0, static_cast<std::int64_t>(arch_[loop.component].spatial.size()) - 1));
    return {loop};
  }

  StorageNode storage() {
    StorageNode node;
    node.tensors = {tensor()};
    const TensorId other = tensor();
    if (other != node.tensors[0] && random_.chance(50)) node.tensors.push_back(other);
    node.component = random_.any(memories_);
    if (random_.chance(10)) node.einsums = {einsum()};
    node.persistent = random_.chance(10);
    node.resident = random_.chance(10);
    node.sliding = random_.chance(10);
    node.incremental = !node.sliding && random_.chance(10);
    if (!dimensions_.empty() && random_.chance(20)) {
      node.shared_by = random_.pick(1, 8);
      node.over = random_.any(dimensions_);
      node.along = variable();
    }
    return node;
  }

  SplitNode split(int depth) {
    SplitNode node;
    node.kind = random_.any<SplitKind>(
        {SplitKind::kSequential, SplitKind::kPipeline, SplitKind::kParallel});
    const std::int64_t n = random_.pick(1, 3);
    for (std::int64_t i = 0; i < n; ++i)
      node.children.push_back(random_.chance(20) && !dimensions_.empty() ? NodeList{{collective()}}
                                                                         : nodes(depth + 1));
    if (node.kind != SplitKind::kSequential && !dimensions_.empty() && random_.chance(50)) {
      for (const NodeList& child : node.children)
        if (child.size() != 1 || !std::holds_alternative<CollectiveNode>(child.front().kind))
          node.shares.push_back(random_.pick(1, 4));
      if (!node.shares.empty()) node.over = random_.any(dimensions_);
    }
    if (node.kind == SplitKind::kPipeline && random_.chance(50))
      node.forward.emplace_back(tensor(), random_.any(memories_));
    return node;
  }

  /// Of a variable that its Einsum has.
  TileConstraint tile(std::string name) {
    TileConstraint tile{
        std::move(name), maybe_einsum(), variable(), random_.any(memories_), {}, 1, {}};
    if (tile.einsum) tile.variable = random_.any(workload_[*tile.einsum].iteration_space).variable;
    return tile;
  }

  /// The shortest range of the variable among the Einsums that the constraint is about.
  std::int64_t least_range(const TileConstraint& tile) const {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::size_t e = 0; e < workload_.einsums.size(); ++e)
      for (const VariableRange& range : workload_.einsums[e].iteration_space)
        if (range.variable == tile.variable && tile.einsum.value_or(EinsumId(e)).index() == e)
          least = std::min(least, range.size);
    return least;
  }

  CollectiveNode collective() {
    CollectiveNode node;
    node.type = static_cast<CollectiveType>(random_.pick(0, 6));
    if (node.type == CollectiveType::kAllReduce || node.type == CollectiveType::kReduceScatter)
      node.op = random_.any<Reduction>(
          {Reduction::kSum, Reduction::kMax, Reduction::kMin, Reduction::kProduct});
    node.tensor = tensor();
    node.src = random_.any(memories_);
    node.dst = random_.chance(50) ? node.src : random_.any(memories_);
    node.over = {random_.any(dimensions_)};
    if (random_.chance(30)) node.root = {{node.over[0], random_.pick(0, 3)}};
    if (random_.chance(50)) node.algorithm = "ring";
    return node;
  }

  RandomSpecs& random_;
  const Workload& workload_;
  const Arch& arch_;
  std::vector<ComponentId> memories_, computes_, fanouts_;
  std::vector<std::string> dimensions_;
};

}  // namespace

Mapping RandomSpecs::mapping(const Workload& workload, const Arch& arch) {
  return MappingMaker(*this, workload, arch).make();
}

Constraints RandomSpecs::constraints(const Workload& workload, const Arch& arch) {
  return MappingMaker(*this, workload, arch).constraints();
}

}  // namespace sluice::testing
