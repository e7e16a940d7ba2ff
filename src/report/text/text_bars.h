#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "console.h"

namespace sluice::cli {

/// A horizontal bar of `share` (0 … 1) of `width` columns, in eighths of a column; a share above 0
/// shows at least a sliver. Padded to `width`.
std::string bar(double share, std::size_t width, bool ascii);

/// Columns that a UTF-8 text of one-column characters takes.
std::size_t text_columns(const std::string& text);

/// The text padded with blanks, on the right or on the left.
std::string pad_right(const std::string& text, std::size_t columns);
std::string pad_left(const std::string& text, std::size_t columns);

struct BarRow {
  std::string label;
  double share = 0;
  std::string value;   ///< `12.3 J`
  std::string remark;  ///< at the end of the line, cut to the console's width
};

/// One line a row: label, bar, value, percentage, remark; the columns aligned.
std::string bar_chart(const Console& console, Ink ink, const std::vector<BarRow>& rows);

}  // namespace sluice::cli
