#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace sluice::testing {

/// The YAML files to start from: the library and the tests' own, in order, without very large ones.
std::vector<std::string> mutable_files();

/// What people and broken programs do to a file: numbers of other sizes and types, names exchanged,
/// lines lost or repeated, the end cut off, pieces of other files, flipped bits, NULs, other
/// encodings and ends of lines, deep nesting. One to four changes.
std::string mutated_text(std::mt19937_64& random, std::string text, const std::string& other);

}  // namespace sluice::testing
