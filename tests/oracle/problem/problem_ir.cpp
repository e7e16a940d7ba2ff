#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "oracle/problem/random_problem.h"
#include "sluice/support/error.h"

namespace sluice::oracle {
namespace {

Expression expression(const std::string& text) {
  auto parsed = Expression::parse(text);
  SLUICE_CHECK(parsed.has_value(), "a generated expression: " + text);
  return *parsed;
}

double number(const std::string& text) { return text == "inf" ? kUnbounded : std::stod(text); }

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    std::erase(part, ' ');
    parts.push_back(part);
  }
  return parts;
}

/// Makes the workload of a ProblemSpec, without the front end.
class WorkloadMaker {
 public:
  explicit WorkloadMaker(const ProblemSpec& spec) : spec_(spec) {}

  Workload make() {
    workload_.n_instances = spec_.n_instances;
    for (const EinsumSpec& einsum : spec_.einsums) add(einsum);
    mark_persistent();
    for (Tensor& tensor : workload_.tensors)
      if (std::count(spec_.filled.begin(), spec_.filled.end(), tensor.name) > 0) tensor.initial = 0;
    return workload_;
  }

 private:
  /// The set expressions that the generator draws, by hand: one of four, or one tensor's name.
  void mark_persistent() {
    const TensorRoles roles = tensor_roles(workload_);
    const bool names_one =
        std::any_of(workload_.tensors.begin(), workload_.tensors.end(),
                    [&](const Tensor& tensor) { return tensor.name == spec_.persistent; });
    for (std::size_t t = 0; t < workload_.tensors.size(); ++t) {
      const TensorId id(t);
      const bool between = roles.is_intermediate(id);
      bool& persistent = workload_.tensors[t].persistent;
      const std::string& name = workload_.tensors[t].name;
      if (spec_.persistent == "weight - Intermediates") {
        persistent = !between && std::any_of(spec_.einsums.begin(), spec_.einsums.end(),
                                             [&](const EinsumSpec& e) { return e.weight == name; });
      } else if (spec_.persistent == "Inputs - Intermediates") {
        persistent = !between && !roles.consumers[t].empty();
      } else if (spec_.persistent == "Intermediates") {
        persistent = between;
      } else if (spec_.persistent == "All") {
        persistent = true;
      } else if (names_one) {
        persistent = name == spec_.persistent;
      } else {
        SLUICE_CHECK(spec_.persistent.empty(), "persistent_tensors: " + spec_.persistent);
      }
    }
  }

  void add(const EinsumSpec& spec) {
    Einsum einsum;
    einsum.name = spec.name;
    einsum.is_copy_operation = spec.is_copy;
    einsum.n_instances = spec.n_instances;
    for (const AccessSpec& input : spec.inputs)
      einsum.accesses.push_back(access(input, false, input.tensor == spec.weight));
    einsum.accesses.push_back(access(spec.output, true, false));
    for (const TensorAccess& a : einsum.accesses) add_variables(einsum, a, spec);
    einsum.expression = product(einsum);
    einsum.renames = {{"input", {}}, {"output", {tensor(spec.output.tensor)}}, {"weight", {}}};
    for (const AccessSpec& input : spec.inputs)
      einsum.renames[input.tensor == spec.weight ? 2 : 0].tensors.push_back(tensor(input.tensor));
    std::vector<TensorId>& inputs = einsum.renames[0].tensors;
    std::sort(inputs.begin(), inputs.end());
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    workload_.einsums.push_back(std::move(einsum));
  }

  TensorAccess access(const AccessSpec& spec, bool is_output, bool is_weight) {
    TensorAccess access;
    access.is_output = is_output;
    access.bits_per_value = bits(is_weight);
    const bool known = find_tensor(workload_, spec.tensor).has_value();
    if (!known) {
      workload_.tensors.push_back({spec.tensor, {}, false, {}});
    }
    access.tensor = tensor(spec.tensor);
    for (const auto& [name, index] : spec.projection) {
      if (!known) workload_.tensors.back().ranks.push_back(rank(name));
      access.projection.push_back(affine(index));
    }
    return access;
  }

  /// `All: 8` or `weight: 4, Other: 8`.
  double bits(bool is_weight) const {
    const std::vector<std::string> entries = split(spec_.bits_per_value, ',');
    const std::string& entry = is_weight ? entries.front() : entries.back();
    return std::stod(entry.substr(entry.find(':') + 1));
  }

  /// `p`, `p + r`, `2*p + r`, `i + 1`
  AffineExpression affine(const std::string& text) {
    AffineExpression result;
    for (const std::string& term : split(text, '+')) {
      if (std::isdigit(static_cast<unsigned char>(term[0])) &&
          term.find('*') == std::string::npos) {
        result.constant += std::stoll(term);
        continue;
      }
      const std::vector<std::string> factors = split(term, '*');
      const std::int64_t coefficient = factors.size() == 2 ? std::stoll(factors[0]) : 1;
      result.terms.push_back({variable(factors.back()), coefficient});
    }
    std::sort(result.terms.begin(), result.terms.end(),
              [](const AffineTerm& a, const AffineTerm& b) { return a.variable < b.variable; });
    return result;
  }

  void add_variables(Einsum& einsum, const TensorAccess& access, const EinsumSpec& spec) {
    for (const AffineExpression& index : access.projection)
      for (const AffineTerm& term : index.terms)
        if (!uses_variable(einsum, term.variable) &&
            std::none_of(einsum.iteration_space.begin(), einsum.iteration_space.end(),
                         [&](const VariableRange& r) { return r.variable == term.variable; }))
          einsum.iteration_space.push_back({term.variable, 0, extent(einsum, term.variable, spec)});
  }

  /// `0 <= r < 3` where given, else what the ranks that the variable alone indexes leave it.
  std::int64_t extent(const Einsum& einsum, RankVariableId variable, const EinsumSpec& spec) const {
    const std::string& name = workload_[variable].name;
    for (const std::string& bound : spec.bounds) {
      const std::vector<std::string> parts = split(bound, '<');
      if (parts[1] == "=" + name) return std::stoll(parts[2]);
    }
    std::int64_t smallest = 0;
    for (const TensorAccess& access : einsum.accesses)
      for (std::size_t r = 0; r < access.projection.size(); ++r) {
        const AffineExpression& index = access.projection[r];
        if (index.terms.size() != 1 || index.coefficient_of(variable) != 1) continue;
        const std::int64_t size =
            workload_[workload_[access.tensor].ranks[r]].size - index.constant;
        smallest = smallest == 0 ? size : std::min(smallest, size);
      }
    SLUICE_CHECK(smallest > 0, "a generated variable without a bound: " + name);
    return smallest;
  }

  static ScalarExpression product(const Einsum& einsum) {
    ScalarExpression result;
    const std::size_t inputs = einsum.accesses.size() - 1;
    for (std::uint32_t i = 0; i < inputs; ++i) {
      ScalarNode node;
      node.kind = ScalarNode::Kind::kAccess;
      node.access = i;
      result.nodes.push_back(node);
    }
    if (inputs == 2) {
      ScalarNode node;
      node.kind = ScalarNode::Kind::kOperation;
      node.operation = OperationKind::kMul;
      node.operands = {0, 1};
      result.nodes.push_back(node);
    }
    for (const VariableRange& range : einsum.iteration_space)
      if (relevance(einsum.accesses.back(), range.variable) == Relevance::kIrrelevant)
        result.reduction = Reduction::kSum;
    for (const AffineExpression& index : einsum.output().projection)
      if (index.terms.size() > 1) result.reduction = Reduction::kSum;
    return result;
  }

  TensorId tensor(const std::string& name) const { return *find_tensor(workload_, name); }

  RankVariableId variable(const std::string& name) {
    if (auto known = find_rank_variable(workload_, name)) return *known;
    workload_.rank_variables.push_back({name});
    return RankVariableId(workload_.rank_variables.size() - 1);
  }

  RankId rank(const std::string& name) {
    for (std::size_t r = 0; r < workload_.ranks.size(); ++r)
      if (workload_.ranks[r].name == name) return RankId(r);
    std::int64_t size = 0;
    for (const auto& [known, value] : spec_.rank_sizes)
      if (known == name) size = value;
    workload_.ranks.push_back({name, size});
    return RankId(workload_.ranks.size() - 1);
  }

  const ProblemSpec& spec_;
  Workload workload_;
};

std::vector<SpatialDimension> spatial(const std::vector<FanoutSpec>& specs) {
  std::vector<SpatialDimension> result;
  for (const FanoutSpec& spec : specs) {
    SpatialDimension dimension;
    dimension.name = spec.name;
    dimension.fanout = spec.fanout;
    dimension.may_reuse = expression(spec.may_reuse);
    if (!spec.reuse.empty()) dimension.reuse = expression(spec.reuse);
    if (!spec.min_usage.empty()) dimension.min_usage = expression(spec.min_usage);
    result.push_back(dimension);
  }
  return result;
}

Action action(const char* name, int energy, const std::string& throughput) {
  Action result;
  result.name = name;
  result.energy_j = energy;
  result.throughput = number(throughput);
  return result;
}

TensorPolicy policy(const MemorySpec& spec) {
  TensorPolicy result;
  if (!spec.keep.empty()) result.keep = expression(spec.keep);
  if (!spec.may_keep.empty()) result.may_keep = expression(spec.may_keep);
  if (!spec.back.empty()) result.back = expression(spec.back);
  result.force_memory_hierarchy_order = !spec.any_order;
  for (const std::vector<std::string>& option : spec.tensor_order) {
    result.tensor_order_options.emplace_back();
    for (const std::string& group : option)
      result.tensor_order_options.back().push_back(expression(group));
  }
  return result;
}

Memory memory(const MemorySpec& spec) {
  Memory kind;
  kind.size_bits = spec.size == "inf" ? Expression::literal(kUnbounded) : expression(spec.size);
  kind.tensors = policy(spec);
  if (!spec.bits_per_value.empty()) {
    const std::vector<std::string> parts = split(spec.bits_per_value, ':');
    kind.bits_per_value.push_back({expression(parts[0]), expression(parts[1])});
  }
  if (spec.is_double) kind.buffering = Buffering::kDouble;
  if (spec.separate_ports) kind.ports = Ports::kSeparate;
  if (spec.counted_merges) kind.merging_reads = MergingReads::kCounted;
  if (spec.free_drains) kind.draining_reads = DrainingReads::kFree;
  if (spec.whole_actions) kind.partial_actions = PartialActions::kWhole;
  return kind;
}

Toll toll(const MemorySpec& spec) {
  Toll kind;
  kind.tensors = policy(spec);
  if (spec.direction == "down") kind.direction = Toll::Direction::kDown;
  if (spec.direction == "up") kind.direction = Toll::Direction::kUp;
  return kind;
}

Network network(const NetworkSpec& spec) {
  Network kind;
  for (const TopologyFacts& known : kTopologies)
    if (known.name == spec.topology) kind.topology = known.topology;
  if (spec.from_edge) kind.entry = NetworkEntry::kEdge;
  if (spec.ports == "corners") kind.ports.places = PortPlaces::kCorners;
  if (spec.ports == "edges") kind.ports.places = PortPlaces::kEdges;
  if (spec.ports == "all") kind.ports.places = PortPlaces::kAll;
  if (spec.ports == "own") kind.ports.places = PortPlaces::kOwn;
  if (spec.grows_trees) kind.multicast = Multicast::kGreedyTree;
  if (spec.free_sums) kind.returning_sums = ReturningSums::kFree;
  kind.implicit_time = spec.implicit_time == "none"   ? ImplicitTime::kNone
                       : spec.implicit_time == "once" ? ImplicitTime::kOnce
                                                      : ImplicitTime::kReceivers;
  kind.hop_energy_j = spec.hop_energy;
  kind.channel_width_bits = spec.channel_width;
  kind.link_bandwidth = number(spec.link_bandwidth);
  kind.router_latency_s = number(spec.router_latency);
  kind.queue_latency_s = number(spec.queue_latency);
  return kind;
}

Container container(const MemorySpec& spec) {
  using Dataflow = SystolicArray::Dataflow;
  const std::map<std::string, Dataflow> dataflows = {{"ws", Dataflow::kWeightStationary},
                                                     {"os", Dataflow::kOutputStationary},
                                                     {"is", Dataflow::kInputStationary}};
  Container kind;
  if (!spec.array.empty())
    kind.array = SystolicArray{dataflows.at(spec.array), spec.spatial.front().name,
                               spec.spatial.back().name};
  return kind;
}

/// A memory, a toll, a container or a network.
Component holder(const MemorySpec& spec) {
  Component component;
  component.name = spec.name;
  component.spatial = spatial(spec.spatial);
  component.leak_power_w = number(spec.leak);
  component.power_gated = spec.power_gated;
  if (spec.kind == HolderKind::kNetwork) {
    component.kind = network(spec.network);
    return component;
  }
  if (spec.kind == HolderKind::kContainer) {
    component.kind = container(spec);
    return component;
  }
  component.actions = {action("read", spec.read_energy, spec.read_throughput)};
  if (spec.kind == HolderKind::kToll) {
    component.kind = toll(spec);
  } else {
    component.kind = memory(spec);
    component.actions.push_back(action("write", spec.write_energy, spec.write_throughput));
  }
  for (Action& action : component.actions) {
    action.bits_per_action = spec.bits_per_action;
    if (spec.values_per_action > 0) action.values_per_action = spec.values_per_action;
  }
  if (!spec.total_latency.empty()) component.total_latency = expression(spec.total_latency);
  return component;
}

Component compute(const ComputeSpec& spec) {
  Component component;
  component.name = spec.name;
  component.kind = Compute{};
  component.actions = {action("compute", spec.energy, spec.throughput)};
  component.spatial = spatial(spec.spatial);
  component.leak_power_w = number(spec.leak);
  component.power_gated = spec.power_gated;
  if (!spec.total_latency.empty()) component.total_latency = expression(spec.total_latency);
  if (!spec.enabled.empty()) component.enabled = expression(spec.enabled);
  return component;
}

Arch make_arch(const ProblemSpec& spec) {
  Arch arch;
  for (std::size_t i = 0; i < spec.memories.size(); ++i) {
    arch.components.push_back(holder(spec.memories[i]));
    if (!spec.fork || i != fork_place(spec)) continue;
    arch.forks.emplace_back();
    if (spec.fork->memory) {
      arch.components.push_back(holder(*spec.fork->memory));
      arch.components.back().fork = ForkId(0);
    }
    arch.components.push_back(compute(spec.fork->compute));
    arch.components.back().fork = ForkId(0);
  }
  arch.components.push_back(compute(spec.compute));
  return arch;
}

}  // namespace

std::size_t fork_place(const ProblemSpec& spec) {
  std::size_t place = 0;
  while (place + 1 < spec.memories.size() && spec.memories[place].name != "GlobalBuffer") ++place;
  return place;
}

BoundProblem bind_problem(const ProblemSpec& spec) {
  auto bound = bind(WorkloadMaker(spec).make(), make_arch(spec));
  if (bound) return std::move(*bound);
  throw InternalError("a generated problem was refused:\n" + to_string(bound.error()) +
                      to_yaml(spec));
}

MapperOptions options_of(const ProblemSpec& spec) {
  MapperOptions options;
  options.max_fused_loops = spec.max_fused_loops;
  options.max_fused_loops_per_rank = spec.max_fused_loops_per_rank;
  return options;
}

}  // namespace sluice::oracle
