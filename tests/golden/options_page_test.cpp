#include <gtest/gtest.h>

#include "sluice/mapper/options_table.h"
#include "support/golden_file.h"

namespace sluice {
namespace {

TEST(OptionsPage, IsWhatTheOptionTableSays) {
  EXPECT_TRUE(testing::matches_golden_file("../docs/options.md", mapper_options_as_markdown()));
}

}  // namespace
}  // namespace sluice
