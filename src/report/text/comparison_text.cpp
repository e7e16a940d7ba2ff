#include "comparison_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/support/human_units.h"
#include "support/printable_text.h"
#include "text_table.h"

namespace sluice::cli {
namespace {

constexpr std::size_t kRowsInTable = 8;
constexpr std::size_t kLinesAround = 2;  // that are the same, beside those of a tree that differ

struct Title {
  const char* name;
  const char* title;
};
constexpr Title kTitles[] = {
    {"energy_by_component", "Energy by component"},
    {"energy_by_einsum", "Energy by Einsum"},
    {"energy_by_tensor", "Energy by tensor"},
    {"bits_by_component", "Bits moved by component"},
    {"latency_by_einsum", "Latency by Einsum"},
    {"busy_by_component", "Busy time by component"},
    {"peak_by_component", "Peak of one instance"},
    {"utilisation", "Utilisation of the peak rate"},
};

struct Total {
  const char* name;
  const char* title;
  const char* unit;
};
constexpr Total kTotals[] = {
    {"energy_j", "energy", "J"},
    {"latency_s", "latency", "s"},
    {"edp_js", "EDP", "J·s"},
    {"latency_cycles", "cycles", ""},
    {"leak_energy_j", "leakage", "J"},
    {"area_m2", "area", "m2"},
    {"operations_per_s", "rate", "OPS"},
    {"operations_per_j", "efficiency", "OPS/W"},
    {"power_w", "power", "W"},
};

/// The names for people, without the folders that all of them are in.
std::vector<std::string> short_names(const std::vector<std::string>& names) {
  const std::string& first = names.front();
  std::size_t common = 0;
  for (std::size_t end = first.find('/'); end != std::string::npos; end = first.find('/', end + 1))
    if (std::all_of(names.begin(), names.end(), [&](const std::string& name) {
          return name.compare(0, end + 1, first, 0, end + 1) == 0 && name.size() > end + 1;
        }))
      common = end + 1;
  std::vector<std::string> result;
  for (const std::string& name : names) result.push_back(printable_text(name.substr(common)));
  return result;
}

class ComparisonText {
 public:
  ComparisonText(const Console& console, const ResultComparison& comparison)
      : console_(console), comparison_(comparison), names_(short_names(comparison.names)) {}

  std::string text() {
    requests();
    totals();
    for (const ComparedTable& table : comparison_.tables) {
      if (table.rows.empty()) continue;
      heading(title_of(table.name), "largest differences first");
      add(table, table.unit);
    }
    for (std::size_t i = 0; i < comparison_.trees.size(); ++i) tree(i);
    if (is_equal())
      text_ += "\nNothing differs: the same costs, row by row, and the same loop tree\n";
    return std::move(text_);
  }

 private:
  void heading(const std::string& name, const std::string& remark) {
    text_ += "\n" + inked(console_, Ink::kBold, name) +
             (remark.empty() ? "" : "  " + inked(console_, Ink::kDim, remark)) + "\n";
  }

  bool is_equal() const {
    const auto is_one = [](const ComparedRow& row) {
      return std::all_of(row.values.begin(), row.values.end(),
                         [&](const auto& value) { return value == row.values.front(); });
    };
    const auto& totals = comparison_.totals.rows;
    return std::all_of(totals.begin(), totals.end(), is_one) &&
           std::all_of(comparison_.tables.begin(), comparison_.tables.end(),
                       [](const ComparedTable& table) { return table.rows.empty(); }) &&
           std::all_of(comparison_.trees.begin(), comparison_.trees.end(),
                       [](const auto& tree) { return tree.empty(); });
  }

  std::vector<std::string> names() const {
    std::vector<std::string> line = {""};
    for (const std::string& name : names_) {
      if (line.size() > 1) line.emplace_back();  // above the ratios
      line.push_back(name);
    }
    return line;
  }

  std::string sides() const {
    std::string sides = "l";
    for (std::size_t i = 0; i < comparison_.names.size(); ++i) sides += i == 0 ? "r" : "lr";
    return sides;
  }

  void requests() {
    text_ += inked(console_, Ink::kBold, "Compared") + "\n";
    std::vector<std::vector<std::string>> lines = {{""}};
    lines.front().insert(lines.front().end(), names_.begin(), names_.end());
    for (const ComparedText& row : comparison_.requests) {
      std::vector<std::string> line = {row.name};
      for (const std::string& text : row.texts)
        line.push_back(text.empty()                           ? "none"
                       : text.find('\n') != std::string::npos ? "given"
                                                              : printable_text(text));
      lines.push_back(std::move(line));
    }
    if (comparison_.requests.empty())
      lines.push_back({"", "of workloads and architectures alike, the same options and guarantee"});
    text_ += text_table("l" + std::string(comparison_.names.size(), 'l'), lines);
  }

  void totals() {
    heading("Totals", "");
    std::vector<std::vector<std::string>> lines = {names()};
    for (const ComparedRow& row : comparison_.totals.rows)
      for (const Total& total : kTotals)
        if (row.name == total.name) lines.push_back(line_of(row, total.title, total.unit));
    text_ += text_table(sides(), lines);
  }

  void add(const ComparedTable& table, const std::string& unit) {
    std::vector<std::vector<std::string>> lines = {names()};
    for (std::size_t r = 0; r < std::min(kRowsInTable, table.rows.size()); ++r)
      lines.push_back(line_of(table.rows[r], printable_text(table.rows[r].name), unit));
    text_ += text_table(sides(), lines);
    std::vector<std::string> rest;
    if (table.rows.size() > kRowsInTable)
      rest.push_back(
          fmt::format("{} more differ (--json has them)", table.rows.size() - kRowsInTable));
    if (table.n_equal > 0) rest.push_back(fmt::format("{} equal", table.n_equal));
    if (!rest.empty())
      text_ += "  " + inked(console_, Ink::kDim, fmt::format("{}", fmt::join(rest, ", "))) + "\n";
  }

  /// A cell for each value, and before all but the first how many times the first it is.
  std::vector<std::string> line_of(const ComparedRow& row, const std::string& title,
                                   const std::string& unit) const {
    std::vector<std::string> line = {title};
    const auto& first = row.values.front();
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      const auto& value = row.values[i];
      const bool has_ratio = value && first && *first != 0 && *value != *first;
      if (i > 0)
        line.push_back(
            has_ratio ? fmt::format("{}{:.3g}", console_.ascii ? "x" : "×", *value / *first) : "");
      line.push_back(value ? cell(*value, unit) : "none");
    }
    return line;
  }

  std::string cell(double value, const std::string& unit) const {
    if (unit == "bit") return human_size(value);
    if (unit == "m2") return fmt::format("{:.3g} mm2", value * 1e6);
    if (unit == "J·s" && console_.ascii) return human_si(value, "J*s", true);
    if (unit.empty()) return value <= 1 ? human_percent(value) : human_count(value);
    return human_si(value, unit, console_.ascii);
  }

  static std::string title_of(const std::string& name) {
    for (const Title& title : kTitles)
      if (name == title.name) return title.title;
    return name;
  }

  void tree(std::size_t i) {
    const auto& lines = comparison_.trees[i];
    if (lines.empty()) return;
    heading("Loop tree", fmt::format("- {}, + {}", names_.front(), names_[i + 1]));
    bool is_left_out = false;
    for (std::size_t l = 0; l < lines.size(); ++l) {
      if (!is_near_change(lines, l)) {
        if (!is_left_out) text_ += console_.ascii ? "  ...\n" : "  …\n";
        is_left_out = true;
        continue;
      }
      is_left_out = false;
      const std::string line = fmt::format("{} {}", lines[l].mark, printable_text(lines[l].text));
      text_ += (lines[l].mark == '-'   ? inked(console_, Ink::kRed, line)
                : lines[l].mark == '+' ? inked(console_, Ink::kGreen, line)
                                       : line) +
               "\n";
    }
  }

  static bool is_near_change(const std::vector<TreeLine>& lines, std::size_t l) {
    const std::size_t begin = l > kLinesAround ? l - kLinesAround : 0;
    const std::size_t end = std::min(lines.size(), l + kLinesAround + 1);
    return std::any_of(lines.begin() + static_cast<std::ptrdiff_t>(begin),
                       lines.begin() + static_cast<std::ptrdiff_t>(end),
                       [](const TreeLine& line) { return line.mark != ' '; });
  }

  const Console& console_;
  const ResultComparison& comparison_;
  std::vector<std::string> names_;
  std::string text_;
};

}  // namespace

std::string comparison_text(const Console& console, const ResultComparison& comparison) {
  return ComparisonText(console, comparison).text();
}

}  // namespace sluice::cli
