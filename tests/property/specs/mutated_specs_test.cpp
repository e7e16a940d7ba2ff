#include <gtest/gtest.h>

#include "sluice/frontend/load.h"
#include "support/mutated_text.h"
#include "support/random_cases.h"
#include "support/run_program.h"

namespace sluice {
namespace {

TEST(MutatedSpecs, AreReadOrExplainedButNeverBreakTheProgram) {
  std::vector<std::string> texts;
  for (const std::string& file : testing::mutable_files())
    texts.push_back(testing::read_text(file));
  const testing::RandomCases cases = testing::random_cases(3000);
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    std::mt19937_64 random(seed);
    const std::string text = testing::mutated_text(random, texts[random() % texts.size()],
                                                   texts[random() % texts.size()]);
    try {
      const auto specs = load_specs_from_text({{"mutated.yaml", text}}, {});
      EXPECT_TRUE(specs || !specs.error().empty()) << "seed " << seed;
    } catch (const std::exception& error) {
      FAIL() << "seed " << seed << ": " << error.what() << "\n" << text;
    }
  }
}

}  // namespace
}  // namespace sluice
