#include "efficiency_text.h"

#include <fmt/format.h>

#include "sluice/model/efficiency.h"
#include "sluice/support/human_units.h"
#include "text_bars.h"

namespace sluice::cli {
namespace {

/// The area, and which components are not in it.
std::string area_text(const Console& console, const Arch& arch, double area_m2) {
  std::vector<std::string> unknown;
  for (const Component& component : arch.components)
    if (!component.area_m2 && !std::holds_alternative<Container>(component.kind))
      unknown.push_back(component.name);
  return fmt::format("{:.3g} {}", area_m2 * 1e6, console.ascii ? "mm2" : "mm²") +
         (unknown.empty() ? "" : fmt::format(" without {}", fmt::join(unknown, ", ")));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> rates_text(const Console& console,
                                                            const BoundProblem& problem,
                                                            const Cost& cost) {
  const Efficiency known = efficiency(problem, cost);
  std::vector<std::string> parts;
  const auto add = [&](const std::optional<double>& value, const char* unit) {
    if (value) parts.push_back(human_si(*value, unit, console.ascii));
  };
  add(known.operations_per_s, "OPS");
  add(known.operations_per_j, "OPS/W");
  add(known.power_w, "W");
  std::vector<std::pair<std::string, std::string>> fields;
  if (!parts.empty())
    fields.emplace_back(known.operations_per_s   ? "rate"
                        : known.operations_per_j ? "efficiency"
                                                 : "power",
                        fmt::format("{}", fmt::join(parts, ", ")));
  if (cost.area_m2) fields.emplace_back("area", area_text(console, problem.arch, *cost.area_m2));
  return fields;
}

std::string utilisation_bars(const Console& console, const BoundProblem& problem,
                             const Cost& cost) {
  std::vector<BarRow> rows;
  for (const Utilisation& row : efficiency(problem, cost).utilisation)
    if (row.of_peak && (*row.of_peak > 0 || problem.arch[row.component].is_compute()))
      rows.push_back({problem.arch[row.component].name, *row.of_peak, "",
                      row.busy ? "busy " + human_percent(*row.busy) : ""});
  return bar_chart(console, Ink::kGreen, rows);
}

std::string roofline_text(const Console& console, const BoundProblem& problem, const Cost& cost) {
  constexpr double kBitsOfByte = 8;
  const auto roof = efficiency(problem, cost).roofline;
  if (!roof) return "";
  const auto intensity = [](double operations_per_bit) {
    return human_count(operations_per_bit * kBitsOfByte);
  };
  return fmt::format("{} operations/B of {} (ridge {}), bound by {}: {} of the roof, {}",
                     intensity(roof->operations_per_bit), problem.arch[roof->memory].name,
                     intensity(roof->ridge_operations_per_bit),
                     roof->is_compute_bound() ? "compute" : "memory",
                     human_percent(roof->operations_per_s / roof->roof_operations_per_s),
                     human_si(roof->roof_operations_per_s, "OPS", console.ascii));
}

}  // namespace sluice::cli
