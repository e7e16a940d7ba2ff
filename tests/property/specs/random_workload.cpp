#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "property/specs/random_specs.h"

namespace sluice::testing {
namespace {

/// Builds Einsum after Einsum; ids are given at first use, as by the reader.
class WorkloadMaker {
 public:
  explicit WorkloadMaker(RandomSpecs& random) : random_(random) {}

  Workload make() {
    workload_.name = "w";
    workload_.n_instances = random_.pick(1, 3);
    const std::int64_t n_ranks = random_.pick(2, 5);
    for (std::int64_t i = 0; i < n_ranks; ++i)
      workload_.ranks.push_back({fmt::format("R{}", i), random_.pick(2, 9)});
    const std::int64_t n_einsums = random_.pick(1, 4);
    for (std::int64_t i = 0; i < n_einsums; ++i) add_einsum(i);
    return std::move(workload_);
  }

 private:
  RankVariableId variable(const std::string& name) {
    if (const auto known = find_rank_variable(workload_, name)) return *known;
    workload_.rank_variables.push_back({name});
    return RankVariableId(workload_.rank_variables.size() - 1);
  }

  TensorId new_tensor() {
    Tensor tensor;
    tensor.name = fmt::format("T{}", workload_.tensors.size());
    std::vector<std::size_t> order(workload_.ranks.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const std::int64_t n =
        random_.pick(1, std::min<std::int64_t>(3, static_cast<std::int64_t>(order.size())));
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at =
          static_cast<std::size_t>(random_.pick(0, static_cast<std::int64_t>(order.size()) - 1));
      tensor.ranks.push_back(RankId(order[at]));
      order.erase(order.begin() + static_cast<long>(at));
    }
    tensor.persistent = random_.chance(20);
    workload_.tensors.push_back(tensor);
    bits_.push_back(static_cast<double>(random_.any<std::int64_t>({4, 8, 8, 16})));
    return TensorId(workload_.tensors.size() - 1);
  }

  std::string walker(RankId rank) const { return fmt::format("r{}", rank.index()); }

  /// The rank's own variable, one of another rank plus an offset variable, or a number; always
  /// inside.
  AffineExpression index(RankId rank, bool plain) {
    const std::int64_t last = workload_[rank].size - 1;
    AffineExpression result;
    const std::int64_t kind = plain ? 0 : random_.pick(0, 5);
    const RankId other(static_cast<std::size_t>(
        random_.pick(0, static_cast<std::int64_t>(workload_.ranks.size()) - 1)));
    const std::int64_t other_last = workload_[other].size - 1;
    if (kind == 1) {
      result.constant = random_.pick(0, last);
    } else if (kind == 2 && other != rank && other_last <= last) {
      result.terms = {{variable(walker(other)), 1}};
      result.constant = last - other_last;
    } else if (kind == 3 && other != rank && other_last + offset_last_ <= last) {
      result.terms = {{variable(walker(other)), 1}, {variable("s"), 1}};
      std::sort(result.terms.begin(), result.terms.end(),
                [](const AffineTerm& a, const AffineTerm& b) { return a.variable < b.variable; });
    } else {
      result.terms = {{variable(walker(rank)), 1}};
    }
    return result;
  }

  TensorAccess access(TensorId tensor, bool is_output, double bits) {
    TensorAccess result;
    result.tensor = tensor;
    result.is_output = is_output;
    result.bits_per_value = bits;
    const std::vector<RankId> ranks = workload_[tensor].ranks;
    for (const RankId rank : ranks) result.projection.push_back(index(rank, is_output));
    return result;
  }

  void add_einsum(std::int64_t number) {
    Einsum einsum;
    offset_last_ = random_.pick(0, 2);
    const std::size_t n_before = workload_.tensors.size();
    const std::int64_t n_inputs = random_.pick(1, 3);
    std::vector<TensorId> used;
    for (std::int64_t i = 0; i < n_inputs; ++i) {
      const bool reuse = n_before > 0 && random_.chance(60);
      const TensorId tensor = reuse ? TensorId(static_cast<std::size_t>(
                                          random_.pick(0, static_cast<std::int64_t>(n_before) - 1)))
                                    : new_tensor();
      if (std::find(used.begin(), used.end(), tensor) != used.end()) continue;
      used.push_back(tensor);
      const bool own_bits = random_.chance(10);
      einsum.accesses.push_back(access(tensor, false, own_bits ? 5 : bits_[tensor.index()]));
    }
    const TensorId output = new_tensor();
    einsum.accesses.push_back(access(output, true, bits_[output.index()]));
    note_first_bits(einsum);
    einsum.name = random_.chance(50) ? workload_[output].name : fmt::format("E{}", number);
    einsum.n_instances = random_.chance(20) ? 2 : 1;
    einsum.is_copy_operation = random_.chance(10);
    add_ranges(einsum);
    add_expression(einsum);
    add_renames(einsum, used, output);
    workload_.einsums.push_back(std::move(einsum));
  }

  /// The width of a tensor is that of its first access, unless an Einsum has its own.
  void note_first_bits(const Einsum& einsum) {
    for (const TensorAccess& access : einsum.accesses)
      if (seen_.insert({access.tensor, true}).second)
        bits_[access.tensor.index()] = access.bits_per_value;
  }

  void add_ranges(Einsum& einsum) {
    for (const TensorAccess& access : einsum.accesses)
      for (const AffineExpression& expression : access.projection)
        for (const AffineTerm& term : expression.terms)
          if (!uses_variable(einsum, term.variable))
            einsum.iteration_space.push_back({term.variable, 0, size_of(term.variable)});
  }

  std::int64_t size_of(RankVariableId variable) const {
    const std::string& name = workload_[variable].name;
    if (name == "s") return offset_last_ + 1;
    for (std::size_t i = 0; i < workload_.ranks.size(); ++i)
      if (name == walker(RankId(i))) return workload_.ranks[i].size;
    return 1;
  }

  // --- right-hand sides -------------------------------------------------------------------------

  std::uint32_t push(Einsum& einsum, ScalarNode node) {
    einsum.expression.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(einsum.expression.nodes.size() - 1);
  }

  std::uint32_t push_access(Einsum& einsum, std::uint32_t index) {
    ScalarNode node;
    node.kind = ScalarNode::Kind::kAccess;
    node.access = index;
    return push(einsum, node);
  }

  std::uint32_t push_constant(Einsum& einsum) {
    ScalarNode node;
    node.constant = random_.chance(30) ? -random_.number() : random_.number();
    return push(einsum, node);
  }

  std::uint32_t push_operation(Einsum& einsum, OperationKind kind,
                               std::vector<std::uint32_t> operands) {
    ScalarNode node;
    node.kind = ScalarNode::Kind::kOperation;
    node.operation = kind;
    node.operands = std::move(operands);
    return push(einsum, node);
  }

  /// A chain over all inputs in order, with unary operations and constants strewn in.
  void add_expression(Einsum& einsum) {
    const auto n_inputs = static_cast<std::uint32_t>(einsum.accesses.size() - 1);
    std::uint32_t root = operand(einsum, 0);
    for (std::uint32_t i = 1; i < n_inputs; ++i) {
      const std::uint32_t right = operand(einsum, i);
      root = push_operation(einsum, binary_kind(), {root, right});
    }
    if (random_.chance(20)) {
      const std::uint32_t constant = push_constant(einsum);
      push_operation(einsum, binary_kind(), {root, constant});
    }
    bool reduces = false;
    for (const VariableRange& range : einsum.iteration_space)
      reduces = reduces || relevance(einsum.output(), range.variable) == Relevance::kIrrelevant;
    if (reduces)
      einsum.expression.reduction =
          random_.any<Reduction>({Reduction::kSum, Reduction::kSum, Reduction::kProduct,
                                  Reduction::kMin, Reduction::kMax});
  }

  OperationKind binary_kind() {
    return random_.any<OperationKind>({OperationKind::kAdd, OperationKind::kSub,
                                       OperationKind::kMul, OperationKind::kDiv,
                                       OperationKind::kMin, OperationKind::kMax});
  }

  std::uint32_t operand(Einsum& einsum, std::uint32_t access) {
    std::uint32_t node = push_access(einsum, access);
    for (int i = 0; i < 2; ++i)
      if (random_.chance(25))
        node = push_operation(
            einsum,
            random_.any<OperationKind>({OperationKind::kNeg, OperationKind::kExp,
                                        OperationKind::kSquare, OperationKind::kErf}),
            {node});
    return node;
  }

  void add_renames(Einsum& einsum, std::vector<TensorId> inputs, TensorId output) {
    if (!random_.chance(50)) return;
    std::sort(inputs.begin(), inputs.end());
    einsum.renames = {{"input", inputs}, {"output", {output}}, {"weight", {}}};
  }

  RandomSpecs& random_;
  Workload workload_;
  std::vector<double> bits_;  ///< by TensorId
  std::map<TensorId, bool> seen_;
  std::int64_t offset_last_ = 0;
};

}  // namespace

Workload RandomSpecs::workload() { return WorkloadMaker(*this).make(); }

}  // namespace sluice::testing
