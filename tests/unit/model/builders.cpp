#include "unit/model/builders.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <stdexcept>

namespace sluice::testing {
namespace {

std::string without_spaces(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

std::vector<std::string> pieces(const std::string& text, char separator) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string piece; std::getline(stream, piece, separator);) result.push_back(piece);
  return result;
}

/// `A[m,k]*B[k,n]` into `A[m,k]` and `B[k,n]`: stars inside brackets belong to index expressions.
std::vector<std::string> accesses_in(const std::string& text) {
  std::vector<std::string> result(1);
  int depth = 0;
  for (char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == '*' && depth == 0) {
      result.emplace_back();
    } else {
      result.back() += c;
    }
  }
  return result;
}

ScalarExpression product_of(std::size_t n_inputs, Reduction reduction) {
  ScalarExpression expression;
  expression.reduction = reduction;
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < n_inputs; ++i) {
    ScalarNode access;
    access.kind = ScalarNode::Kind::kAccess;
    access.access = i;
    expression.nodes.push_back(access);
    const auto index = static_cast<std::uint32_t>(expression.nodes.size() - 1);
    if (i > 0) {
      ScalarNode multiply;
      multiply.kind = ScalarNode::Kind::kOperation;
      multiply.operation = OperationKind::kMul;
      multiply.operands = {result, index};
      expression.nodes.push_back(multiply);
    }
    result = static_cast<std::uint32_t>(expression.nodes.size() - 1);
  }
  return expression;
}

/// The inputs chained by the given operations: binary ones take the next input, unary ones do not.
ScalarExpression chain_of(const std::vector<OperationKind>& operations, Reduction reduction) {
  ScalarExpression expression = product_of(1, reduction);
  std::uint32_t next_input = 1;
  for (OperationKind kind : operations) {
    ScalarNode operation;
    operation.kind = ScalarNode::Kind::kOperation;
    operation.operation = kind;
    operation.operands = {static_cast<std::uint32_t>(expression.nodes.size() - 1)};
    if (operation_arity(kind) == 2) {
      ScalarNode access;
      access.kind = ScalarNode::Kind::kAccess;
      access.access = next_input++;
      expression.nodes.push_back(access);
      operation.operands.push_back(static_cast<std::uint32_t>(expression.nodes.size() - 1));
    }
    expression.nodes.push_back(operation);
  }
  return expression;
}

}  // namespace

WorkloadBuilder::WorkloadBuilder(std::map<std::string, std::int64_t> sizes, double bits_per_value)
    : sizes_(std::move(sizes)), bits_per_value_(bits_per_value) {}

WorkloadBuilder& WorkloadBuilder::rank(const std::string& name, std::int64_t size) {
  rank_sizes_[name] = size;
  return *this;
}

RankVariableId WorkloadBuilder::variable(const std::string& name) {
  if (const auto known = find_rank_variable(workload, name)) return *known;
  workload.rank_variables.push_back({name});
  return RankVariableId(workload.rank_variables.size() - 1);
}

RankId WorkloadBuilder::rank_id(const std::string& name) {
  for (std::size_t r = 0; r < workload.ranks.size(); ++r)
    if (workload.ranks[r].name == name) return RankId(r);
  workload.ranks.push_back({name, rank_sizes_.count(name) ? rank_sizes_[name] : 0});
  return RankId(workload.ranks.size() - 1);
}

AffineExpression WorkloadBuilder::index(const std::string& text, Einsum& einsum) {
  AffineExpression result;
  for (const std::string& term : pieces(text, '+')) {
    const std::size_t star = term.find('*');
    const std::string name = star == std::string::npos ? term : term.substr(star + 1);
    if (std::isdigit(static_cast<unsigned char>(name[0]))) {
      result.constant += std::stoll(name);
      continue;
    }
    const RankVariableId id = variable(name);
    result.terms.push_back({id, star == std::string::npos ? 1 : std::stoll(term.substr(0, star))});
    if (!uses_variable(einsum, id)) einsum.iteration_space.push_back({id, 0, sizes_.at(name)});
  }
  std::sort(result.terms.begin(), result.terms.end(),
            [](const AffineTerm& a, const AffineTerm& b) { return a.variable < b.variable; });
  return result;
}

TensorAccess WorkloadBuilder::access(const std::string& text, Einsum& einsum) {
  const std::size_t bracket = text.find('[');
  const std::string name = text.substr(0, bracket);
  TensorAccess result;
  result.bits_per_value = bits_per_value_;
  std::vector<RankId> ranks;
  for (const std::string& item : pieces(text.substr(bracket + 1, text.size() - bracket - 2), ',')) {
    const std::size_t colon = item.find(':');
    const AffineExpression expression =
        index(colon == std::string::npos ? item : item.substr(colon + 1), einsum);
    std::string rank_name = colon == std::string::npos ? "" : item.substr(0, colon);
    if (rank_name.empty()) {
      rank_name = workload.rank_variables[expression.terms[0].variable.index()].name;
      rank_name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(rank_name[0])));
    }
    const RankId rank = rank_id(rank_name);
    std::int64_t extent = expression.constant + 1;
    for (const AffineTerm& term : expression.terms)
      extent += term.coefficient * (variable_size(einsum, term.variable) - 1);
    if (!rank_sizes_.count(rank_name))
      workload.ranks[rank.index()].size = std::max(workload.ranks[rank.index()].size, extent);
    ranks.push_back(rank);
    result.projection.push_back(expression);
  }
  auto tensor = find_tensor(workload, name);
  if (!tensor) {
    workload.tensors.push_back({name, ranks, false, std::nullopt});
    tensor = TensorId(workload.tensors.size() - 1);
  }
  result.tensor = *tensor;
  return result;
}

WorkloadBuilder& WorkloadBuilder::einsum(const std::string& text) {
  const std::string compact = without_spaces(text);
  const std::size_t equals = compact.find('=');
  Einsum einsum;
  einsum.name = compact.substr(0, compact.find('['));
  for (const std::string& input : accesses_in(compact.substr(equals + 1)))
    einsum.accesses.push_back(access(input, einsum));
  const std::size_t n_input_variables = einsum.iteration_space.size();
  TensorAccess output = access(compact.substr(0, equals), einsum);
  output.is_output = true;
  std::size_t n_output_variables = 0;
  for (const AffineExpression& expression : output.projection)
    n_output_variables += expression.terms.size();
  einsum.expression =
      product_of(einsum.accesses.size(),
                 n_output_variables < n_input_variables ? Reduction::kSum : Reduction::kNone);
  einsum.accesses.push_back(output);
  workload.einsums.push_back(einsum);
  return *this;
}

WorkloadBuilder& WorkloadBuilder::einsum(const std::string& text,
                                         const std::vector<OperationKind>& operations,
                                         Reduction reduction) {
  einsum(text);
  workload.einsums.back().expression = chain_of(operations, reduction);
  return *this;
}

WorkloadBuilder& WorkloadBuilder::copy(const std::string& text) {
  einsum(text);
  workload.einsums.back().is_copy_operation = true;
  return *this;
}

WorkloadBuilder& WorkloadBuilder::persistent(const std::string& tensor) {
  workload.tensors[find_tensor(workload, tensor)->index()].persistent = true;
  return *this;
}

Expression expression(const std::string& text) {
  auto parsed = Expression::parse(text);
  if (!parsed) throw std::runtime_error(text + ": " + parsed.error().message);
  return *parsed;
}

Component memory(const std::string& name, const std::string& size, const std::string& keep,
                 double energy_j, double throughput) {
  Component component;
  component.name = name;
  Memory kind;
  kind.size_bits = expression(size);
  kind.tensors.keep = expression(keep);
  kind.tensors.may_keep = expression("All");
  component.kind = kind;
  component.actions = {{"read", energy_j, throughput, 1, 0, {}},
                       {"write", energy_j, throughput, 1, 0, {}}};
  return component;
}

Component compute(const std::string& name, const std::vector<Action>& actions) {
  Component component;
  component.name = name;
  component.kind = Compute{};
  component.actions = actions;
  return component;
}

Component container(const std::string& name, std::vector<SpatialDimension> spatial) {
  Component component;
  component.name = name;
  component.kind = Container{};
  component.spatial = std::move(spatial);
  return component;
}

SpatialDimension dimension(const std::string& name, std::int64_t fanout,
                           const std::string& may_reuse) {
  return {name, fanout, expression(may_reuse), std::nullopt, std::nullopt};
}

Node MappingBuilder::storage(const std::string& component,
                             std::initializer_list<const char*> tensors) const {
  StorageNode node;
  for (const char* tensor : tensors) node.tensors.push_back(find_tensor(workload_, tensor).value());
  node.component = find_component(arch_, component).value();
  return {node};
}

Node MappingBuilder::temporal(const std::string& variable, std::int64_t tile_shape) const {
  return {
      TemporalNode{{find_rank_variable(workload_, variable).value()}, tile_shape, std::nullopt}};
}

Node MappingBuilder::spatial(const std::string& variable, std::int64_t tile_shape,
                             const std::string& component, std::uint32_t dimension) const {
  return {SpatialNode{{find_rank_variable(workload_, variable).value()},
                      tile_shape,
                      find_component(arch_, component).value(),
                      dimension,
                      std::nullopt}};
}

Node MappingBuilder::compute(const std::string& einsum, const std::string& component) const {
  return {ComputeNode{find_einsum(workload_, einsum).value(),
                      find_component(arch_, component).value()}};
}

Node MappingBuilder::sequential(std::vector<NodeList> children) const {
  SplitNode split;
  split.children = std::move(children);
  return {split};
}

Workload tiled_matmul_workload() {
  return WorkloadBuilder({{"m", 4}, {"k", 8}, {"n", 2}}, 1)
      .einsum("C[m,n] = A[m,k] * B[k,n]")
      .workload;
}

NodeList tiled_matmul_nodes(const Workload& w, const Arch& arch) {
  const MappingBuilder b(w, arch);
  return {b.storage("DRAM", {"A", "B", "C"}),
          b.temporal("m", 2),
          b.storage("GB", {"C"}),
          b.temporal("k", 4),  // A and B of 2·4 and 4·2 values, C of 2·2
          b.storage("GB", {"B", "A"}),
          b.temporal("n", 1),
          b.temporal("k", 1),
          b.temporal("m", 1),
          b.compute("C", "MAC")};
}

BoundProblem bound(const Workload& workload, const Arch& arch) {
  auto problem = bind(workload, arch);
  if (!problem) {
    std::string text;
    for (const Diagnostic& diagnostic : problem.error()) text += diagnostic.message + "\n";
    throw std::runtime_error(text);
  }
  return *problem;
}

Cost priced(const Workload& workload, const Arch& arch, NodeList nodes) {
  const auto cost = evaluate(bound(workload, arch), Mapping{std::move(nodes), {}});
  if (!cost) throw std::runtime_error(messages(cost.error()));
  return *cost;
}

std::string why_illegal(const Workload& workload, const Arch& arch, NodeList nodes) {
  const auto cost = evaluate(bound(workload, arch), Mapping{std::move(nodes), {}});
  return cost ? "" : messages(cost.error());
}

Values values(const Cost& cost, const Workload& workload, const Arch& arch,
              const std::string& component, const std::string& action) {
  Values result;
  for (const EnergyRow& row : cost.energy)
    if (arch[row.component].name == component && row.action == action && row.count.value_or(0) != 0)
      result[row.tensor ? workload[*row.tensor].name : ""] += *row.count;
  return result;
}

double peak_bits(const Cost& cost, const Arch& arch, const std::string& memory) {
  for (const OccupancyRow& row : cost.occupancy)
    if (arch[row.component].name == memory) return row.peak_bits;
  throw std::runtime_error("no memory " + memory);
}

}  // namespace sluice::testing
