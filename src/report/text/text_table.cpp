#include "text_table.h"

#include <algorithm>

#include "text_bars.h"

namespace sluice::cli {
namespace {

bool is_remark(const std::string& sides, const std::vector<std::string>& line, std::size_t column) {
  return line.size() < sides.size() && column + 1 == line.size();
}

}  // namespace

std::string text_table(const std::string& sides,
                       const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths(sides.size(), 0);
  for (const auto& line : lines)
    for (std::size_t c = 0; c < line.size(); ++c)
      if (!is_remark(sides, line, c)) widths[c] = std::max(widths[c], text_columns(line[c]));
  std::string text;
  for (const auto& line : lines) {
    std::string written;
    for (std::size_t c = 0; c < line.size(); ++c) {
      const std::size_t width = is_remark(sides, line, c) ? 0 : widths[c];
      written += "  " + (sides[c] == 'r' ? pad_left(line[c], width) : pad_right(line[c], width));
    }
    written.erase(written.find_last_not_of(' ') + 1);
    text += written + "\n";
  }
  return text;
}

}  // namespace sluice::cli
