#include "unit/referee/small_problem.h"

#include <cctype>
#include <sstream>
#include <stdexcept>

#include "sluice/referee/execute.h"

namespace sluice::testing {
namespace {

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

/// `A[p+r]+W[r]` into its accesses.
std::vector<std::string> accesses_of(const std::string& text) {
  std::vector<std::string> accesses(1);
  bool is_inside = false;
  for (const char c : text) {
    if (c == '+' && !is_inside) {
      accesses.emplace_back();
      continue;
    }
    if (c == '[' || c == ']') is_inside = c == '[';
    accesses.back() += c;
  }
  return accesses;
}

ScalarExpression sum_of(std::size_t n_accesses, Reduction reduction) {
  ScalarExpression expression;
  expression.reduction = reduction;
  for (std::uint32_t access = 0; access < n_accesses; ++access) {
    ScalarNode node;
    node.kind = ScalarNode::Kind::kAccess;
    node.access = access;
    const auto place = static_cast<std::uint32_t>(expression.nodes.size());
    expression.nodes.push_back(node);
    if (access == 0) continue;
    ScalarNode add;
    add.kind = ScalarNode::Kind::kOperation;
    add.operation = OperationKind::kAdd;
    add.operands = {place - 1, place};
    expression.nodes.push_back(add);
  }
  return expression;
}

Expression expression_of(const std::string& text) {
  const auto parsed = Expression::parse(text);
  if (!parsed) throw std::runtime_error(text + ": " + parsed.error().message);
  return *parsed;
}

Component memory_named(const std::string& name, Buffering buffering) {
  Component component;
  component.name = name;
  Memory memory;
  memory.size_bits = expression_of("inf");
  memory.buffering = buffering;
  component.kind = memory;
  component.actions = {{"read", 1, 1, 1, 0, {}}, {"write", 1, 1, 1, 0, {}}};
  return component;
}

}  // namespace

AffineExpression SmallWorkload::index(const std::string& text, Einsum& einsum) {
  AffineExpression result;
  for (const std::string& term : parts_of(text, '+')) {
    if (term[0] == '-' || std::isdigit(static_cast<unsigned char>(term[0])) != 0) {
      result.constant += std::stoll(term);
      continue;
    }
    auto variable = find_rank_variable(workload, term);
    if (!variable) {
      variable = RankVariableId(workload.rank_variables.size());
      workload.rank_variables.push_back({term});
    }
    result.terms.push_back({*variable, 1});
    if (!uses_variable(einsum, *variable))
      einsum.iteration_space.push_back({*variable, 0, sizes_.at(term)});
  }
  std::sort(result.terms.begin(), result.terms.end(),
            [](const AffineTerm& a, const AffineTerm& b) { return a.variable < b.variable; });
  return result;
}

TensorAccess SmallWorkload::access(const std::string& text, Einsum& einsum) {
  const std::size_t bracket = text.find('[');
  const std::string name = text.substr(0, bracket);
  TensorAccess result;
  result.bits_per_value = 8;
  std::vector<RankId> ranks;
  for (const std::string& item :
       parts_of(text.substr(bracket + 1, text.size() - bracket - 2), ',')) {
    const std::size_t colon = item.find(':');
    const bool has_name = colon != std::string::npos;
    result.projection.push_back(index(has_name ? item.substr(colon + 1) : item, einsum));
    const AffineExpression& at = result.projection.back();
    const std::string rank_name =
        has_name ? item.substr(0, colon) : workload[at.terms[0].variable].name;
    std::int64_t extent = at.constant + 1;
    for (const AffineTerm& term : at.terms) extent += variable_size(einsum, term.variable) - 1;
    std::size_t rank = 0;
    while (rank < workload.ranks.size() && workload.ranks[rank].name != rank_name) ++rank;
    if (rank == workload.ranks.size()) workload.ranks.push_back({rank_name, 0});
    workload.ranks[rank].size = std::max(workload.ranks[rank].size, extent);
    ranks.emplace_back(rank);
  }
  auto tensor = find_tensor(workload, name);
  if (!tensor) {
    tensor = TensorId(workload.tensors.size());
    workload.tensors.push_back({name, ranks, false, std::nullopt});
  }
  result.tensor = *tensor;
  return result;
}

SmallWorkload& SmallWorkload::einsum(const std::string& text) {
  std::string compact;
  for (const char c : text)
    if (c != ' ') compact += c;
  const std::size_t equals = compact.find('=');
  Einsum einsum;
  einsum.name = compact.substr(0, compact.find('['));
  for (const std::string& input : accesses_of(compact.substr(equals + 1)))
    einsum.accesses.push_back(access(input, einsum));
  TensorAccess output = access(compact.substr(0, equals), einsum);
  output.is_output = true;
  const bool has_sums = output.projection.size() < einsum.iteration_space.size();
  einsum.expression = sum_of(einsum.accesses.size(), has_sums ? Reduction::kSum : Reduction::kNone);
  einsum.accesses.push_back(output);
  workload.einsums.push_back(einsum);
  return *this;
}

Arch small_machine(Buffering of_gb) {
  Component pe, mac;
  pe.name = "PE";
  pe.kind = Container{};
  pe.spatial = {{"x", 2, expression_of("All"), std::nullopt, std::nullopt}};
  mac.name = "MAC";
  mac.kind = Compute{};
  mac.actions = {{"compute", 1, 1, 1, 0, {}}};
  Arch arch;
  arch.components = {memory_named("DRAM", Buffering::kSingle), memory_named("GB", of_gb), pe,
                     memory_named("RF", Buffering::kSingle), mac};
  return arch;
}

Node SmallMapping::hold(const std::string& memory,
                        std::initializer_list<const char*> tensors) const {
  StorageNode node;
  for (const char* tensor : tensors) node.tensors.push_back(find_tensor(workload_, tensor).value());
  node.component = find_component(arch_, memory).value();
  return {node};
}

Node SmallMapping::slide(const std::string& memory, const char* tensor) const {
  Node node = hold(memory, {tensor});
  std::get<StorageNode>(node.kind).sliding = true;
  return node;
}

Node SmallMapping::loop(std::initializer_list<const char*> variables, std::int64_t tile,
                        std::optional<std::int64_t> first_tile) const {
  TemporalNode node;
  for (const char* variable : variables)
    node.variables.push_back(find_rank_variable(workload_, variable).value());
  node.tile_shape = tile;
  node.initial_tile_shape = first_tile;
  return {node};
}

Node SmallMapping::spread(const std::string& variable, std::int64_t tile) const {
  SpatialNode node;
  node.variables = {find_rank_variable(workload_, variable).value()};
  node.tile_shape = tile;
  node.component = find_component(arch_, "PE").value();
  return {node};
}

Node SmallMapping::compute(const std::string& einsum) const {
  return {
      ComputeNode{find_einsum(workload_, einsum).value(), find_component(arch_, "MAC").value()}};
}

Node SmallMapping::sequential(std::vector<NodeList> children) {
  SplitNode split;
  split.children = std::move(children);
  return {split};
}

double SmallMapping::peak_bits(const std::string& memory, NodeList nodes) const {
  const Execution run = execute(workload_, arch_, Mapping{std::move(nodes), {}}, {});
  std::string complaints;
  for (const Complaint& complaint : run.complaints) complaints += complaint.message + "\n";
  if (!complaints.empty()) throw std::runtime_error(complaints);
  for (const PeakOccupancy& peak : run.occupancy)
    if (peak.component == find_component(arch_, memory)) return peak.peak_bits;
  throw std::runtime_error("no memory " + memory);
}

}  // namespace sluice::testing
