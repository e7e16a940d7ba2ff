// The code of docs/extending.md is that of tests/package.
#include <gtest/gtest.h>

#include "support/folders.h"
#include "support/run_program.h"

namespace sluice {
namespace {

std::string text_of(const std::string& path) {
  return testing::read_text(testing::repository_dir() / path);
}

/// The block of code that follows the name of each file of tests/package, with that name.
std::vector<std::pair<std::string, std::string>> recipes_of(const std::string& page) {
  const std::string name = "`tests/package/", fence = "```cpp\n";
  std::vector<std::pair<std::string, std::string>> recipes;
  for (std::size_t at = page.find(name); at != page.npos; at = page.find(name, at)) {
    const std::size_t file_end = page.find('`', ++at);
    const std::size_t code = page.find(fence, file_end) + fence.size();
    recipes.emplace_back(page.substr(at, file_end - at),
                         page.substr(code, page.find("```", code) - code));
  }
  return recipes;
}

TEST(ExtendingPage, HasTheCodeOfThePackageTest) {
  const auto recipes = recipes_of(text_of("docs/extending.md"));
  EXPECT_EQ(recipes.size(), 4u);
  for (const auto& [file, code] : recipes)
    EXPECT_NE(text_of(file).find(code), std::string::npos) << file << " has not:\n" << code;
}

}  // namespace
}  // namespace sluice
