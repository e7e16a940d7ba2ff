#include <gtest/gtest.h>

#include "sluice/frontend/load.h"
#include "support/folders.h"
#include "support/golden_file.h"

namespace sluice {
namespace {

/// The signature mappings: fusion, collectives, a pipeline, rotation; a gather; regions.
class Example : public ::testing::TestWithParam<const char*> {};

std::string print(const Specs& specs) {
  std::string text = to_yaml(*specs.workload) + to_yaml(*specs.arch);
  for (const Mapping& mapping : specs.mappings)
    text += to_yaml(mapping, *specs.workload, *specs.arch);
  return text;
}

TEST_P(Example, ParsesPrintsAndReadsBack) {
  const std::string name = GetParam();
  const auto file = testing::repository_dir() / "tests/golden/examples" / (name + ".yaml");
  const auto specs = load_specs({file.string()}, {});
  ASSERT_TRUE(specs) << to_string(specs.error()[0]);
  ASSERT_EQ(specs->mappings.size(), 1U);
  const std::string text = print(*specs);
  EXPECT_TRUE(testing::matches_golden_file("golden/examples/" + name + ".canonical.txt", text));

  const auto again = load_specs_from_text({{"printed.yaml", text}}, {});
  ASSERT_TRUE(again) << to_string(again.error()[0]);
  EXPECT_TRUE(*again->workload == *specs->workload);
  EXPECT_TRUE(*again->arch == *specs->arch);
  EXPECT_TRUE(again->mappings == specs->mappings);
}

INSTANTIATE_TEST_SUITE_P(All, Example,
                         ::testing::Values("1_fused_attention", "2_distributed_softmax",
                                           "3_pipelined_layers", "4_compute_shift",
                                           "5_gathered_softmax", "6_forwarded_layers"),
                         [](const auto& entry) { return std::string("number_") + entry.param; });

}  // namespace
}  // namespace sluice
