#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace sluice::testing {

/// Compares `text` with the file `path` (relative to the repository's `tests/` folder) and shows
/// the first line that differs. With `./dev golden --update` it writes the file instead.
/// Use: EXPECT_TRUE(matches_golden_file("golden/gpt3_workload.txt", print(workload)));
::testing::AssertionResult matches_golden_file(std::string_view path, const std::string& text);

}  // namespace sluice::testing
