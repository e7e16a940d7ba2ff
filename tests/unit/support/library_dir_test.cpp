#include "sluice/support/library_dir.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(LibraryDir, IsTheSourceTreesFolderInABuildTree) {
  EXPECT_EQ(library_dir(), std::filesystem::path(SLUICE_REPO_DIR) / "library");
  EXPECT_TRUE(std::filesystem::is_directory(library_dir()));
}

}  // namespace
}  // namespace sluice
