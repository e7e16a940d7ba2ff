#include "design_text.h"

#include <fmt/format.h>

#include <cmath>

#include "report/text/text_table.h"
#include "sluice/support/human_units.h"
#include "support/printable_text.h"

namespace sluice::cli {
namespace {

class DesignText {
 public:
  DesignText(const Console& console, const DesignResult& result)
      : console_(console), result_(result) {}

  std::string text() const {
    std::string text = result_.best ? best(*result_.best) : none();
    text += fmt::format("\n  {} design{}", result_.n_designs, result_.n_designs == 1 ? "" : "s");
    if (result_.n_over_area > 0)
      text += fmt::format(", {} over the budget of area", result_.n_over_area);
    if (result_.n_over_power > 0)
      text += fmt::format(", {} over that of power", result_.n_over_power);
    text += fmt::format("; {} looked at in {} search{}, {}\n", result_.n_looks, result_.n_searches,
                        result_.n_searches == 1 ? "" : "es",
                        human_si(result_.seconds, "s", console_.ascii));
    return text;
  }

 private:
  std::string none() const {
    if (result_.is_proven)
      return inked(console_, Ink::kRed, "no design: ") +
             "none has a legal mapping of every workload within the budgets\n" + distances();
    return inked(console_, Ink::kYellow, "no design was searched to its end") + "\n";
  }

  /// How far the budgets are from what there is.
  std::string distances() const {
    std::string text;
    if (result_.n_over_area > 0)
      text += fmt::format("  the least area of any design is {}; the budget is {}\n",
                          area(*result_.least_area_m2), area(*result_.area_budget_m2));
    if (result_.n_over_power > 0)
      text += fmt::format(
          "  the least power that any of the others draws with its best mappings is {}; the budget "
          "is {}\n",
          power(*result_.least_power_w), power(*result_.power_budget_w));
    return text;
  }

  /// With digits enough to tell a budget from what is just above it.
  std::string area(double m2) const {
    return fmt::format("{:.4g} {}", m2 * 1e6, console_.ascii ? "mm2" : "mm²");
  }

  static std::string power(double watt) { return fmt::format("{:.4g} W", watt); }

  std::string best(const DesignCandidate& best) const {
    std::string text = inked(console_, Ink::kBold, "Best design") + "\n";
    std::vector<std::vector<std::string>> lines;
    for (const auto& [name, value] : best.settings)
      lines.push_back({printable_text(name), printable_text(value)});
    lines.push_back({objective_title(), objective(best.objective)});
    if (best.area_m2)
      lines.push_back(
          {"area", fmt::format("{:.3g} {}", *best.area_m2 * 1e6, console_.ascii ? "mm2" : "mm²")});
    lines.push_back({"guarantee", guarantee(best)});
    text += text_table("ll", lines);
    text += "\n" + inked(console_, Ink::kBold, "Workloads") + "\n";
    lines = {{"", "weight", "energy", "latency", "power", objective_title()}};
    for (const DesignOutcome& outcome : best.outcomes)
      lines.push_back({printable_text(outcome.workload), fmt::format("{}", outcome.weight),
                       human_si(outcome.energy_j, "J", console_.ascii),
                       human_si(outcome.latency_s, "s", console_.ascii),
                       outcome.power_w ? human_si(*outcome.power_w, "W", console_.ascii) : "",
                       objective(outcome.objective)});
    return text + text_table("lrrrrr", lines);
  }

  std::string objective_title() const {
    return result_.objective == "edp" ? "EDP" : result_.objective;
  }

  std::string objective(double value) const {
    const char* unit = result_.objective == "energy"    ? "J"
                       : result_.objective == "latency" ? "s"
                       : console_.ascii                 ? "J*s"
                                                        : "J·s";
    return human_si(value, unit, console_.ascii);
  }

  std::string guarantee(const DesignCandidate& best) const {
    if (result_.is_proven)
      return inked(console_, Ink::kGreen, "proven best of all designs within the budgets");
    const std::string why = result_.is_cancelled ? "interrupted; " : "";
    if (result_.bound > 0)
      return inked(console_, Ink::kYellow,
                   fmt::format("{}{:.3g} times what no design is below", why,
                               best.objective / result_.bound));
    return inked(console_, Ink::kYellow, why + "best seen, nothing is proven");
  }

  const Console& console_;
  const DesignResult& result_;
};

}  // namespace

std::string design_text(const Console& console, const DesignResult& result) {
  return DesignText(console, result).text();
}

}  // namespace sluice::cli
