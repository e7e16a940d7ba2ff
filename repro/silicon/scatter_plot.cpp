#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "silicon.h"

namespace sluice::silicon {
namespace {

constexpr double kSize = 560, kMargin = 70;

/// Both axes: powers of ten around everything that is shown.
struct Axis {
  double low = 0, high = 0;  ///< exponents

  explicit Axis(const Comparison& comparison) {
    double least = comparison.measured.front(), most = least;
    const auto widen = [&](const std::vector<double>& values) {
      for (double value : values) {
        least = std::min(least, value);
        most = std::max(most, value);
      }
    };
    widen(comparison.measured);
    for (const auto& [tool, values] : comparison.predicted) widen(values);
    low = std::floor(std::log10(std::max(least, 1.0)));
    high = std::ceil(std::log10(std::max(most, 10.0)));
  }

  double place(double cycles) const {
    return kMargin +
           (std::log10(std::max(cycles, 1.0)) - low) / (high - low) * (kSize - 2 * kMargin);
  }
};

std::string text_at(double x, double y, const std::string& text, const std::string& more = {}) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, more, text);
}

std::string frame(const Axis& axis, const std::string& title) {
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{0}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{0}\" "
      "fill=\"white\"/>\n",
      kSize);
  svg += text_at(kSize / 2, 24, title, "text-anchor=\"middle\" font-size=\"15\"");
  svg += text_at(kSize / 2, kSize - 20, "measured cycles", "text-anchor=\"middle\"");
  svg += text_at(20, kSize / 2, "predicted cycles",
                 fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 20 {})\"", kSize / 2));
  for (double exponent = axis.low; exponent <= axis.high; ++exponent) {
    const double x = axis.place(std::pow(10, exponent)), y = kSize - x;
    svg += fmt::format(
        "<path d=\"M{0:.1f} {1}V{2}M{1} {3:.1f}H{2}\" stroke=\"#ddd\" fill=\"none\"/>\n", x,
        kMargin, kSize - kMargin, y);
    const std::string label = fmt::format("10^{:.0f}", exponent);
    svg += text_at(x, kSize - kMargin + 18, label, "text-anchor=\"middle\"");
    svg += text_at(kMargin - 8, y + 4, label, "text-anchor=\"end\"");
  }
  svg += fmt::format("<path d=\"M{0} {1}L{1} {0}\" stroke=\"black\"/>\n", kMargin, kSize - kMargin);
  return svg;
}

}  // namespace

std::string scatter_plot(const Comparison& comparison, const std::string& title) {
  constexpr std::array<const char*, 3> kColours = {"#1b6ca8", "#c44536", "#8a8a8a"};
  const Axis axis(comparison);
  std::string svg = frame(axis, title);
  // Sluice last, on top of the others.
  std::vector<std::string> tools;
  for (const auto& [tool, values] : comparison.predicted)
    if (tool != "Sluice") tools.push_back(tool);
  tools.push_back("Sluice");
  for (std::size_t t = 0; t < tools.size(); ++t) {
    const std::vector<double>& values = comparison.predicted.at(tools[t]);
    const char* colour = kColours[tools.size() - 1 - t];
    for (std::size_t i = 0; i < values.size(); ++i)
      svg += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.2\" fill=\"{}\" fill-opacity=\"0.6\"/>\n",
          axis.place(comparison.measured[i]), kSize - axis.place(values[i]), colour);
    const double y = kMargin + 16 + 18 * static_cast<double>(tools.size() - 1 - t);
    svg += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"5\" fill=\"{}\"/>\n", kMargin + 14, y - 4,
                       colour);
    svg += text_at(kMargin + 26, y,
                   fmt::format("{}: {:.2f} % off on average", tools[t],
                               error_of(values, comparison.measured).mean_percent));
  }
  return svg + "</svg>\n";
}

}  // namespace sluice::silicon
