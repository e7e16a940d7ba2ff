#include "why_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/options_table.h"
#include "sluice/model/unknown_prices.h"
#include "sluice/support/human_units.h"
#include "text_bars.h"
#include "text_table.h"

namespace sluice::cli {
namespace {

constexpr std::size_t kRowsShown = 24;
constexpr double kFull = 0.9;  ///< of a memory: so full is called full

using Lines = std::vector<std::vector<std::string>>;

class WhyText {
 public:
  WhyText(const Console& console, const RunResult& result)
      : console_(console),
        result_(result),
        problem_(*result.problem),
        why_(*result.why),
        objective_(result.options->objectives.front()) {}

  std::string text() {
    einsums();
    limits();
    exchanges();
    holdings();
    shadow_prices();
    if (why_.n_answers < why_.n_questions)
      line(inked(console_, Ink::kYellow,
                 fmt::format("  {}: {} of {} questions were searched",
                             why_.is_interrupted ? "interrupted" : "the budget ended",
                             why_.n_answers, why_.n_questions)));
    return std::move(text_);
  }

 private:
  std::string si(double value, const char* unit) const {
    return human_si(value, unit, console_.ascii);
  }
  std::string amount(double objective) const {
    if (objective_ == Objective::kEnergy) return si(objective, "J");
    if (objective_ == Objective::kLatency) return si(objective, "s");
    return si(objective, console_.ascii ? "J*s" : "J·s");
  }
  std::string objective_title() const {
    return objective_ == Objective::kEdp ? "EDP" : objective_name(objective_);
  }
  void line(const std::string& text) { text_ += text + "\n"; }
  void heading(const std::string& name, const std::string& remark) {
    line("\n" + inked(console_, Ink::kBold, "Why: " + name) + "  " +
         inked(console_, Ink::kDim, remark));
  }

  /// The head, so many rows at most, and how many more there are.
  void table(const std::string& sides, std::vector<std::string> head, Lines rows) {
    const std::size_t all = rows.size();
    if (all > kRowsShown) rows.resize(kRowsShown);
    rows.insert(rows.begin(), std::move(head));
    text_ += text_table(sides, rows);
    if (all > kRowsShown)
      line(
          fmt::format("  and {} more in the result document (-o DIR or --json)", all - kRowsShown));
  }

  /// Largest part of the objective first.
  std::vector<EinsumAccount> by_cost() const {
    std::vector<EinsumAccount> sorted = why_.einsums;
    std::stable_sort(
        sorted.begin(), sorted.end(), [](const EinsumAccount& a, const EinsumAccount& b) {
          return a.objective_part.value_or(a.energy_j) > b.objective_part.value_or(b.energy_j);
        });
    return sorted;
  }

  /// The objective of an answer; infinite where it has none.
  static double number_of(const Answer& answer) {
    return answer.kind == Answer::Kind::kFound ? answer.objective
                                               : std::numeric_limits<double>::infinity();
  }

  /// What costs most to do otherwise first, before it what cannot be done.
  template <class Choice>
  static std::vector<Choice> worst_first(std::vector<Choice> choices) {
    std::stable_sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
      return number_of(a.other) > number_of(b.other);
    });
    return choices;
  }

  void einsums() {
    const bool has_alone = std::any_of(why_.einsums.begin(), why_.einsums.end(),
                                       [](const EinsumAccount& e) { return e.alone.has_value(); });
    const std::string share = "of " + objective_title();
    heading(
        "Einsums",
        fmt::format("what each costs, its part of the {}{}", objective_title(),
                    has_alone ? ", and the best mapping of it alone" + constraint_remark() : ""));
    std::vector<std::string> head = {"", "energy", "latency", share};
    if (has_alone)
      for (const char* name : {"alone: energy", "latency", "guarantee"}) head.emplace_back(name);
    Lines rows;
    for (const EinsumAccount& account : by_cost()) rows.push_back(einsum_row(account));
    table(has_alone ? "lrrrrrl" : "lrrr", std::move(head), std::move(rows));
  }

  std::string constraint_remark() const {
    return result_.options->constraints == Constraints{} ? "" : ", without constraints";
  }

  std::vector<std::string> einsum_row(const EinsumAccount& account) const {
    std::vector<std::string> row = {
        problem_.workload[account.einsum].name, si(account.energy_j, "J"),
        si(account.latency_s + account.collectives_s, "s"),
        account.objective_part ? human_percent(*account.objective_part / why_.objective) : "-"};
    if (!account.alone) return row;
    if (account.alone->kind != Answer::Kind::kFound) {
      row.push_back("  " + reason_of(*account.alone));
      return row;
    }
    row.push_back(si(account.alone->energy_j, "J"));
    row.push_back(si(account.alone->latency_s, "s"));
    row.push_back(guarantee_of(*account.alone));
    return row;
  }

  void limits() {
    const bool is_overlap = result_.latency == LatencyPolicy::kOverlap;
    heading(
        "limits",
        std::string("what each Einsum waits for, what is busy next, and its use of the computes") +
            (is_overlap ? "" : ", busy as under overlap"));
    Lines rows;
    for (const EinsumAccount& account : by_cost()) {
      std::vector<std::string> row = {problem_.workload[account.einsum].name};
      for (std::size_t i = 0; i < 2; ++i) row.push_back(busy_text(account, i));
      row.push_back(account.compute_use ? human_percent(*account.compute_use) : "-");
      rows.push_back(std::move(row));
    }
    table("lllr", {"", "waits for", "then", "of peak"}, std::move(rows));
    line("  " + full_memories());
    const std::vector<std::string> unknown = unknown_times(problem_.arch);
    if (!unknown.empty())
      line(fmt::format("  no throughput is known for {}: it takes no time here",
                       fmt::join(unknown, ", ")));
  }

  /// `GlobalBuffer bandwidth, 43.0 % busy`
  std::string busy_text(const EinsumAccount& account, std::size_t place) const {
    if (place >= account.busy.size()) return "-";
    const BusyComponent& busy = account.busy[place];
    const double total = account.latency_s + account.collectives_s;
    return fmt::format("{} ({}), {} busy", problem_.arch[busy.component].name,
                       kind_of(problem_.arch[busy.component]),
                       human_percent(total > 0 ? busy.latency_s / total : 0));
  }

  static const char* kind_of(const Component& component) {
    if (component.is_compute()) return "compute";
    return std::holds_alternative<Network>(component.kind) ? "network" : "bandwidth";
  }

  std::string full_memories() const {
    std::vector<std::string> full;
    double fullest = 0;
    for (const OccupancyRow& row : result_.outcomes.front().cost->occupancy) {
      if (!std::isfinite(row.capacity_bits) || row.capacity_bits <= 0) continue;
      const double share = row.peak_bits / row.capacity_bits;
      fullest = std::max(fullest, share);
      if (share >= kFull)
        full.push_back(fmt::format("{} {} ({} of {})", problem_.arch[row.component].name,
                                   human_percent(share), human_size(row.peak_bits),
                                   human_size(row.capacity_bits)));
    }
    if (!full.empty()) return fmt::format("full: {}", fmt::join(full, ", "));
    return fmt::format("no memory is more than {} full", human_percent(fullest));
  }

  void exchanges() {
    if (why_.exchanges.empty()) return;
    heading("exchanges", "the best mapping where one tensor is not exchanged as here");
    Lines rows;
    for (const ExchangeChoice& choice : worst_first(why_.exchanges)) {
      std::vector<std::string> row = {problem_.workload[choice.tensor].name,
                                      choice.memory ? problem_.arch[*choice.memory].name : "-",
                                      choice.on_chip ? "off chip" : "on chip"};
      add_answer(choice.other, &row);
      rows.push_back(std::move(row));
    }
    table("lllrrl", {"", "held in", "instead", objective_title(), "change", "guarantee"},
          std::move(rows));
  }

  void holdings() {
    if (why_.holdings.empty()) return;
    heading("memories", "the best mapping where one memory does otherwise for one tensor");
    Lines rows;
    for (const HoldingChoice& choice : worst_first(why_.holdings)) {
      std::vector<std::string> row = {problem_.arch[choice.memory].name,
                                      problem_.workload[choice.tensor].name,
                                      choice.is_held ? "not held" : "held"};
      add_answer(choice.other, &row);
      rows.push_back(std::move(row));
    }
    table("lllrrl", {"", "tensor", "instead", objective_title(), "change", "guarantee"},
          std::move(rows));
  }

  /// Largest gain first; then those that have no number.
  void shadow_prices() {
    heading("shadow prices",
            fmt::format("the least {} with twice as much of one thing; {} now{}", objective_title(),
                        amount(why_.objective), why_.is_proven ? "" : ", which is not proven"));
    std::vector<ShadowPrice> sorted = why_.shadow_prices;
    std::stable_sort(sorted.begin(), sorted.end(), [](const ShadowPrice& a, const ShadowPrice& b) {
      return number_of(a.answer) < number_of(b.answer);
    });
    Lines rows;
    for (const ShadowPrice& price : sorted) {
      std::vector<std::string> row = {problem_.arch[price.component].name, what_of(price)};
      add_answer(price.answer, &row);
      rows.push_back(std::move(row));
    }
    table("llrrl", {"", "twice", objective_title(), "change", "guarantee"}, std::move(rows));
  }

  /// `size, 1 MiB to 2 MiB`
  std::string what_of(const ShadowPrice& price) const {
    const std::string name =
        resource_name(price.resource) + (price.dimension.empty() ? "" : " " + price.dimension);
    if (!price.from || !price.to) return name;
    const auto text = [&](double value) -> std::string {
      switch (price.resource) {
        case Resource::kSize:
          return human_size(value);
        case Resource::kFanout:
          return human_count(value);
        case Resource::kThroughput:
          break;
      }
      return rate_text(problem_.arch[price.component], value);
    };
    return fmt::format("{}, {} to {}", name, text(*price.from), text(*price.to));
  }

  /// Actions a second as what they move or do.
  std::string rate_text(const Component& component, double rate) const {
    constexpr double kBitsInByte = 8;
    if (component.is_compute()) return si(rate, "ops/s");
    double bits = std::holds_alternative<Network>(component.kind) ? 1 : 0;
    for (const Action& action : component.actions) {
      const bool is_other = bits != 0 && bits != action.bits_per_action;
      if (action.values_per_action || is_other) return si(rate, "actions/s");
      bits = action.bits_per_action;
    }
    return si(rate * bits / kBitsInByte, "B/s");
  }

  void add_answer(const Answer& answer, std::vector<std::string>* row) const {
    if (answer.kind != Answer::Kind::kFound) {
      row->push_back("  " + reason_of(answer));
      return;
    }
    row->push_back(amount(answer.objective));
    row->push_back(change_of(answer));
    row->push_back(guarantee_of(answer));
  }

  std::string change_of(const Answer& answer) const {
    if (!(why_.objective > 0)) return "-";
    const double percent = 100 * (answer.objective / why_.objective - 1);
    constexpr double kShown = 0.05;
    if (percent == 0) return "0 %";
    if (std::abs(percent) < kShown) return percent < 0 ? "> -0.1 %" : "< +0.1 %";
    return fmt::format("{:+.1f} %", percent);
  }

  std::string guarantee_of(const Answer& answer) const {
    switch (answer.guarantee.kind) {
      case GuaranteeKind::kOptimal:
        return "proven";
      case GuaranteeKind::kWithinEpsilon:
        return fmt::format("within {}", human_percent(answer.guarantee.epsilon));
      case GuaranteeKind::kGap:
        if (answer.guarantee.bound > 0)
          return fmt::format("gap: at least {}", amount(answer.guarantee.bound));
        break;
      case GuaranteeKind::kNone:
        break;
    }
    return "none";
  }

  static std::string reason_of(const Answer& answer) {
    switch (answer.kind) {
      case Answer::Kind::kNoMapping:
        return "none: " + answer.reason;
      case Answer::Kind::kNothingFound:
        return "nothing found: " + answer.reason;
      case Answer::Kind::kNotSearched:
      case Answer::Kind::kFound:
        break;
    }
    return "not searched: " + answer.reason;
  }

  const Console& console_;
  const RunResult& result_;
  const BoundProblem& problem_;
  const Explanation& why_;
  Objective objective_;
  std::string text_;
};

}  // namespace

std::string why_text(const Console& console, const RunResult& result) {
  return WhyText(console, result).text();
}

}  // namespace sluice::cli
