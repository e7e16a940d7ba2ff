#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "sluice/support/failed.h"
#include "sluice/sweep/sweep_table.h"

namespace sluice {
namespace {

/// A column for the axis of a plot.
struct AxisColumn {
  const char* name;
  const char* title;
  double factor;  ///< from the column's unit to the title's
};
constexpr AxisColumn kAxes[] = {
    {"energy_j", "energy in J", 1},      {"latency_s", "latency in s", 1},
    {"edp_js", "EDP in J s", 1},         {"leak_energy_j", "leakage in J", 1},
    {"operations_per_s", "TOPS", 1e-12}, {"operations_per_j", "TOPS/W", 1e-12},
    {"power_w", "power in W", 1},        {"area_m2", "area in mm^2", 1e6},
};

/// Between single quotes, in which gnuplot takes no other mark for a command.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text)
    if (c == '\'')
      result += "''";
    else if (static_cast<unsigned char>(c) >= ' ')
      result += c;
  return result + "'";
}

struct Axis {
  std::size_t column = 0;
  std::string title;
  double factor = 1;
  bool is_logarithmic = false;
};

class Plot {
 public:
  explicit Plot(const SweepTable& table) : table_(table) {}

  Result<Axis> axis(const std::string& name) const {
    const auto column = table_.find_column(name);
    if (!column) return tl::unexpected(Diagnostics{*unknown_column(table_, name)});
    Axis axis{*column, name, 1, false};
    for (const AxisColumn& known : kAxes)
      if (name == known.name) axis = {*column, known.title, known.factor, false};
    double least = 0, most = 0;
    bool has_any = false, is_positive = true;
    for (const auto& row : table_.rows) {
      if (!row[*column].number) continue;
      const double value = *row[*column].number;
      least = has_any ? std::min(least, value) : value;
      most = has_any ? std::max(most, value) : value;
      has_any = true;
      is_positive = is_positive && value > 0;
    }
    if (!has_any) return failed(fmt::format("the column `{}` has no numbers to plot", name), "");
    if (least >= 8 && is_size(*column)) axis = {*column, name + " in KiB", 1.0 / (8 * 1024), false};
    constexpr double kFar = 8;
    axis.is_logarithmic = is_positive && most / least >= kFar;
    return axis;
  }

  std::string commands(const Axis& x, const Axis& y, const std::string& image) const {
    const auto lines = lines_of(x, y);
    std::string text = fmt::format(
        "set terminal {}\nset output {}\nset grid\nset key outside right top noenhanced\n"
        "set xlabel {} noenhanced\nset ylabel {}\n",
        terminal_of(image), quoted(image), quoted(x.title),
        quoted(y.title) + (y.title.find('^') == std::string::npos ? " noenhanced" : ""));
    text += "set format y '%.3s%c'\n";
    if (x.is_logarithmic) text += "set logscale x 2\n";
    if (y.is_logarithmic) text += "set logscale y\n";
    std::vector<std::string> parts;
    std::string data;
    for (const auto& [title, points] : lines) {
      parts.push_back(fmt::format("$line{} with linespoints pointtype 7 title {}", parts.size(),
                                  quoted(lines.size() == 1 ? "" : title)));
      data += fmt::format("$line{} << EOD\n", parts.size() - 1);
      for (const auto& [at, value] : points) data += fmt::format("{} {}\n", at, value);
      data += "EOD\n";
    }
    return text + data + fmt::format("plot {}\n", fmt::join(parts, ", \\\n  "));
  }

 private:
  /// A value with a unit of bytes.
  bool is_size(std::size_t column) const {
    return column < table_.varied.size() &&
           std::all_of(table_.rows.begin(), table_.rows.end(), [&](const auto& row) {
             const std::string& text = row[column].text;
             return text.size() > 1 && text.back() == 'B' && text.find('/') == std::string::npos;
           });
  }

  using Points = std::vector<std::pair<double, double>>;

  /// Per combination of what else varies.
  std::map<std::string, Points> lines_of(const Axis& x, const Axis& y) const {
    std::map<std::string, Points> lines;
    for (const auto& row : table_.rows) {
      if (!row[x.column].number || !row[y.column].number) continue;
      std::vector<std::string> names;
      for (std::size_t c = 0; c < table_.columns.size(); ++c)
        if (c != x.column && tells_apart(c)) names.push_back(label(row, c));
      lines[fmt::format("{}", fmt::join(names, ", "))].emplace_back(
          *row[x.column].number * x.factor, *row[y.column].number * y.factor);
    }
    for (auto& [name, points] : lines) std::sort(points.begin(), points.end());
    return lines;
  }

  /// Columns of what was given that have several values.
  bool tells_apart(std::size_t column) const {
    const std::string& name = table_.columns[column];
    if (column >= table_.varied.size() && name != "workload" && name != "architecture")
      return false;
    return std::any_of(table_.rows.begin(), table_.rows.end(), [&](const auto& row) {
      return row[column].text != table_.rows.front()[column].text;
    });
  }

  std::string label(const std::vector<SweepCell>& row, std::size_t column) const {
    if (column >= table_.varied.size()) return row[column].text;
    return table_.columns[column] + " " + row[column].text;
  }

  static const char* terminal_of(const std::string& image) {
    const std::string extension = std::filesystem::path(image).extension().string();
    if (extension == ".png") return "pngcairo size 900,560";
    if (extension == ".pdf") return "pdfcairo size 18cm,11cm";
    return "svg size 900,560 dynamic background \"white\"";
  }

  const SweepTable& table_;
};

}  // namespace

std::optional<Diagnostic> unknown_column(const SweepTable& table, const std::string& name) {
  if (table.find_column(name)) return std::nullopt;
  const std::string nearest = nearest_name(name, table.columns);
  return error_without_place(fmt::format("the sweep has no column `{}`", name),
                             nearest.empty()
                                 ? fmt::format("columns: {}", fmt::join(table.columns, ", "))
                                 : fmt::format("did you mean `{}`?", nearest));
}

Result<std::string> plot_commands(const SweepTable& table, const std::string& x,
                                  const std::string& y, const std::string& image_file) {
  const Plot plot(table);
  const auto x_axis = plot.axis(x);
  const auto y_axis = plot.axis(y);
  Diagnostics mistakes;
  for (const auto* axis : {&x_axis, &y_axis})
    if (!*axis) mistakes.insert(mistakes.end(), axis->error().begin(), axis->error().end());
  if (!mistakes.empty()) return tl::unexpected(std::move(mistakes));
  return plot.commands(*x_axis, *y_axis, image_file);
}

}  // namespace sluice
