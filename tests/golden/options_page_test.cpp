#include <gtest/gtest.h>

#include "mapper/request/search_space.h"
#include "sluice/mapper/options_table.h"
#include "support/folders.h"
#include "support/golden_file.h"
#include "support/run_program.h"

namespace sluice {
namespace {

TEST(OptionsPage, IsWhatTheOptionTableSays) {
  EXPECT_TRUE(testing::matches_golden_file("../docs/options.md", mapper_options_as_markdown()));
}

// Also the columns of its table: what `compound` and what the other mappers leave out.
TEST(MappersPage, SaysWhatEverySpaceLeavesOut) {
  const std::string page = testing::read_text((testing::repository_dir() / "docs" / "mappers.md"));
  EXPECT_NE(page.find(space_limits_as_markdown()), std::string::npos) << space_limits_as_markdown();
}

}  // namespace
}  // namespace sluice
