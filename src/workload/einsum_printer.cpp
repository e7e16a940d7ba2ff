#include "workload/einsum_printer.h"

#include <fmt/format.h>

#include <cmath>

#include "sluice/support/error.h"

namespace sluice {
namespace {

// Binding strengths of the right-hand side's operators.
constexpr int kSumStrength = 0;
constexpr int kProductStrength = 1;
constexpr int kSignStrength = 2;
constexpr int kPrimaryStrength = 3;

std::string print_index(const Workload& workload, const AffineExpression& index) {
  std::string text;
  for (const AffineTerm& term : index.terms) {
    const std::string& name = workload[term.variable].name;
    if (term.coefficient < 0)
      text += "-";
    else if (!text.empty())
      text += "+";
    const std::int64_t magnitude = std::abs(term.coefficient);
    text += magnitude == 1 ? name : fmt::format("{}*{}", magnitude, name);
  }
  if (text.empty()) return std::to_string(index.constant);
  return index.constant == 0 ? text : text + fmt::format("{:+}", index.constant);
}

std::string print_access(const Workload& workload, const TensorAccess& access) {
  const Tensor& tensor = workload[access.tensor];
  std::string axes;
  for (std::size_t i = 0; i < access.projection.size(); ++i) {
    if (i > 0) axes += ",";
    const AffineExpression& index = access.projection[i];
    const std::string& rank = workload[tensor.ranks[i]].name;
    const bool bare =
        index.is_plain_variable() && rank == rank_walked_by(workload[index.terms[0].variable].name);
    axes += bare ? print_index(workload, index)
                 : fmt::format("{}:{}", rank, print_index(workload, index));
  }
  return fmt::format("{}[{}]", tensor.name, axes);
}

class RightHandSide {
 public:
  RightHandSide(const Workload& workload, const Einsum& einsum)
      : workload_(workload), einsum_(einsum) {}

  std::string text() const {
    SLUICE_CHECK(!einsum_.expression.nodes.empty(), "an Einsum without an expression");
    const auto root = static_cast<std::uint32_t>(einsum_.expression.nodes.size() - 1);
    const std::string inner = print(root);
    switch (einsum_.expression.reduction) {
      case Reduction::kNone:
        return inner;
      case Reduction::kSum:
        return is_product(root) ? inner : "sum(" + inner + ")";
      case Reduction::kProduct:
        return "prod(" + inner + ")";
      case Reduction::kMin:
        return "min(" + inner + ")";
      case Reduction::kMax:
        return "max(" + inner + ")";
    }
    return inner;
  }

 private:
  const ScalarNode& node(std::uint32_t index) const { return einsum_.expression.nodes[index]; }

  bool is_product(std::uint32_t index) const {
    return node(index).kind == ScalarNode::Kind::kOperation &&
           node(index).operation == OperationKind::kMul;
  }

  int strength(std::uint32_t index) const {
    const ScalarNode& n = node(index);
    if (n.kind == ScalarNode::Kind::kConstant)
      return std::signbit(n.constant) ? kSignStrength : kPrimaryStrength;
    if (n.kind == ScalarNode::Kind::kAccess) return kPrimaryStrength;
    switch (n.operation) {
      case OperationKind::kAdd:
      case OperationKind::kSub:
        return kSumStrength;
      case OperationKind::kMul:
      case OperationKind::kDiv:
        return kProductStrength;
      case OperationKind::kNeg:
        return kSignStrength;
      default:
        return kPrimaryStrength;
    }
  }

  std::string at_least(int wanted, std::uint32_t index) const {
    const std::string inner = print(index);
    return strength(index) < wanted ? "(" + inner + ")" : inner;
  }

  std::string print(std::uint32_t index) const {
    const ScalarNode& n = node(index);
    if (n.kind == ScalarNode::Kind::kConstant) return fmt::format("{}", n.constant);
    if (n.kind == ScalarNode::Kind::kAccess)
      return print_access(workload_, einsum_.accesses[n.access]);
    switch (n.operation) {
      case OperationKind::kAdd:
        return infix(n, "+", kSumStrength);
      case OperationKind::kSub:
        return infix(n, "-", kSumStrength);
      case OperationKind::kMul:
        return infix(n, "*", kProductStrength);
      case OperationKind::kDiv:
        return infix(n, "/", kProductStrength);
      case OperationKind::kNeg:
        return "-" + at_least(kSignStrength, n.operands[0]);
      default:
        return call(n);
    }
  }

  std::string infix(const ScalarNode& n, const char* symbol, int own) const {
    return fmt::format("{} {} {}", at_least(own, n.operands[0]), symbol,
                       at_least(own + 1, n.operands[1]));
  }

  std::string call(const ScalarNode& n) const {
    std::string arguments;
    for (const std::uint32_t operand : n.operands)
      arguments += (arguments.empty() ? "" : ", ") + print(operand);
    return fmt::format("{}({})", operation_name(n.operation), arguments);
  }

  const Workload& workload_;
  const Einsum& einsum_;
};

}  // namespace

std::string rank_walked_by(const std::string& variable) {
  std::string rank = variable;
  for (char& c : rank)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return rank;
}

std::string print_einsum(const Workload& workload, const Einsum& einsum) {
  return fmt::format("{} = {}", print_access(workload, einsum.output()),
                     RightHandSide(workload, einsum).text());
}

}  // namespace sluice
