#include "sluice/support/library_dir.h"

#include <gtest/gtest.h>

#include "support/folders.h"

namespace sluice {
namespace {

TEST(LibraryDir, IsTheSourceTreesFolderInABuildTree) {
  EXPECT_EQ(library_dir(), testing::repository_dir() / "library");
  EXPECT_TRUE(std::filesystem::is_directory(library_dir()));
}

}  // namespace
}  // namespace sluice
