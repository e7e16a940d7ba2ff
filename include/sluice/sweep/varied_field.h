#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/support/diagnostic.h"

namespace sluice {

/// A variable or field and the values it takes one after the other, as `--set` takes them.
struct VariedField {
  std::string name;                 ///< `arch.GlobalBuffer.size`
  std::vector<std::string> values;  ///< `16KiB`, `32KiB`, …
  SourceLocation place = {};        ///< for messages; no file: nowhere
  friend bool operator==(const VariedField&, const VariedField&) = default;
};

/// Reads `NAME=FIRST..LAST:xFACTOR`, `NAME=FIRST..LAST:+STEP` or `NAME=A,B,C`. LAST is a value
/// where the steps meet it. Anything else is a mistake, and so are more than 1,000 values.
Result<VariedField> varied_field(const std::string& text);

/// The same for the part behind `NAME=`. `subject` is what messages are about: `--vary M=1,2`.
Result<std::vector<std::string>> varied_values(const std::string& text, const std::string& subject);

/// Ends of a range to draw from, `FIRST..LAST` or `FIRST..LAST:log`.
struct DrawnRange {
  double first = 0, last = 0;  ///< in the unit
  std::string unit;
  bool is_logarithmic = false;
  /// The value at a share (0 … 1) of the way: whole where both ends are.
  std::string at(double share) const;
};
/// Mistakes: no range, ends that are no numbers or not in order, `log` from 0 on.
Result<DrawnRange> drawn_range(const std::string& text, const std::string& subject);

/// Whether the text is a range with steps or a list, and no range to draw from.
bool lists_values(const std::string& text);

/// The number at the start of a value, in SI units (sizes in bits): 16384 for `2KiB`; none for a
/// value that is no amount.
std::optional<double> amount_of_value(const std::string& text);

}  // namespace sluice
