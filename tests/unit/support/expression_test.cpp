#include "sluice/support/expression.h"

#include <gtest/gtest.h>

#include <map>

namespace sluice {
namespace {

/// A universe of three tensors, weight = W, and two actions of 4 and 6 calls at 2 and 3 a second.
ExpressionScope scope() {
  static const std::map<std::string, ExpressionValue> names = {
      {"All", NameSet{7}}, {"Nothing", NameSet{0}}, {"Q", NameSet{1}},
      {"K", NameSet{2}},   {"W", NameSet{4}},       {"weight", NameSet{4}},
      {"BATCH", 64.0},     {"yes", true},           {"weight.bits_per_value", 8.0}};
  ExpressionScope scope;
  scope.universe = NameSet{7};
  scope.lookup = [](const std::string& name) -> std::optional<ExpressionValue> {
    const auto found = names.find(name);
    return found == names.end() ? std::nullopt : std::optional(found->second);
  };
  scope.n_actions = 2;
  scope.action_field = [](std::size_t action, const std::string& field) -> std::optional<double> {
    if (field == "n_calls") return action == 0 ? 4 : 6;
    if (field == "throughput") return action == 0 ? 2 : 3;
    return std::nullopt;
  };
  scope.literal_element = [](const std::string& name) -> std::optional<NameSet> {
    if (name == "mul_add") return NameSet{1};
    if (name == "add") return NameSet{2};
    return std::nullopt;
  };
  return scope;
}

ExpressionValue value_of(const std::string& text) {
  const auto expression = Expression::parse(text);
  if (!expression) {
    ADD_FAILURE() << text << ": " << expression.error().message;
    return 0.0;
  }
  const auto value = expression->evaluate(scope());
  if (!value) {
    ADD_FAILURE() << text << ": " << value.error().message;
    return 0.0;
  }
  return *value;
}

double number(const std::string& text) { return std::get<double>(value_of(text)); }
bool truth(const std::string& text) { return std::get<bool>(value_of(text)); }
std::uint64_t set(const std::string& text) { return std::get<NameSet>(value_of(text)).bits; }

ExpressionError mistake(const std::string& text) {
  const auto expression = Expression::parse(text);
  if (!expression) return expression.error();
  const auto value = expression->evaluate(scope());
  if (!value) return value.error();
  ADD_FAILURE() << text << " has a value";
  return {};
}

TEST(Expression, FollowsThePrecedenceOfPython) {
  EXPECT_EQ(number("2 + 3 * 4"), 14);
  EXPECT_EQ(number("-2 ** 2"), -4);
  EXPECT_EQ(number("2 ** 3 ** 2"), 512);
  EXPECT_EQ(number("7 // 2 + -7 // 2"), 3 - 4);
  EXPECT_EQ(number("-7 % 4"), 1);
  EXPECT_EQ(number("10 - 3 - 2"), 5);
  EXPECT_TRUE(truth("not 1 == 2 and yes"));
  EXPECT_TRUE(truth("1 < 2 <= 2 != 3"));
}

TEST(Expression, HasTheFunctionsOfTheSpecs) {
  EXPECT_EQ(number("max(3, BATCH, 5) + min(2, 1)"), 65);
  EXPECT_EQ(number("ceil(2.1) + floor(2.9) + abs(-1)"), 6);
  EXPECT_EQ(number("log2(8) + sqrt(16)"), 7);
  EXPECT_EQ(number("1 if len(All) == 3 else 0"), 1);
}

TEST(Expression, ComputesWithSets) {
  EXPECT_EQ(set("~weight"), 3U);
  EXPECT_EQ(set("Q | K & ~K"), 1U);
  EXPECT_EQ(set("All - Q"), 6U);
  EXPECT_EQ(set("Q if len(All) == 2 else K"), 2U);
  EXPECT_TRUE(truth("Q | K <= All"));
  EXPECT_TRUE(truth("{mul_add} <= {add, mul_add}"));
  EXPECT_FALSE(truth("{mul_add} == {add, mul_add}"));
  EXPECT_EQ(set("weight.tensors"), 4U);
}

TEST(Expression, TakesASetForTrueUnlessItIsEmpty) {
  EXPECT_EQ(number("weight.bits_per_value if weight else 0"), 8);
  EXPECT_EQ(number("1 if weight & Q else 0"), 0);
}

TEST(Expression, RunsOverTheActionsOfAComponent) {
  EXPECT_EQ(number("max(a.n_calls / a.throughput for a in actions)"), 2);
  EXPECT_EQ(number("sum(x.n_calls for x in actions) / 5"), 2);
  EXPECT_EQ(number("min(a.n_calls for a in actions)"), 4);
}

TEST(Expression, KnowsUnitsAndRoundsThemOnce) {
  EXPECT_EQ(number("7.03 pJ"), 7.03e-12);
  EXPECT_EQ(number("128 MiB"), 128.0 * 1024 * 1024 * 8);
  EXPECT_EQ(number("614 GB/s"), 614e9 * 8);
  EXPECT_EQ(number("1.05 GHz"), 1.05e9);
  EXPECT_EQ(number("624 KB"), 624000.0 * 8);
  EXPECT_EQ(number("2.5 mm2"), 2.5e-6);
  EXPECT_EQ(number("3 * weight.bits_per_value"), 24);
  EXPECT_EQ(number("inf"), std::numeric_limits<double>::infinity());
}

TEST(Expression, HasADimensionWhereUnitsAreWritten) {
  const auto dimension = [](const char* text) { return *Expression::parse(text)->dimension(); };
  EXPECT_EQ(dimension("7 pJ/bit"), (Dimension{.joule = 1, .bit = -1}));
  EXPECT_EQ(dimension("2 * 3 ns / 1 ns"), Dimension{});
  EXPECT_EQ(dimension("2 * 3"), std::nullopt);
  EXPECT_EQ(to_string(*dimension("64 bit/cycle")), "bit/cycle");
  EXPECT_FALSE(Expression::parse("3 ns + 4 J")->dimension());
}

TEST(Expression, TurnsCyclesIntoSeconds) {
  EXPECT_EQ(Expression::parse("12 cycles")->with_clock(2e9).constant(), 6e-9);
  EXPECT_EQ(Expression::parse("64 bit/cycle")->with_clock(2e9).constant(), 128e9);
}

TEST(Expression, PointsAtTheOffendingText) {
  EXPECT_EQ(mistake("3 + foo").offset, 4U);
  EXPECT_EQ(mistake("3 + foo").message, "unknown name 'foo'");
  EXPECT_EQ(mistake("Q + 1").message, "'Q' is a set, but a number is needed here");
  EXPECT_EQ(mistake("1 | Q").offset, 0U);
  EXPECT_EQ(mistake("(1 + 2").message, "')' is missing at the end of the expression");
  EXPECT_EQ(mistake("4 MiBs").offset, 2U);
  EXPECT_EQ(mistake("inf - inf").message, "'inf - inf' has no value (NaN)");
  EXPECT_EQ(mistake("sqr(4)").hint, "did you mean 'sqrt'?");
}

TEST(Expression, BindsVariablesAndFoldsConstants) {
  const auto lookup = [](const std::string& name) -> std::optional<ExpressionValue> {
    return name == "N" ? std::optional<ExpressionValue>(4.0) : std::nullopt;
  };
  EXPECT_EQ(Expression::parse("N * 2 + M")->bind(lookup).to_string(), "8 + M");
  EXPECT_EQ(Expression::parse("N * 2 + 1")->bind(lookup).constant(), 9);
  EXPECT_EQ(Expression::parse("a + b.c + a")->names(), (std::vector<std::string>{"a", "b.c"}));
}

TEST(Expression, SubstitutesVariablesWithTheirUnits) {
  const auto bound = Expression::parse("2 * E")->substitute(
      [](const std::string&) { return std::optional(*Expression::parse("3 pJ/bit")); });
  EXPECT_EQ(bound.constant(), 6e-12);
  EXPECT_EQ(*bound.dimension(), (Dimension{.joule = 1, .bit = -1}));
}

TEST(Expression, IsAMaximumOfLinearFormsWhereItIsOne) {
  using Rows = std::vector<std::vector<double>>;
  const auto rows = [](const char* text) {
    return Expression::parse(text)->as_max_of_linear(scope());
  };
  EXPECT_EQ(rows("max(a.n_calls / a.throughput for a in actions)"), (Rows{{0.5, 0}, {0, 1.0 / 3}}));
  EXPECT_EQ(rows("sum(a.n_calls for a in actions) / 32 / 2"), (Rows{{1.0 / 64, 1.0 / 64}}));
  EXPECT_EQ(rows("max(2 * sum(a.n_calls for a in actions), 0)"), (Rows{{2, 2}, {0, 0}}));
  EXPECT_EQ(rows("min(a.n_calls for a in actions)"), std::nullopt);
  EXPECT_EQ(rows("sum(a.n_calls for a in actions) + 1"), std::nullopt);
  EXPECT_EQ(rows("-max(a.n_calls for a in actions)"), std::nullopt);
}

}  // namespace
}  // namespace sluice
