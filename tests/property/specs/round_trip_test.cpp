#include <gtest/gtest.h>

#include "property/specs/random_specs.h"
#include "sluice/frontend/load.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

/// The specs that a text says, or a failure that shows why it says none.
Specs parsed(const std::string& text) {
  auto specs = load_specs_from_text({{"printed.yaml", text}}, {});
  if (specs) return *specs;
  for (const Diagnostic& diagnostic : specs.error()) ADD_FAILURE() << to_string(diagnostic);
  ADD_FAILURE() << text;
  return {};
}

/// Runs `check(random, seed)` for every case and stops at the first that fails.
template <class Check>
void for_random_cases(std::int64_t count, Check check) {
  const testing::RandomCases cases = testing::random_cases(count);
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    testing::RandomSpecs random(seed);
    check(random);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(RoundTrip, PrintedWorkloadsParseToTheSameValue) {
  for_random_cases(500, [](testing::RandomSpecs& random) {
    const Workload workload = random.workload();
    const std::string text = to_yaml(workload);
    const Specs specs = parsed(text);
    ASSERT_TRUE(specs.workload);
    EXPECT_TRUE(*specs.workload == workload) << text << "\nread back as\n"
                                             << to_yaml(*specs.workload);
  });
}

TEST(RoundTrip, PrintedArchitecturesParseToTheSameValue) {
  for_random_cases(500, [](testing::RandomSpecs& random) {
    const Arch arch = random.arch();
    const std::string text = to_yaml(arch);
    const Specs specs = parsed(text);
    ASSERT_TRUE(specs.arch);
    EXPECT_TRUE(*specs.arch == arch) << text << "\nread back as\n" << to_yaml(*specs.arch);
  });
}

/// An architecture whose memories say nothing about roles that the random workloads may not have.
Arch plain_arch(testing::RandomSpecs& random) {
  Arch arch = random.arch();
  const Expression all = *Expression::parse("All");
  for (Component& component : arch.components) {
    component.total_latency.reset();
    for (SpatialDimension& dimension : component.spatial) dimension.may_reuse = all;
    for (SpatialDimension& dimension : component.spatial) dimension.reuse.reset();
    if (auto* memory = std::get_if<Memory>(&component.kind)) *memory = Memory{};
    if (auto* toll = std::get_if<Toll>(&component.kind)) *toll = Toll{};
  }
  return arch;
}

TEST(RoundTrip, PrintedMappingsAndConstraintsParseToTheSameValue) {
  for_random_cases(500, [](testing::RandomSpecs& random) {
    const Workload workload = random.workload();
    const Arch arch = plain_arch(random);
    const Mapping mapping = random.mapping(workload, arch);
    const Constraints constraints = random.constraints(workload, arch);
    const std::string text =
        to_yaml(mapping, workload, arch) + to_yaml(constraints, workload, arch);
    const Specs specs = parsed(to_yaml(workload) + to_yaml(arch) + text);
    ASSERT_EQ(specs.mappings.size(), 1U);
    EXPECT_TRUE(specs.mappings[0] == mapping) << text << "\nread back as\n"
                                              << to_yaml(specs.mappings[0], workload, arch);
    ASSERT_TRUE(specs.constraints);
    EXPECT_TRUE(*specs.constraints == constraints) << text;
  });
}

TEST(RoundTrip, PrintedExpressionsParseToTheSameText) {
  for_random_cases(2000, [](testing::RandomSpecs& random) {
    for (const std::string& text :
         {random.number_expression(3), random.truth_expression(3), random.set_expression(3)}) {
      const auto expression = Expression::parse(text);
      ASSERT_TRUE(expression) << text << ": " << expression.error().message;
      const auto again = Expression::parse(expression->to_string());
      ASSERT_TRUE(again) << expression->to_string() << ": " << again.error().message;
      EXPECT_EQ(again->to_string(), expression->to_string()) << text;
      const auto folded = expression->bind({});
      const auto folded_again = Expression::parse(folded.to_string());
      ASSERT_TRUE(folded_again) << folded.to_string();
      EXPECT_EQ(folded_again->to_string(), folded.to_string()) << text;
    }
  });
}

/// Printing must not change what an expression means either.
TEST(RoundTrip, PrintedExpressionsHaveTheSameValue) {
  ExpressionScope scope;
  scope.universe = NameSet{15};
  scope.lookup = [](const std::string& name) -> std::optional<ExpressionValue> {
    if (name == "a") return 7.0;
    if (name == "b") return -2.5;
    if (name == "S") return NameSet{3};
    if (name == "T") return NameSet{6};
    if (name == "p") return true;
    return std::nullopt;
  };
  scope.n_actions = 2;
  scope.action_field = [](std::size_t i, const std::string&) {
    return std::optional(static_cast<double>(i + 1));
  };
  scope.literal_element = [](const std::string& name) {
    return std::optional(NameSet{name == "x" ? 1U : 4U});
  };
  for_random_cases(2000, [&](testing::RandomSpecs& random) {
    const std::string text = random.number_expression(3);
    const auto expression = Expression::parse(text);
    const auto again = Expression::parse(expression->to_string());
    const auto value = expression->evaluate(scope);
    const auto value_again = again->evaluate(scope);
    ASSERT_EQ(value.has_value(), value_again.has_value()) << text;
    if (!value) return;
    EXPECT_TRUE(*value == *value_again) << text << " printed as " << again->to_string();
  });
}

}  // namespace
}  // namespace sluice
