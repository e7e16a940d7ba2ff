#include "frontend/notation/einsum_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "frontend/yaml/read_context.h"

namespace sluice {
namespace {

constexpr int kDeepestNesting = 100;
constexpr std::size_t kMostNodes = 4096;

/// A right-hand side while it is being read; constants are folded as they appear.
struct Tree {
  ScalarNode node;
  std::vector<Tree> operands;
};

Tree constant_tree(double value) {
  Tree tree;
  tree.node.kind = ScalarNode::Kind::kConstant;
  tree.node.constant = value;
  return tree;
}

bool is_constant(const Tree& tree) { return tree.node.kind == ScalarNode::Kind::kConstant; }

std::optional<double> fold(OperationKind kind, const std::vector<Tree>& operands) {
  const double a = operands[0].node.constant;
  const double b = operands.size() > 1 ? operands[1].node.constant : 0;
  switch (kind) {
    case OperationKind::kAdd:
      return a + b;
    case OperationKind::kSub:
      return a - b;
    case OperationKind::kMul:
      return a * b;
    case OperationKind::kDiv:
      return a / b;
    case OperationKind::kMin:
      return std::min(a, b);
    case OperationKind::kMax:
      return std::max(a, b);
    case OperationKind::kNeg:
      return -a;
    case OperationKind::kAbs:
      return std::abs(a);
    case OperationKind::kExp:
      return std::exp(a);
    case OperationKind::kLog:
      return std::log(a);
    case OperationKind::kSqrt:
      return std::sqrt(a);
    case OperationKind::kRsqrt:
      return 1 / std::sqrt(a);
    case OperationKind::kSquare:
      return a * a;
    default:
      return std::nullopt;
  }
}

AxisText read_axis(TextCursor& cursor, const ConstantLookup& constants) {
  AxisText result;
  TextCursor ahead = cursor;
  const std::string name(ahead.word());
  if (!name.empty() && ahead.accept(":")) {
    result.rank = name;
    cursor = ahead;
  }
  result.index = parse_index(cursor, constants);
  return result;
}

class EinsumParser {
 public:
  EinsumParser(std::string_view text, const ConstantLookup& constants)
      : cursor_(text), constants_(constants) {}

  EinsumText run() {
    einsum_.output = access();
    cursor_.expect("=");
    Tree root = whole_expression();
    if (!cursor_.at_end())
      cursor_.fail(fmt::format("unexpected {} in an Einsum", cursor_.upcoming()));
    if (einsum_.inputs.empty())
      TextCursor::fail_at(einsum_.output.offset, "an Einsum reads at least one tensor");
    flatten(root);
    return std::move(einsum_);
  }

 private:
  AccessText access() {
    AccessText result;
    result.offset = cursor_.offset();
    result.tensor = std::string(cursor_.word());
    if (result.tensor.empty())
      cursor_.fail(fmt::format("a tensor is expected before {}", cursor_.upcoming()));
    if (!cursor_.accept("["))
      cursor_.fail(fmt::format("'[' expected before {}; without ranks a tensor is written '{}[]'",
                               cursor_.upcoming(), result.tensor));
    axes(result);
    return result;
  }

  void axes(AccessText& result) {
    if (cursor_.accept("]")) return;
    do {
      result.axes.push_back(read_axis(cursor_, constants_));
    } while (cursor_.accept(","));
    cursor_.expect("]");
  }

  /// Only here may `max(x)` be a reduction.
  Tree whole_expression() {
    TextCursor ahead = cursor_;
    const std::string name(ahead.word());
    const auto reduction = reduction_from_name(name);
    if (reduction && ahead.accept("(")) {
      const TextCursor before = cursor_;
      const std::vector<AccessText> inputs_before = einsum_.inputs;
      cursor_ = ahead;
      Tree argument = sum();
      if (cursor_.accept(")") && cursor_.at_end()) {
        einsum_.expression.reduction = *reduction;
        return argument;
      }
      cursor_ = before;  // it was `max(a, b)`, or only the first part of a larger expression
      einsum_.inputs = inputs_before;
    }
    return sum();
  }

  static std::optional<Reduction> reduction_from_name(const std::string& name) {
    if (name == "sum") return Reduction::kSum;
    if (name == "prod") return Reduction::kProduct;
    if (name == "min") return Reduction::kMin;
    if (name == "max") return Reduction::kMax;
    return std::nullopt;
  }

  Tree apply(OperationKind kind, std::vector<Tree> operands) {
    if (++n_nodes_ > kMostNodes) cursor_.fail("the right-hand side is too long");
    if (std::all_of(operands.begin(), operands.end(), is_constant))
      if (const auto value = fold(kind, operands); value && !std::isnan(*value))
        return constant_tree(*value);
    Tree tree;
    tree.node.kind = ScalarNode::Kind::kOperation;
    tree.node.operation = kind;
    tree.operands = std::move(operands);
    return tree;
  }

  Tree binary(OperationKind kind, Tree left, Tree right) {
    std::vector<Tree> operands;
    operands.push_back(std::move(left));
    operands.push_back(std::move(right));
    return apply(kind, std::move(operands));
  }

  Tree sum() {
    if (++depth_ > kDeepestNesting) cursor_.fail("the right-hand side is nested too deeply");
    Tree left = product();
    while (true) {
      if (cursor_.accept("+"))
        left = binary(OperationKind::kAdd, std::move(left), product());
      else if (cursor_.accept("-"))
        left = binary(OperationKind::kSub, std::move(left), product());
      else
        break;
    }
    --depth_;
    return left;
  }

  Tree product() {
    Tree left = factor();
    while (true) {
      if (cursor_.accept("*"))
        left = binary(OperationKind::kMul, std::move(left), factor());
      else if (cursor_.accept("/"))
        left = binary(OperationKind::kDiv, std::move(left), factor());
      else
        return left;
    }
  }

  Tree factor() {
    int n_signs = 0;
    while (cursor_.accept("-"))
      if (++n_signs > kDeepestNesting) cursor_.fail("too many signs");
    Tree result = primary();
    for (; n_signs > 0; --n_signs) {
      std::vector<Tree> operand;
      operand.push_back(std::move(result));
      result = apply(OperationKind::kNeg, std::move(operand));
    }
    return result;
  }

  Tree primary() {
    if (cursor_.accept("(")) {
      Tree inner = sum();
      cursor_.expect(")");
      return inner;
    }
    if (const auto number = cursor_.number()) return constant_tree(*number);
    TextCursor ahead = cursor_;
    const std::string name(ahead.word());
    if (name.empty())
      cursor_.fail(fmt::format("a tensor or number is expected before {}", cursor_.upcoming()));
    if (ahead.peek() == '[') return read(access());
    if (ahead.accept("(")) {
      const std::size_t offset = cursor_.offset();
      cursor_ = ahead;
      return call(name, offset);
    }
    return named_constant(name, ahead);
  }

  Tree named_constant(const std::string& name, const TextCursor& behind) {
    if (name == "inf") {
      cursor_ = behind;
      return constant_tree(std::numeric_limits<double>::infinity());
    }
    const auto value = constants_ ? constants_(name) : std::nullopt;
    if (!value)
      cursor_.fail(
          fmt::format("'{}' is neither a tensor with indices nor a variable of the spec", name),
          fmt::format("a tensor without ranks is written '{}[]'", name));
    cursor_ = behind;
    return constant_tree(*value);
  }

  Tree read(const AccessText& input) {
    const auto known = std::find(einsum_.inputs.begin(), einsum_.inputs.end(), input);
    Tree tree;
    tree.node.kind = ScalarNode::Kind::kAccess;
    tree.node.access = static_cast<std::uint32_t>(known - einsum_.inputs.begin());
    if (known == einsum_.inputs.end()) einsum_.inputs.push_back(input);
    if (++n_nodes_ > kMostNodes) cursor_.fail("the right-hand side is too long");
    return tree;
  }

  Tree call(const std::string& name, std::size_t offset) {
    std::vector<Tree> arguments;
    do {
      arguments.push_back(sum());
    } while (cursor_.accept(","));
    cursor_.expect(")");
    const auto kind = operation_from_name(name);
    const int arity = kind ? operation_arity(*kind) : 0;
    if (arity != 0 && static_cast<std::size_t>(arity) == arguments.size())
      return apply(*kind, std::move(arguments));
    fail_call(name, offset, arity, arguments.size());
  }

  [[noreturn]] static void fail_call(const std::string& name, std::size_t offset, int arity,
                                     std::size_t n_arguments) {
    if (reduction_from_name(name) && n_arguments == 1)
      TextCursor::fail_at(
          offset, fmt::format("the reduction '{}' must be the whole right-hand side", name),
          "give what is reduced, or what is done with the result, an Einsum of its own");
    if (arity != 0)
      TextCursor::fail_at(offset, fmt::format("'{}' takes {} argument{}, not {}", name, arity,
                                              arity == 1 ? "" : "s", n_arguments));
    std::vector<std::string> names = {"sum", "prod"};
    for (int i = 0; i < kOperationKindCount; ++i)
      if (operation_arity(static_cast<OperationKind>(i)) > 0)
        names.emplace_back(operation_name(static_cast<OperationKind>(i)));
    TextCursor::fail_at(
        offset, fmt::format("unknown function '{}'", name),
        did_you_mean(name, names, fmt::format("functions are {}", fmt::join(names, ", "))));
  }

  /// Operands before operations, the root last.
  std::uint32_t flatten(const Tree& tree) {
    ScalarNode node = tree.node;
    for (const Tree& operand : tree.operands) node.operands.push_back(flatten(operand));
    einsum_.expression.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(einsum_.expression.nodes.size() - 1);
  }

  TextCursor cursor_;
  const ConstantLookup& constants_;
  EinsumText einsum_;
  int depth_ = 0;
  std::size_t n_nodes_ = 0;
};

}  // namespace

EinsumText parse_einsum(std::string_view text, const ConstantLookup& constants) {
  return EinsumParser(text, constants).run();
}

AxisText parse_axis(std::string_view text, const ConstantLookup& constants) {
  TextCursor cursor(text);
  AxisText axis = read_axis(cursor, constants);
  if (!cursor.at_end()) cursor.fail(fmt::format("unexpected {} in an index", cursor.upcoming()));
  return axis;
}

ScalarExpression product_of_accesses(const std::vector<std::uint32_t>& factors) {
  ScalarExpression expression;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    ScalarNode access;
    access.kind = ScalarNode::Kind::kAccess;
    access.access = factors[i];
    expression.nodes.push_back(access);
    if (i == 0) continue;
    ScalarNode product;
    product.kind = ScalarNode::Kind::kOperation;
    product.operation = OperationKind::kMul;
    product.operands = {static_cast<std::uint32_t>(expression.nodes.size()) - 2,
                        static_cast<std::uint32_t>(expression.nodes.size()) - 1};
    expression.nodes.push_back(product);
  }
  return expression;
}

}  // namespace sluice
