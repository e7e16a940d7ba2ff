#include "text_bars.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sluice/support/human_units.h"

namespace sluice::cli {
namespace {

/// Cuts a text to so many columns, with dots where something is missing.
std::string cut(const std::string& text, std::size_t columns, bool ascii) {
  if (text_columns(text) <= columns) return text;
  const std::size_t dots = ascii ? 3 : 1;
  if (columns <= dots) return "";
  std::size_t kept = 0;
  std::size_t end = 0;
  while (end < text.size() && kept < columns - dots) {
    ++end;
    while (end < text.size() && (text[end] & 0xC0) == 0x80) ++end;
    ++kept;
  }
  return text.substr(0, end) + (ascii ? "..." : "…");
}

}  // namespace

std::size_t text_columns(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string pad_right(const std::string& text, std::size_t columns) {
  const std::size_t used = text_columns(text);
  return used >= columns ? text : text + std::string(columns - used, ' ');
}

std::string pad_left(const std::string& text, std::size_t columns) {
  const std::size_t used = text_columns(text);
  return used >= columns ? text : std::string(columns - used, ' ') + text;
}

std::string bar(double share, std::size_t width, bool ascii) {
  static constexpr std::array<const char*, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double clamped = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
  auto eighths = static_cast<std::size_t>(std::lround(clamped * 8 * static_cast<double>(width)));
  if (clamped > 0 && eighths == 0) eighths = 1;
  std::string text;
  if (ascii) {
    text = std::string((eighths + 4) / 8, '#');
    if (clamped > 0 && text.empty()) text = "#";
  } else {
    for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
    text += kEighths[eighths % 8];
  }
  return pad_right(text, width);
}

std::string bar_chart(const Console& console, Ink ink, const std::vector<BarRow>& rows) {
  constexpr std::size_t kBarWidth = 24;
  constexpr std::size_t kPercentWidth = 8;
  std::size_t label_width = 0;
  std::size_t value_width = 0;
  for (const BarRow& row : rows) {
    label_width = std::max(label_width, text_columns(row.label));
    value_width = std::max(value_width, text_columns(row.value));
  }
  const std::size_t used =
      2 + label_width + 1 + kBarWidth + 1 + value_width + 1 + kPercentWidth + 2;
  std::string text;
  for (const BarRow& row : rows) {
    std::string line = "  " + pad_right(row.label, label_width) + " " +
                       inked(console, ink, bar(row.share, kBarWidth, console.ascii)) + " " +
                       pad_left(row.value, value_width) + " " +
                       pad_left(human_percent(row.share), kPercentWidth);
    if (!row.remark.empty() && console.width > used)
      line +=
          "  " + inked(console, Ink::kDim, cut(row.remark, console.width - used, console.ascii));
    text += line + "\n";
  }
  return text;
}

}  // namespace sluice::cli
