#include "triples/broken_models.h"

#include <algorithm>
#include <set>

#include "report/document/disagreements.h"
#include "sluice/referee/execute.h"

namespace sluice::triples {
namespace {

using Visit = std::function<void(Node&)>;

void for_each_node(NodeList& list, const Visit& visit) {
  for (Node& node : list) {
    visit(node);
    if (auto* split = std::get_if<SplitNode>(&node.kind))
      for (NodeList& child : split->children) for_each_node(child, visit);
  }
}

template <class Kind>
std::function<void(Workload&, Arch&, Mapping&)> for_nodes(std::function<void(Kind&)> edit) {
  return [edit](Workload&, Arch&, Mapping& mapping) {
    for_each_node(mapping.nodes, [&](Node& node) {
      if (auto* kind = std::get_if<Kind>(&node.kind)) edit(*kind);
    });
  };
}

std::function<void(Workload&, Arch&, Mapping&)> for_dimensions(
    std::function<void(SpatialDimension&)> edit) {
  return [edit](Workload&, Arch& arch, Mapping&) {
    for (Component& component : arch.components)
      for (SpatialDimension& dimension : component.spatial) edit(dimension);
  };
}

std::function<void(Workload&, Arch&, Mapping&)> for_memories(std::function<void(Memory&)> edit) {
  return [edit](Workload&, Arch& arch, Mapping&) {
    for (Component& component : arch.components)
      if (auto* memory = std::get_if<Memory>(&component.kind)) edit(*memory);
  };
}

std::function<void(Workload&, Arch&, Mapping&)> for_networks(std::function<void(Network&)> edit) {
  return [edit](Workload&, Arch& arch, Mapping&) {
    for (Component& component : arch.components)
      if (auto* network = std::get_if<Network>(&component.kind)) edit(*network);
  };
}

std::function<void(Workload&, Arch&, Mapping&)> for_einsums(std::function<void(Einsum&)> edit) {
  return [edit](Workload& workload, Arch&, Mapping&) {
    for (Einsum& einsum : workload.einsums) edit(einsum);
  };
}

std::function<void(Workload&, Arch&, Mapping&)> for_components(
    std::function<void(Component&)> edit) {
  return [edit](Workload&, Arch& arch, Mapping&) {
    for (Component& component : arch.components) edit(component);
  };
}

std::function<void(Workload&, Arch&, Mapping&)> may_reuse(const std::string& set) {
  return for_dimensions([set](SpatialDimension& d) { d.may_reuse = *Expression::parse(set); });
}

std::function<void(const BoundProblem&, Cost&)> for_rows(
    std::function<void(const BoundProblem&, EnergyRow&)> edit) {
  return [edit](const BoundProblem& problem, Cost& cost) {
    for (EnergyRow& row : cost.energy) edit(problem, row);
  };
}

bool is_output(const BoundProblem& problem, const EnergyRow& row) {
  return row.tensor && problem.workload[row.einsum].output().tensor == *row.tensor;
}

void scale(EnergyRow& row, double factor) {
  if (row.count) *row.count *= factor;
  if (row.bits) *row.bits *= factor;
}

/// Windows `p+r` seen as `p`: no halo.
void forget_halos(Einsum& einsum) {
  std::set<RankVariableId> inner;
  for (const TensorAccess& access : einsum.accesses)
    for (const AffineExpression& index : access.projection)
      for (std::size_t t = 1; t < index.terms.size(); ++t) inner.insert(index.terms[t].variable);
  for (TensorAccess& access : einsum.accesses)
    for (AffineExpression& index : access.projection)
      if (index.terms.size() > 1) index.terms.resize(1);
}

void forget_strides(Einsum& einsum) {
  for (TensorAccess& access : einsum.accesses)
    for (AffineExpression& index : access.projection)
      for (AffineTerm& term : index.terms) term.coefficient = 1;
}

void forget_slices(Einsum& einsum) {
  for (TensorAccess& access : einsum.accesses)
    for (AffineExpression& index : access.projection) index.constant = 0;
}

/// The first value of every output is read like the others.
void read_first_sums(const BoundProblem& problem, Cost& cost) {
  for (EnergyRow& row : cost.energy)
    if (is_output(problem, row) && row.action == "write" && row.count)
      for (EnergyRow& read : cost.energy)
        if (read.action == "read" && read.component == row.component && read.einsum == row.einsum &&
            read.tensor == row.tensor)
          *read.count = std::max(*read.count, *row.count);
}

void remove_innermost_storages(NodeList& list) {
  for (std::size_t i = list.size(); i-- > 0;) {
    if (auto* split = std::get_if<SplitNode>(&list[i].kind)) {
      for (NodeList& child : split->children) remove_innermost_storages(child);
      return;
    }
    if (!std::holds_alternative<StorageNode>(list[i].kind) || i == 0) continue;
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

void swap_adjacent_loops(NodeList& list) {
  for (std::size_t i = 0; i + 1 < list.size(); ++i) {
    if (auto* split = std::get_if<SplitNode>(&list[i].kind))
      for (NodeList& child : split->children) swap_adjacent_loops(child);
    if (std::holds_alternative<StorageNode>(list[i].kind) &&
        std::holds_alternative<TemporalNode>(list[i + 1].kind) && i > 0) {
      std::swap(list[i], list[i + 1]);
      return;
    }
  }
}

void spread_in_time(NodeList& list) {
  for (Node& node : list) {
    if (const auto* spatial = std::get_if<SpatialNode>(&node.kind)) {
      TemporalNode loop;
      loop.variables = spatial->variables;
      loop.tile_shape = spatial->tile_shape;
      node.kind = loop;
    } else if (auto* split = std::get_if<SplitNode>(&node.kind)) {
      for (NodeList& child : split->children) spread_in_time(child);
    }
  }
}

/// Loops above the storages of the outermost memory run one after the other.
void forget_ports(Workload&, Arch&, Mapping& mapping) {
  NodeList above;
  while (!mapping.nodes.empty() && std::holds_alternative<SpatialNode>(mapping.nodes[0].kind)) {
    above.push_back(std::move(mapping.nodes[0]));
    mapping.nodes.erase(mapping.nodes.begin());
  }
  spread_in_time(above);
  mapping.nodes.insert(mapping.nodes.begin(), above.begin(), above.end());
}

void see_windows_by_one_variable(TensorAccess& output) {
  for (AffineExpression& index : output.projection)
    if (index.terms.size() > 1) index.terms.resize(1);
}

void forget_output_strides(TensorAccess& output) {
  for (AffineExpression& index : output.projection)
    for (AffineTerm& term : index.terms)
      if (index.terms.size() > 1) term.coefficient = 1;
}

/// All makers of parts write the beginning of the tensor.
void forget_where_parts_begin(Workload& workload, Arch&, Mapping&) {
  const TensorRoles roles = tensor_roles(workload);
  for (Einsum& einsum : workload.einsums)
    if (roles.has_several_makers(einsum.output().tensor))
      for (AffineExpression& index : einsum.accesses.back().projection) index.constant = 0;
}

/// Parts that are made after the first one count twice.
void write_later_parts_twice(const BoundProblem& problem, Cost& cost) {
  for (EnergyRow& row : cost.energy)
    if (is_output(problem, row) && row.action == "write" &&
        problem.roles.has_several_makers(*row.tensor) &&
        problem.roles.makers[row.tensor->index()].front() != row.einsum)
      scale(row, 2);
}

std::vector<BrokenModel> make_models() {
  std::vector<BrokenModel> models;
  const auto misreads = [&](const char* name,
                            std::function<void(Workload&, Arch&, Mapping&)> before) {
    models.push_back({name, std::move(before), {}});
  };
  const auto miscounts = [&](const char* name,
                             std::function<void(const BoundProblem&, Cost&)> after) {
    models.push_back({name, {}, std::move(after)});
  };
  misreads("drops multicasts and reductions", may_reuse("Nothing"));
  misreads("multicasts where a dimension must not", may_reuse("All"));
  misreads("drops multicasts, reduces only", may_reuse("Outputs"));
  misreads("drops reductions, multicasts only", may_reuse("Inputs"));
  misreads("forgets the halo of a window", for_einsums(forget_halos));
  misreads("forgets strides", for_einsums(forget_strides));
  misreads("holds one slice of a state", for_einsums(forget_slices));
  misreads("refetches whole tiles into sliding storages",
           for_nodes<StorageNode>([](StorageNode& s) { s.sliding = false; }));
  misreads("slides where nobody asked for it",
           for_nodes<StorageNode>([](StorageNode& s) { s.sliding = true; }));
  misreads("refetches whole tiles into incremental storages",
           for_nodes<StorageNode>([](StorageNode& s) { s.incremental = false; }));
  misreads("keeps tiles where nobody asked for it",
           for_nodes<StorageNode>([](StorageNode& s) { s.incremental = !s.sliding; }));
  misreads("lets values enter a mesh in its corner only",
           for_networks([](Network& n) { n.entry = NetworkEntry::kCorner; }));
  misreads("knows one port of a network", for_networks([](Network& n) { n.ports = {}; }));
  misreads("gives every node of a network a port", for_networks([](Network& n) {
             if (n.ports.places != PortPlaces::kEntry) n.ports = {PortPlaces::kAll, {}};
           }));
  misreads("takes greedy trees for dimension order",
           for_networks([](Network& n) { n.multicast = Multicast::kDimensionOrder; }));
  misreads("keeps the columns of a packed mesh above each other",
           for_networks([](Network& n) { n.layout = NodeLayout::kAligned; }));
  misreads("charges hops for values that repeat",
           for_networks([](Network& n) { n.repeated_values = RepeatedValues::kCounted; }));
  misreads("carries returning sums over a network",
           for_networks([](Network& n) { n.returning_sums = ReturningSums::kCounted; }));
  misreads("takes every network for a mesh",
           for_networks([](Network& n) { n.topology = Topology::kMesh; }));
  misreads("lets a private storage serve everybody",
           for_nodes<StorageNode>([](StorageNode& s) { s.einsums.clear(); }));
  misreads("drops the innermost storage",
           [](Workload&, Arch&, Mapping& m) { remove_innermost_storages(m.nodes); });
  misreads("sinks a storage below any loop",
           [](Workload&, Arch&, Mapping& m) { swap_adjacent_loops(m.nodes); });
  misreads("takes spatial loops for temporal ones",
           [](Workload&, Arch&, Mapping& m) { spread_in_time(m.nodes); });
  misreads("forgets the ports of the outermost memory", forget_ports);
  misreads("knows the points of a windowed output by one variable",
           for_einsums([](Einsum& e) { see_windows_by_one_variable(e.accesses.back()); }));
  misreads("forgets the strides of a windowed output",
           for_einsums([](Einsum& e) { forget_output_strides(e.accesses.back()); }));
  misreads("lets gated components leak where nobody uses them",
           for_components([](Component& c) { c.power_gated = false; }));
  misreads("gates all leakage", for_components([](Component& c) { c.power_gated = true; }));
  misreads("runs branches backwards", for_nodes<SplitNode>([](SplitNode& s) {
             std::reverse(s.children.begin(), s.children.end());
           }));
  misreads("gives every child all instances", for_nodes<SplitNode>([](SplitNode& s) {
             s.over.reset();
             s.shares.clear();
           }));
  misreads("lets an inner region begin where the outer one ends", [](Workload&, Arch&, Mapping& m) {
    bool is_outermost = true;
    for_each_node(m.nodes, [&](Node& node) {
      auto* split = std::get_if<SplitNode>(&node.kind);
      if (!split || split->shares.size() < 2) return;
      if (std::exchange(is_outermost, false)) return;
      std::rotate(split->shares.begin(), split->shares.begin() + 1, split->shares.end());
    });
  });
  misreads("takes regions in the wrong order", for_nodes<SplitNode>([](SplitNode& s) {
             std::reverse(s.shares.begin(), s.shares.end());
           }));
  misreads("gives every peer all of a tile that they share",
           for_nodes<StorageNode>([](StorageNode& s) {
             s.shared_by.reset();
             s.over.reset();
             s.along.reset();
           }));
  misreads("forwards nothing", for_nodes<SplitNode>([](SplitNode& s) { s.forward.clear(); }));
  misreads("fills resident storages in every step",
           for_nodes<StorageNode>([](StorageNode& s) { s.resident = false; }));
  misreads("reserves double buffers once",
           for_memories([](Memory& m) { m.buffering = Buffering::kSingle; }));
  misreads("reserves single buffers twice",
           for_memories([](Memory& m) { m.buffering = Buffering::kDouble; }));
  misreads("gives merging reads away",
           for_memories([](Memory& m) { m.merging_reads = MergingReads::kFree; }));
  misreads("gives draining reads away",
           for_memories([](Memory& m) { m.draining_reads = DrainingReads::kFree; }));
  misreads("charges parts of whole actions",
           for_memories([](Memory& m) { m.partial_actions = PartialActions::kPart; }));
  misreads("rounds up what costs its part",
           for_memories([](Memory& m) { m.partial_actions = PartialActions::kWhole; }));
  misreads("ignores a memory's own widths",
           for_memories([](Memory& m) { m.bits_per_value.clear(); }));
  misreads("ignores capacities",
           for_memories([](Memory& m) { m.size_bits = Expression::literal(kUnbounded); }));
  misreads("ignores fanouts", for_dimensions([](SpatialDimension& d) { d.fanout = 99; }));
  misreads("ignores what a dimension must reuse",
           for_dimensions([](SpatialDimension& d) { d.reuse.reset(); }));
  misreads("charges tolls in both directions", [](Workload&, Arch& arch, Mapping&) {
    for (Component& c : arch.components)
      if (auto* toll = std::get_if<Toll>(&c.kind)) toll->direction = Toll::Direction::kUpAndDown;
  });
  misreads("forgets repetitions of the workload",
           [](Workload& w, Arch&, Mapping&) { w.n_instances = 1; });
  misreads("forgets repetitions of an Einsum", for_einsums([](Einsum& e) { e.n_instances = 1; }));
  misreads("lets persistent tensors go", [](Workload& w, Arch&, Mapping&) {
    for (Tensor& tensor : w.tensors) tensor.persistent = false;
  });
  misreads("computes copies", for_einsums([](Einsum& e) { e.is_copy_operation = false; }));
  misreads("knows no padding", [](Workload& w, Arch&, Mapping&) {
    for (Rank& rank : w.ranks) rank.size += 8;
  });
  misreads("forgets where the parts of a tensor begin", forget_where_parts_begin);
  miscounts("writes the later parts of a tensor twice", write_later_parts_twice);
  miscounts("reads the first partial sums", read_first_sums);
  miscounts("forgets to drain", for_rows([](const BoundProblem& problem, EnergyRow& row) {
              if (is_output(problem, row) && row.action == "write") scale(row, 0);
            }));
  miscounts("counts fills at the parent only",
            for_rows([](const BoundProblem& problem, EnergyRow& row) {
              if (row.tensor && !is_output(problem, row) && row.action == "write") scale(row, 0);
            }));
  miscounts("counts reads of outputs twice",
            for_rows([](const BoundProblem& problem, EnergyRow& row) {
              if (is_output(problem, row) && row.action == "read") scale(row, 2);
            }));
  miscounts("counts an operation too many", for_rows([](const BoundProblem&, EnergyRow& row) {
              if (!row.tensor && row.count) *row.count += 1;
            }));
  miscounts("does not merge",
            [](const BoundProblem&, Cost& cost) { cost.unpriced_merge_values = 0; });
  miscounts("reserves one value too little", [](const BoundProblem&, Cost& cost) {
    for (OccupancyRow& row : cost.occupancy) row.peak_bits = std::max(0.0, row.peak_bits - 8);
  });
  return models;
}

}  // namespace

const std::vector<BrokenModel>& broken_models() {
  static const std::vector<BrokenModel> models = make_models();
  return models;
}

std::vector<std::string> differences(const LoadedTriple& triple, const BrokenModel& model) {
  Workload workload = triple.problem.workload;
  Arch arch = triple.problem.arch;
  Mapping mapping = triple.mapping;
  if (model.before) model.before(workload, arch, mapping);
  const auto misread = bind(workload, arch);
  if (!misread) return {};
  auto cost = evaluate(*misread, mapping);
  if (cost && model.after) model.after(*misread, *cost);
  return cli::disagreements(
      triple.problem, cost,
      execute(triple.problem.workload, triple.problem.arch, triple.mapping, {}));
}

}  // namespace sluice::triples
