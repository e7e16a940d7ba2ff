#include <fmt/format.h>

#include <algorithm>

#include "sluice/support/diagnostic.h"
#include "support/expression_lexer.h"
#include "support/expression_tree.h"

namespace sluice {
namespace {

constexpr std::size_t kLongestExpression = 16384;

/// Recursive descent with Python's precedence: `if else`, or, and, not, comparison, |, &, + -,
/// * / // %, unary - + ~, **. A mistake is thrown inside and returned by parse_expression.
class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  ExpressionPointer run() {
    ExpressionPointer root = conditional();
    if (peek().kind != TokenKind::kEnd)
      fail(fmt::format("unexpected '{}' in an expression", peek().text));
    return root;
  }

 private:
  using Level = ExpressionPointer (Parser::*)();
  struct Depth {
    explicit Depth(Parser& owner) : parser(owner) {
      if (++owner.depth_ > kLargestExpressionHeight)
        owner.fail("the expression is nested too deeply");
    }
    ~Depth() { --parser.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    Parser& parser;
  };

  const Token& peek() const { return tokens_[at_]; }
  bool is(std::string_view text) const {
    return peek().kind != TokenKind::kNumber && peek().kind != TokenKind::kEnd &&
           peek().text == text;
  }
  bool accept(std::string_view text) {
    if (!is(text)) return false;
    ++at_;
    return true;
  }
  [[noreturn]] void fail(std::string message, std::string hint = {}) const {
    throw ExpressionError{std::move(message), peek().offset, std::move(hint)};
  }
  void expect(std::string_view text) {
    if (accept(text)) return;
    if (peek().kind == TokenKind::kEnd)
      fail(fmt::format("'{}' is missing at the end of the expression", text));
    fail(fmt::format("'{}' expected before '{}'", text, peek().text));
  }
  ExpressionPointer make(ExpressionNode::Kind kind, std::size_t offset) const {
    ExpressionPointer node = make_expression_node(std::move(kind), offset);
    if (node->height > kLargestExpressionHeight) fail("the expression is nested too deeply");
    return node;
  }

  ExpressionPointer conditional() {
    const Depth depth(*this);
    ExpressionPointer value = disjunction();
    const std::size_t offset = peek().offset;
    if (!accept("if")) return value;
    ExpressionPointer condition = disjunction();
    expect("else");
    ExpressionPointer otherwise = conditional();
    return make(Conditional{value, condition, otherwise}, offset);
  }

  struct Operation {
    std::string_view text;
    BinaryOperator op;
  };

  ExpressionPointer left_associative(std::initializer_list<Operation> operations, Level operand) {
    ExpressionPointer left = (this->*operand)();
    while (true) {
      const auto found = std::find_if(operations.begin(), operations.end(),
                                      [this](const Operation& o) { return is(o.text); });
      if (found == operations.end()) return left;
      const std::size_t offset = peek().offset;
      ++at_;
      ExpressionPointer right = (this->*operand)();
      left = make(Binary{found->op, left, right}, offset);
    }
  }

  ExpressionPointer disjunction() {
    return left_associative({{"or", BinaryOperator::kOr}}, &Parser::conjunction);
  }
  ExpressionPointer conjunction() {
    return left_associative({{"and", BinaryOperator::kAnd}}, &Parser::negation);
  }
  ExpressionPointer negation() {
    const std::size_t offset = peek().offset;
    const Depth depth(*this);
    if (accept("not")) return make(Unary{UnaryOperator::kNot, negation()}, offset);
    return comparison();
  }

  std::optional<ComparisonOperator> accept_comparison() {
    if (accept("<=")) return ComparisonOperator::kLessEqual;
    if (accept(">=")) return ComparisonOperator::kGreaterEqual;
    if (accept("==")) return ComparisonOperator::kEqual;
    if (accept("!=")) return ComparisonOperator::kNotEqual;
    if (accept("<")) return ComparisonOperator::kLess;
    if (accept(">")) return ComparisonOperator::kGreater;
    return std::nullopt;
  }

  ExpressionPointer comparison() {
    Comparison chain;
    chain.operands.push_back(set_union());
    const std::size_t offset = peek().offset;
    while (const auto op = accept_comparison()) {
      chain.operators.push_back(*op);
      chain.operands.push_back(set_union());
    }
    if (chain.operators.empty()) return chain.operands[0];
    return make(std::move(chain), offset);
  }

  ExpressionPointer set_union() {
    return left_associative({{"|", BinaryOperator::kUnion}}, &Parser::intersection);
  }
  ExpressionPointer intersection() {
    return left_associative({{"&", BinaryOperator::kIntersection}}, &Parser::sum);
  }
  ExpressionPointer sum() {
    return left_associative({{"+", BinaryOperator::kAdd}, {"-", BinaryOperator::kSubtract}},
                            &Parser::product);
  }
  ExpressionPointer product() {
    return left_associative({{"*", BinaryOperator::kMultiply},
                             {"/", BinaryOperator::kDivide},
                             {"//", BinaryOperator::kFloorDivide},
                             {"%", BinaryOperator::kModulo}},
                            &Parser::unary);
  }

  ExpressionPointer unary() {
    const std::size_t offset = peek().offset;
    const Depth depth(*this);
    if (accept("-")) return make(Unary{UnaryOperator::kNegate, unary()}, offset);
    if (accept("+")) return make(Unary{UnaryOperator::kPlus, unary()}, offset);
    if (accept("~")) return make(Unary{UnaryOperator::kComplement, unary()}, offset);
    return power();
  }

  ExpressionPointer power() {
    ExpressionPointer base = primary();
    const std::size_t offset = peek().offset;
    if (!accept("**")) return base;
    return make(Binary{BinaryOperator::kPower, base, unary()}, offset);
  }

  ExpressionPointer primary() {
    const Token token = peek();
    if (token.kind == TokenKind::kEnd) fail("the expression ends too early");
    if (token.kind == TokenKind::kNumber) {
      ++at_;
      return make(token.number, token.offset);
    }
    if (accept("(")) {
      ExpressionPointer inner = conditional();
      expect(")");
      return inner;
    }
    if (is("{")) return set_literal();
    if (token.kind == TokenKind::kName) return named();
    fail(fmt::format("unexpected '{}' in an expression", token.text));
  }

  ExpressionPointer named() {
    const Token token = peek();
    if (token.text == "true" || token.text == "True" || token.text == "false" ||
        token.text == "False") {
      ++at_;
      return make(BoolLiteral{token.text == "true" || token.text == "True"}, token.offset);
    }
    if (is_expression_keyword(token.text))
      fail(fmt::format("unexpected '{}' in an expression", token.text));
    ++at_;
    if (is("(")) return call(token);
    return make(NameReference{std::string(token.text)}, token.offset);
  }

  ExpressionPointer set_literal() {
    const std::size_t offset = peek().offset;
    expect("{");
    SetLiteral literal;
    while (!accept("}")) {
      if (!literal.names.empty()) expect(",");
      if (peek().kind != TokenKind::kName) fail("a set literal lists names, as in {mul_add, add}");
      literal.names.emplace_back(peek().text);
      ++at_;
    }
    return make(std::move(literal), offset);
  }

  ExpressionPointer call(const Token& name) {
    const auto function = function_from_name(name.text);
    if (!function) {
      --at_;
      const std::string near =
          nearest_name(std::string(name.text),
                       {"len", "min", "max", "sum", "ceil", "floor", "log2", "sqrt", "abs"});
      fail(fmt::format("unknown function '{}'", name.text),
           near.empty() ? "functions are len, min, max, sum, ceil, floor, log2, sqrt and abs"
                        : fmt::format("did you mean '{}'?", near));
    }
    expect("(");
    std::vector<ExpressionPointer> arguments = {conditional()};
    if (accept("for")) return reduction(name, *function, arguments[0]);
    while (accept(",")) arguments.push_back(conditional());
    expect(")");
    check_arity(name, *function, arguments.size());
    return make(Call{*function, std::move(arguments)}, name.offset);
  }

  void check_arity(const Token& name, Function function, std::size_t n_arguments) const {
    if (function == Function::kSum)
      throw ExpressionError{"'sum' runs over the actions of a component", name.offset,
                            "sum(a.n_calls for a in actions)"};
    const bool any_number = function == Function::kMin || function == Function::kMax;
    if (any_number ? n_arguments >= 2 : n_arguments == 1) return;
    throw ExpressionError{
        fmt::format("'{}' takes {} argument{}, not {}", name.text,
                    any_number ? "at least two" : "one", any_number ? "s" : "", n_arguments),
        name.offset,
        {}};
  }

  ExpressionPointer reduction(const Token& name, Function function, const ExpressionPointer& body) {
    if (function != Function::kMin && function != Function::kMax && function != Function::kSum)
      fail(fmt::format("'{}' cannot run over the actions; min, max and sum can", name.text));
    if (peek().kind != TokenKind::kName || is_expression_keyword(peek().text))
      fail("a name is expected after 'for'");
    const std::string variable(peek().text);
    ++at_;
    expect("in");
    if (!accept("actions")) fail("reductions run over 'actions'");
    expect(")");
    return make(ActionReduction{function, bind_variable(body, variable)}, name.offset);
  }

  /// Turns `a.n_calls` into the field of the action that `a` runs over.
  ExpressionPointer bind_variable(const ExpressionPointer& node,
                                  const std::string& variable) const {
    if (const auto* reference = std::get_if<NameReference>(&node->kind)) {
      const std::string& name = reference->name;
      if (name == variable)
        throw ExpressionError{fmt::format("'{}' is an action, not a number", name), node->offset,
                              fmt::format("name a field of it, such as '{}.n_calls'", name)};
      if (name.starts_with(variable + "."))
        return make(ActionField{name.substr(variable.size() + 1)}, node->offset);
      return node;
    }
    return make(with_children(
                    node->kind,
                    [&](const ExpressionPointer& child) { return bind_variable(child, variable); }),
                node->offset);
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

ExpressionPointer make_expression_node(ExpressionNode::Kind kind, std::size_t offset) {
  auto node = std::make_shared<ExpressionNode>();
  node->kind = std::move(kind);
  node->offset = offset;
  for_each_child(*node, [&](const ExpressionNode& child) {
    node->height = std::max(node->height, child.height + 1);
  });
  return node;
}

tl::expected<ExpressionPointer, ExpressionError> parse_expression(std::string_view text) {
  if (text.size() > kLongestExpression)
    return tl::unexpected(ExpressionError{
        fmt::format("an expression of {} characters is too long", text.size()), 0, {}});
  auto tokens = lex_expression(text);
  if (!tokens) return tl::unexpected(tokens.error());
  try {
    return Parser(std::move(*tokens)).run();
  } catch (const ExpressionError& error) {
    return tl::unexpected(error);
  }
}

}  // namespace sluice
