#include "support/golden_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "support/folders.h"

namespace sluice::testing {
namespace {

namespace fs = std::filesystem;

::testing::AssertionResult write_file(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  if (out << text << std::flush) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "cannot write " << file;
}

/// Says which line is the first that differs, and both versions of it.
std::string first_difference(const std::string& expected, const std::string& actual) {
  std::istringstream expected_lines(expected);
  std::istringstream actual_lines(actual);
  for (int line = 1;; ++line) {
    std::string want;
    std::string have;
    const bool more_wanted = static_cast<bool>(std::getline(expected_lines, want));
    const bool more_had = static_cast<bool>(std::getline(actual_lines, have));
    if (!more_wanted && !more_had) return "only the final line break differs";
    if (more_wanted == more_had && want == have) continue;
    return "line " + std::to_string(line) +
           "\n  file: " + (more_wanted ? want : "(ends before this line)") +
           "\n  now:  " + (more_had ? have : "(ends before this line)");
  }
}

}  // namespace

::testing::AssertionResult matches_golden_file(std::string_view path, const std::string& text) {
  const fs::path file = repository_dir() / "tests" / path;
  if (std::getenv("SLUICE_UPDATE_GOLDEN")) return write_file(file, text);
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return ::testing::AssertionFailure()
           << "tests/" << path << " does not exist; ./dev golden --update writes it";
  }
  const std::string expected{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (expected == text) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "tests/" << path << " differs at " << first_difference(expected, text)
         << "\nif the change is meant: ./dev golden --update\n\n"
         << text;
}

}  // namespace sluice::testing
