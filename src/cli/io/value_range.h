#pragma once

#include <string>
#include <vector>

namespace sluice::cli {

/// A variable or field and the values it takes one after the other, as `--set` takes them.
struct VariedField {
  std::string name;                 ///< `arch.GlobalBuffer.size`
  std::vector<std::string> values;  ///< `16KiB`, `32KiB`, …
};

/// Reads `NAME=FIRST..LAST:xFACTOR`, `NAME=FIRST..LAST:+STEP` or `NAME=A,B,C`. LAST is a value
/// where the steps meet it. Throws Failure(kBadInput) for anything else, and for more than 1,000
/// values.
VariedField varied_field(const std::string& text);

}  // namespace sluice::cli
