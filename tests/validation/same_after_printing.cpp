#include "same_after_printing.h"

#include <gtest/gtest.h>

#include "sluice/frontend/load.h"
#include "sluice/model/evaluate.h"

namespace sluice::testing {

void expect_same_after_printing(const BoundProblem& problem, const MapperResult& result) {
  const std::string specs = to_yaml(problem.workload) + to_yaml(problem.arch);
  for (const MappedResult& mapped : result.mappings) {
    const std::string text = to_yaml(mapped.mapping, problem.workload, problem.arch);
    const auto read = load_specs_from_text({{"specs.yaml", specs}, {"mapping.yaml", text}}, {});
    ASSERT_TRUE(read.has_value()) << to_string(read.error().front()) << text;
    ASSERT_EQ(read->mappings.size(), 1U);
    const auto again = bind(*read->workload, *read->arch);
    ASSERT_TRUE(again.has_value());
    const auto cost = evaluate(*again, read->mappings.front());
    ASSERT_TRUE(cost.has_value()) << cost.error().front().message << "\n" << text;
    EXPECT_EQ(*cost, mapped.cost) << text;
  }
}

}  // namespace sluice::testing
