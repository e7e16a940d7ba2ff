#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "property/random_specs.h"
#include "sluice/frontend/load.h"
#include "sluice/support/library_dir.h"
#include "support/folders.h"
#include "support/random_cases.h"
#include "support/run_program.h"

namespace sluice {
namespace {
namespace fs = std::filesystem;

/// Texts to start from: the library, the examples and the collected mistakes.
std::vector<std::string> seed_texts() {
  std::vector<std::string> files;
  for (const fs::path& folder : {library_dir(), testing::repository_dir() / "tests"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (const std::string& file : files) texts.push_back(testing::read_text(file));
  return texts;
}

/// Removes, repeats, swaps or overwrites a stretch of the text, or puts in a hostile piece.
std::string mutated(testing::RandomSpecs& random, std::string text, const std::string& other) {
  static const std::vector<std::string> pieces = {"{",
                                                  "}",
                                                  "[",
                                                  "]",
                                                  "\"",
                                                  ":",
                                                  "-",
                                                  "*a",
                                                  "&a ",
                                                  "!Memory ",
                                                  "1e308",
                                                  "-1",
                                                  "nan",
                                                  "0",
                                                  "inf",
                                                  "**",
                                                  "9999999999999999999",
                                                  "~",
                                                  "(",
                                                  ")",
                                                  "|",
                                                  "\n",
                                                  "\t",
                                                  "{i}",
                                                  ", ",
                                                  "if",
                                                  "for: {i: 0..3}",
                                                  "null"};
  const auto place = [&] {
    return static_cast<std::size_t>(random.pick(0, static_cast<std::int64_t>(text.size())));
  };
  const std::int64_t n_changes = random.pick(1, 4);
  for (std::int64_t i = 0; i < n_changes; ++i) {
    const std::size_t at = place();
    const auto length = static_cast<std::size_t>(random.pick(1, 24));
    switch (random.pick(0, 4)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, random.any(pieces));
        break;
      case 2:
        text.insert(place(), text.substr(at, length));
        break;
      case 3:
        text.replace(at, std::min(length, text.size() - at), random.any(pieces));
        break;
      default:
        text.insert(at, other.substr(std::min(at, other.size()), length));
        break;
    }
  }
  return text;
}

TEST(MutatedSpecs, AreReadOrExplainedButNeverBreakTheProgram) {
  const std::vector<std::string> texts = seed_texts();
  const testing::RandomCases cases = testing::random_cases(3000);
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    testing::RandomSpecs random(seed);
    const std::string text = mutated(random, random.any(texts), random.any(texts));
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
