#include "cli/io/output_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "cli/io/failure.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

class OutputFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("sluice_output_folder_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(OutputFolder, ReplacesAFileAndLeavesNoTemporaryOne) {
  write_atomically(folder_ / "result.json", "old");
  write_atomically(folder_ / "result.json", "new");
  std::ifstream in(folder_ / "result.json");
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_EQ(text.str(), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(OutputFolder, FailsWithFileTroubleWhereAFileStands) {
  write_atomically(folder_ / "file", "");
  try {
    make_output_folder(folder_ / "file" / "below");
    FAIL() << "a folder below a file";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), ExitCode::kFileTrouble);
  }
}

TEST_F(OutputFolder, MakesParents) {
  make_output_folder(folder_ / "a" / "b");
  EXPECT_TRUE(fs::is_directory(folder_ / "a" / "b"));
}

}  // namespace
}  // namespace sluice::cli
