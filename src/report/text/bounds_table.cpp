#include "bounds_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "mapper/request/search_space.h"
#include "sluice/support/human_units.h"
#include "text_table.h"

namespace sluice::cli {
namespace {

class Table {
 public:
  Table(const Console& console, const BoundsReport& report) : console_(console), report_(report) {
    header();
    for (const BoundsPoint& point : report.points) row(point);
  }

  std::string text() const {
    return text_table("l" + std::string(lines_.front().size() - 1, 'r'), lines_);
  }

  bool has_gaps() const { return has_gaps_; }
  std::size_t n_proven() const { return n_proven_; }
  /// All numbers that were asked for.
  std::size_t n_numbers() const { return report_.n_values * (lines_.front().size() - 1); }

 private:
  bool is_several() const {
    return std::any_of(report_.points.begin(), report_.points.end(), [](const BoundsPoint& point) {
      return point.least &&
             (point.least->alone.energy_j.value != point.least->fused.energy_j.value ||
              point.least->alone.latency_s.value != point.least->fused.latency_s.value ||
              point.least->alone.traffic_bits.value != point.least->fused.traffic_bits.value);
    });
  }

  void header() {
    is_several_ = is_several();
    std::vector<std::string> line = {report_.varied};
    for (const char* what : {"traffic", "energy", "latency"}) {
      if (is_several_) line.push_back(fmt::format("{}, alone", what));
      line.push_back(is_several_ ? fmt::format("{}, fused", what) : what);
    }
    lines_.push_back(std::move(line));
  }

  void row(const BoundsPoint& point) {
    if (!point.least) {
      lines_.push_back({point.value, (point.no.proven ? "no legal mapping: " : "nothing found: ") +
                                         point.no.reason});
      return;
    }
    std::vector<std::string> line = {point.value};
    const auto add = [&](Least LeastCosts::*number, const auto& text) {
      if (is_several_)
        line.push_back(point.least->no_alone ? "none" : cell(point.least->alone.*number, text));
      line.push_back(cell(point.least->fused.*number, text));
    };
    add(&LeastCosts::traffic_bits, [](double bits) { return human_size(bits); });
    add(&LeastCosts::energy_j, [&](double j) { return human_si(j, "J", console_.ascii); });
    add(&LeastCosts::latency_s, [&](double s) { return human_si(s, "s", console_.ascii); });
    lines_.push_back(std::move(line));
  }

  /// A number; where it is not proven, what no mapping is below and what was found, if anything.
  template <class Text>
  std::string cell(const Least& least, const Text& text) {
    if (least.is_proven) {
      ++n_proven_;
      return text(least.value);
    }
    if (!std::isfinite(least.value)) return (console_.ascii ? ">= " : "≥ ") + text(least.bound);
    has_gaps_ = true;
    const std::string bound = text(least.bound), value = text(least.value);
    if (bound != value) return bound + " .. " + value;
    return fmt::format("{} (within {})", value, human_percent(least.value / least.bound - 1));
  }

  const Console& console_;
  const BoundsReport& report_;
  bool is_several_ = false, has_gaps_ = false;
  std::size_t n_proven_ = 0;
  std::vector<std::vector<std::string>> lines_;
};

}  // namespace

std::string bounds_table(const Console& console, const BoundsReport& report) {
  const Table table(console, report);
  std::string text = inked(console, Ink::kBold, report.workload + " on " + report.arch) + "\n\n";
  text += "The least that a mapping moves to and from the outermost memory, uses and takes\n";
  text += report.points.empty() ? "  nothing was found by then\n" : table.text() + "\n";
  if (table.has_gaps())
    text +=
        "  A .. B: a search did not prove its number; no mapping of its space is below A, one has "
        "B\n";
  const auto known = std::find_if(report.points.begin(), report.points.end(),
                                  [](const BoundsPoint& point) { return point.least; });
  if (known != report.points.end() && !known->least->space.space.empty()) {
    const Guarantee& space = known->least->space;
    text += "  of the mappings that fused searches: " + space.space + "\n";
    if (!space.leaves_out.empty()) text += "  it leaves out " + names_of(space.leaves_out) + "\n";
  }
  for (const BoundsPoint& point : report.points)
    if (point.least && point.least->no_alone)
      text += fmt::format("  none alone{}: {}\n", point.value.empty() ? "" : " at " + point.value,
                          point.least->no_alone->reason);
  if (report.is_interrupted)
    text += fmt::format("  interrupted: {} of {} numbers are proven\n", table.n_proven(),
                        table.n_numbers());
  return text;
}

}  // namespace sluice::cli
