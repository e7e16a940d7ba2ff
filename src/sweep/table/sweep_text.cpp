#include "sweep_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "report/text/text_table.h"
#include "sluice/support/human_units.h"
#include "support/printable_text.h"

namespace sluice::cli {
namespace {

constexpr std::size_t kRowsShown = 40;

class SweepText {
 public:
  SweepText(const Console& console, const SweepTable& table, const std::string& objective)
      : console_(console), table_(table), objective_(*table.find_column(objective)) {
    for (const BestRun& run : best_runs(table, objective)) least_[run.workload] = value(run.row);
  }

  std::string text() {
    std::vector<std::size_t> order(table_.rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const bool is_cut = order.size() > kRowsShown;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return is_cut && times_least(a) < times_least(b);
    });
    if (is_cut) order.resize(kRowsShown);
    choose_columns();
    std::vector<std::vector<std::string>> lines = {header()};
    for (const std::size_t row : order) lines.push_back(line(row));
    std::string sides(names_.size(), 'l');
    sides += has_areas_ ? "rrrrl" : "rrrl";
    return text_table(sides, lines) + remarks(is_cut);
  }

 private:
  const SweepCell& cell(std::size_t row, const std::string& column) const {
    return table_.rows[row][*table_.find_column(column)];
  }

  double value(std::size_t row) const {
    return table_.rows[row][objective_].number.value_or(std::numeric_limits<double>::infinity());
  }

  bool is_best(std::size_t row) const {
    const auto least = least_.find(table_.workloads[row]);
    return least != least_.end() && value(row) == least->second;
  }

  /// How far a run is from the best one of its workload.
  double times_least(std::size_t row) const {
    if (is_best(row)) return 1;
    const auto least = least_.find(table_.workloads[row]);
    return least == least_.end() || least->second <= 0 ? std::numeric_limits<double>::infinity()
                                                       : value(row) / least->second;
  }

  /// Workload and architecture where there are several, and all that varies.
  void choose_columns() {
    for (const char* name : {"workload", "architecture"})
      if (std::any_of(table_.rows.begin(), table_.rows.end(), [&](const auto& row) {
            return row[*table_.find_column(name)].text !=
                   table_.rows.front()[*table_.find_column(name)].text;
          }))
        names_.emplace_back(name);
    names_.insert(names_.end(), table_.varied.begin(), table_.varied.end());
    for (std::size_t row = 0; row < table_.rows.size(); ++row)
      has_areas_ = has_areas_ || cell(row, "area_m2").number;
  }

  std::vector<std::string> header() const {
    std::vector<std::string> line;
    for (const std::string& name : names_) line.push_back(printable_text(name));
    for (const char* name : {"energy", "latency", "EDP"}) line.emplace_back(name);
    if (has_areas_) line.emplace_back("area");
    line.emplace_back();
    return line;
  }

  std::vector<std::string> line(std::size_t row) const {
    std::vector<std::string> line;
    for (const std::string& name : names_) line.push_back(printable_text(cell(row, name).text));
    if (cell(row, "status").text != "ok") {
      line.push_back("no mapping: " + printable_text(cell(row, "reason").text));
      return line;
    }
    const auto add = [&](const char* column, const char* unit) {
      const auto& number = cell(row, column).number;
      line.push_back(number ? human_si(*number, unit, console_.ascii) : "unknown");
    };
    add("energy_j", "J");
    add("latency_s", "s");
    add("edp_js", console_.ascii ? "J*s" : "J·s");
    const auto& area = cell(row, "area_m2").number;
    const char* unit = console_.ascii ? "mm2" : "mm²";
    if (has_areas_) line.push_back(area ? fmt::format("{:.3g} {}", *area * 1e6, unit) : "");
    line.push_back(remark(row));
    return line;
  }

  std::string remark(std::size_t row) const {
    std::string text;
    if (is_best(row))
      text = least_.size() > 1 ? "best of " + printable_text(table_.workloads[row]) : "best";
    const std::string& guarantee = cell(row, "guarantee").text;
    const auto& bound = cell(row, "bound").number;
    if (guarantee == "optimal") return text;
    if (guarantee == "gap" && bound)
      return text + (text.empty() ? "" : ", ") +
             fmt::format("{:.3g} times its bound", value(row) / *bound);
    return text + (text.empty() ? "" : ", ") + "not proven";
  }

  std::string remarks(bool is_cut) const {
    std::string text;
    if (is_cut)
      text += fmt::format("  the {} best of {} runs; --csv and --json have all\n", kRowsShown,
                          table_.rows.size());
    if (table_.rows.size() < table_.n_points)
      text += fmt::format("  {} of {} points were searched; the same call goes on\n",
                          table_.rows.size(), table_.n_points);
    return text;
  }

  const Console& console_;
  const SweepTable& table_;
  std::size_t objective_;
  std::map<std::string, double> least_;  ///< of the objective, by workload
  std::vector<std::string> names_;
  bool has_areas_ = false;
};

}  // namespace

std::string sweep_text(const Console& console, const SweepTable& table,
                       const std::string& objective) {
  return SweepText(console, table, objective).text();
}

}  // namespace sluice::cli
