#include "summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cost_shares.h"
#include "efficiency_text.h"
#include "mapper/request/idle_constraints.h"
#include "mapper/request/search_space.h"
#include "report/document/account_rows.h"
#include "report/document/disagreements.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/options_table.h"
#include "sluice/mapping/drawing.h"
#include "sluice/model/stalls.h"
#include "sluice/model/unknown_prices.h"
#include "sluice/support/human_units.h"
#include "support/printable_text.h"
#include "text_bars.h"
#include "text_table.h"
#include "why_text.h"

namespace sluice::cli {
namespace {

constexpr std::size_t kEinsumsInTable = 8;
constexpr std::size_t kMappingsInTable = 20;
constexpr std::size_t kNumbersOfASource = 4;
constexpr std::size_t kLimitsNamed = 5;
constexpr std::size_t kStallsInTable = 8;

/// A list of names, cut after the first few.
std::string few_names(const std::vector<EinsumId>& einsums, const Workload& workload,
                      std::size_t most) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(most, einsums.size()); ++i)
    names.push_back(workload[einsums[i]].name);
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (einsums.size() > most) text += fmt::format(" and {} more", einsums.size() - most);
  return text;
}

class Summary {
 public:
  Summary(const Console& console, const RunResult& result)
      : console_(console), result_(result), problem_(*result.problem) {}

  std::string text() {
    title();
    if (!result_.mapper_reason.empty())
      line(inked(console_, Ink::kDim,
                 fmt::format("searched by the mapper {}: {}", result_.options->mapper,
                             result_.mapper_reason)));
    if (result_.no_mapping) no_mapping();
    if (result_.status == RunStatus::kInterrupted && result_.outcomes.empty())
      line(inked(console_, Ink::kYellow, "interrupted before a mapping was found"));
    if (result_.outcomes.size() > 1) table_of_mappings();
    if (result_.outcomes.size() == 1 || result_.guarantee)
      for (std::size_t i = 0; i < std::min<std::size_t>(1, result_.outcomes.size()); ++i)
        details(result_.outcomes[i]);
    else
      for (const MappingOutcome& outcome : result_.outcomes)
        if (!outcome.cost) reasons(outcome);
    if (result_.why) text_ += why_text(console_, result_);
    return std::move(text_);
  }

 private:
  std::string si(double value, const char* unit) const {
    return human_si(value, unit, console_.ascii);
  }
  std::string edp(double value) const { return si(value, console_.ascii ? "J*s" : "J·s"); }
  void line(const std::string& text) { text_ += text + "\n"; }
  void heading(const std::string& name, const std::string& remark = "") {
    text_ += "\n" + inked(console_, Ink::kBold, name) +
             (remark.empty() ? "" : "  " + inked(console_, Ink::kDim, remark)) + "\n";
  }
  void field(const std::string& name, const std::string& value) {
    text_ += "  " + pad_right(name, 11) + value + "\n";
  }

  void title() {
    const std::string workload =
        problem_.workload.name.empty() ? "workload" : problem_.workload.name;
    const std::string arch = problem_.arch.name.empty() ? "architecture" : problem_.arch.name;
    line(inked(console_, Ink::kBold, printable_text(workload + " on " + arch)));
  }

  void no_mapping() {
    const NoMapping& no = *result_.no_mapping;
    line("");
    line(inked(console_, Ink::kRed, no.proven ? "no legal mapping: " : "no mapping: ") + no.reason);
    if (!no.nearest_relaxation.empty())
      line(inked(console_, Ink::kGreen, "nearest change: ") + no.nearest_relaxation);
  }

  void table_of_mappings() {
    heading(fmt::format("{} mappings", result_.outcomes.size()));
    const std::vector<std::string> files = files_of_mappings();
    std::vector<std::vector<std::string>> rows = {{"#", "energy", "latency", "EDP"}};
    if (!files.empty()) rows.front().emplace_back("file");
    for (std::size_t m = 0; m < std::min(kMappingsInTable, result_.outcomes.size()); ++m) {
      const auto& cost = result_.outcomes[m].cost;
      std::vector<std::string> row = {std::to_string(m + 1)};
      for (const std::string& price :
           cost
               ? std::vector{si(cost->energy_j, "J"), si(cost->latency_s, "s"), edp(cost->edp_js())}
               : std::vector<std::string>{is_unpriced(cost.error()) ? "not priced yet" : "illegal",
                                          "", ""})
        row.push_back(price);
      if (!files.empty()) row.push_back(files[m]);
      rows.push_back(std::move(row));
    }
    text_ += text_table(files.empty() ? "rrrr" : "rrrrl", rows);
    if (result_.outcomes.size() > kMappingsInTable)
      line(fmt::format("   and {} more in the result document (-o DIR or --json)",
                       result_.outcomes.size() - kMappingsInTable));
    if (result_.guarantee) line("\nThe first of them:");
  }

  /// The file that each mapping stands in; nothing where they were not read from files.
  std::vector<std::string> files_of_mappings() const {
    std::vector<std::string> files;
    for (const MappingOutcome& outcome : result_.outcomes) {
      if (outcome.places.empty()) return {};
      const SourceLocation& place = outcome.places.front().location;
      files.push_back(printable_text(fmt::format("{}:{}", place.file, place.line)));
    }
    return files;
  }

  void details(const MappingOutcome& outcome) {
    if (!outcome.cost) {
      reasons(outcome);
    } else {
      headline(*outcome.cost);
      idle(outcome.mapping);
      energy(*outcome.cost);
      const std::vector<EinsumShare> shares = cost_by_einsum(*outcome.cost);
      if (outcome.cost->breakdown.empty() || std::isnan(outcome.cost->latency_s)) {
        latency(*outcome.cost, shares);
      } else {
        latency_by_part(*outcome.cost);
        if (result_.latency == LatencyPolicy::kStaged) stalls(outcome.mapping, *outcome.cost);
      }
      utilisation(*outcome.cost);
      bounds(*outcome.cost);
      occupancy(*outcome.cost);
      sources();
      einsums(*outcome.cost, shares);
      fusion(*outcome.cost);
    }
    mapping(outcome.mapping);
  }

  /// Why there is no price: what is illegal, and what the model has no price for.
  void reasons(const MappingOutcome& outcome) {
    std::vector<std::string> illegal, unpriced;
    for (const Violation& violation : outcome.cost.error()) {
      std::string reason = violation.message;
      if (const NodePlace* place = place_of(outcome.mapping, outcome.places, violation.node_path))
        reason = fmt::format("{}:{}:{}: {}", place->location.file, place->location.line,
                             place->location.column, reason);
      auto& texts = violation.kind == ViolationKind::kUnsupportedNode ? unpriced : illegal;
      if (std::find(texts.begin(), texts.end(), reason) == texts.end()) texts.push_back(reason);
    }
    list_reasons(inked(console_, Ink::kRed, "illegal"), illegal);
    list_reasons(inked(console_, Ink::kYellow, "cannot be priced yet"), unpriced);
  }

  void list_reasons(const std::string& what, const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    line("");
    line(fmt::format("{}, for {} reason{}", what, texts.size(), texts.size() == 1 ? ":" : "s:"));
    for (const std::string& text : texts) line("  - " + printable_text(text));
  }

  void headline(const Cost& cost) {
    line("");
    std::string latency = si(cost.latency_s, "s");
    if (cost.latency_cycles)
      latency += fmt::format("  ({} cycles)", human_count(*cost.latency_cycles));
    field("energy", inked(console_, Ink::kBold, si(cost.energy_j, "J")) +
                        (cost.leak_energy_j > 0
                             ? fmt::format("  ({} of it leakage)",
                                           human_percent(cost.leak_energy_j / cost.energy_j))
                             : ""));
    field("latency", inked(console_, Ink::kBold, latency) + policy_remark());
    field("EDP", inked(console_, Ink::kBold, edp(cost.edp_js())));
    for (const auto& [name, value] : rates_text(console_, problem_, cost)) field(name, value);
    if (result_.status == RunStatus::kInterrupted)
      field("found", inked(console_, Ink::kYellow, "interrupted: the best so far") + orders());
    const bool is_known = result_.status != RunStatus::kInterrupted ||
                          (result_.guarantee && result_.guarantee->kind != GuaranteeKind::kNone);
    if (result_.guarantee && is_known) field("guarantee", guarantee(*result_.guarantee));
    leaves_out();
    if (result_.search) field("search", search(*result_.search));
  }

  /// Constraints that are kept for want of a node, which may not be what they were written for.
  void idle(const Mapping& mapping) {
    if (!result_.options) return;
    const auto names = idle_constraints(result_.options->constraints, problem_, mapping);
    if (names.empty()) return;
    field("", inked(console_, Ink::kYellow,
                    fmt::format("constraint{} {}: no node or loop of this mapping to apply to",
                                names.size() == 1 ? "" : "s", fmt::join(names, ", "))));
  }

  /// A search says what it minimised; what was only priced, where it is not the usual policy.
  std::string policy_remark() const {
    if (!result_.options && result_.latency == LatencyPolicy::kOverlap) return "";
    return "  under the policy " + result_.latency.name();
  }

  std::string guarantee(const Guarantee& guarantee) const {
    const std::string objective = objectives();
    switch (guarantee.kind) {
      case GuaranteeKind::kOptimal:
        return inked(console_, Ink::kGreen, "proven optimal for " + objective) + ", given " +
               guarantee.space;
      case GuaranteeKind::kWithinEpsilon:
        return inked(console_, Ink::kGreen,
                     fmt::format("proven within {} of the optimum for {}",
                                 human_percent(guarantee.epsilon), objective)) +
               ", given " + guarantee.space;
      case GuaranteeKind::kGap:
        return gap(guarantee, objective);
      case GuaranteeKind::kNone:
        break;
    }
    return "none; the best " + objective + " seen" +
           (guarantee.orders_explored < guarantee.orders_wanted ? orders() : "");
  }

  /// What the search minimises: "EDP", "energy and latency".
  std::string objectives() const {
    std::vector<std::string> names;
    for (const Objective objective : result_.options->objectives)
      names.push_back(objective == Objective::kEdp ? "EDP" : objective_name(objective));
    if (result_.options->resource_usage) names.push_back("peak occupancies");
    return fmt::format("{}", fmt::join(names, " and "));
  }

  /// Where not all orders of the Einsums were gone through that were asked for.
  std::string orders() const {
    if (!result_.guarantee || result_.guarantee->orders_wanted == 1) return "";
    return fmt::format(", {} of {} orders of the Einsums gone through",
                       result_.guarantee->orders_explored, result_.guarantee->orders_wanted);
  }

  /// What a proof is silent about.
  void leaves_out() {
    const bool is_proof = result_.guarantee && result_.guarantee->kind != GuaranteeKind::kNone;
    if (!is_proof || result_.guarantee->leaves_out.empty()) return;
    std::vector<SpaceLimit> shown = result_.guarantee->leaves_out;
    const std::size_t all = shown.size();
    if (all > kLimitsNamed) shown.resize(kLimitsNamed);
    const std::string more =
        all > shown.size() ? fmt::format(" and {} more (docs/mappers.md)", all - shown.size()) : "";
    field("", inked(console_, Ink::kDim, "leaves out " + names_of(shown) + more));
  }

  static std::string times_or_percent(double ratio) {
    constexpr double kNear = 1.01;
    return ratio < kNear ? fmt::format("{:.2g} % above", 100 * (ratio - 1))
                         : fmt::format("{:.3g} times", ratio);
  }

  /// Of several objectives, the bound is that of the first.
  std::string gap(const Guarantee& guarantee, const std::string& objective) const {
    const Objective first = result_.options->objectives.front();
    const double found = objective_value(first, *result_.outcomes.front().cost);
    const std::string bound = first == Objective::kEnergy    ? si(guarantee.bound, "J")
                              : first == Objective::kLatency ? si(guarantee.bound, "s")
                                                             : edp(guarantee.bound);
    return fmt::format("best {} seen, not proven optimal: ", objective) +
           (guarantee.bound > 0
                ? times_or_percent(found / guarantee.bound) + " the lower bound of " + bound
                : "there is no lower bound above zero") +
           ", given " + guarantee.space + reported();
  }

  /// Where there are fewer mappings than were asked for.
  std::string reported() const {
    const auto wanted = static_cast<std::size_t>(result_.options->top);
    if (result_.outcomes.size() >= wanted) return "";
    return fmt::format("; {} of {} reported", result_.outcomes.size(), wanted);
  }

  std::string search(const SearchStatistics& search) const {
    std::string text = fmt::format(
        "{} on {} thread{}: {} mappings covered, {} evaluated", si(search.seconds, "s"),
        search.threads, search.threads == 1 ? "" : "s", human_count(search.mappings_considered),
        human_count(search.mappings_evaluated));
    const std::size_t n_einsums = problem_.workload.einsums.size();
    if (search.distinct_einsums > 0 && search.distinct_einsums < n_einsums)
      text += fmt::format(", {} of {} Einsums distinct", search.distinct_einsums, n_einsums);
    if (search.ended_by == "memory")
      text += ", ended at the limit of memory (--memory)";
    else if (search.ended_by == "templates")
      text += ", drawn from too many templates (--max-templates)";
    else if (!search.ended_by.empty())
      text += ", ended by the " + search.ended_by;
    return text;
  }

  void energy(const Cost& cost) {
    if (std::isnan(cost.energy_j)) {
      heading("Energy", "unknown: some energies per action are null");
      return;
    }
    std::vector<BarRow> rows;
    for (const ComponentEnergy& entry : energy_by_component(cost)) {
      std::vector<std::string> parts;
      for (const auto& [action, joule] : entry.by_action)
        parts.push_back(action + " " + si(joule, "J"));
      rows.push_back({problem_.arch[entry.component].name, entry.energy_j / cost.energy_j,
                      si(entry.energy_j, "J"), fmt::format("{}", fmt::join(parts, ", "))});
    }
    heading("Energy", "by component");
    text_ += bar_chart(console_, Ink::kYellow, rows);
  }

  std::string unknown_times_text() const {
    return fmt::format("no throughput is known for {}",
                       fmt::join(unknown_times(problem_.arch), ", "));
  }

  /// Einsums that run side by side take longer in all than the whole does.
  void latency(const Cost& cost, const std::vector<EinsumShare>& shares) {
    if (std::isnan(cost.latency_s)) {
      heading("Latency", "unknown: " + unknown_times_text());
      return;
    }
    double collectives_s = 0, own_s = 0;
    std::vector<EinsumId> makers;
    for (const EinsumShare& share : shares) {
      if (share.collectives_s > 0) makers.push_back(share.einsum);
      collectives_s += share.collectives_s;
      own_s += share.total_s();
    }
    const bool is_shared = own_s > cost.latency_s * (1 + 1e-9);
    const double all_s = is_shared ? own_s : cost.latency_s;
    std::vector<BarRow> rows;
    for (const Bottleneck& entry : bottlenecks(shares))
      rows.push_back({problem_.arch[entry.component].name, entry.latency_s / all_s,
                      si(entry.latency_s, "s"), few_names(entry.einsums, problem_.workload, 6)});
    if (!makers.empty())
      rows.push_back({"collectives", collectives_s / all_s, si(collectives_s, "s"),
                      few_names(makers, problem_.workload, 6)});
    if (rows.empty()) return;
    heading("Latency", is_shared ? "by the component that each Einsum waits for, of " +
                                       si(own_s, "s") + " that they take one by one"
                                 : "by the component that each Einsum waits for");
    text_ += bar_chart(console_, Ink::kBlue, rows);
  }

  static std::string times_that(double ratio) {
    return std::isnan(ratio) ? "" : fmt::format("; this mapping takes {:.3g} times that", ratio);
  }

  /// What the policy's own account says; its parts add up to the latency.
  void latency_by_part(const Cost& cost) {
    std::vector<BarRow> rows;
    for (const LatencyPart& part : cost.breakdown) {
      if (part.seconds == 0) continue;
      std::string name = part.name;
      std::replace(name.begin(), name.end(), '_', ' ');
      rows.push_back({name, part.seconds / cost.latency_s, si(part.seconds, "s"), ""});
    }
    if (rows.empty()) return;
    heading("Latency", "by what it is spent on under the policy " + result_.latency.name());
    text_ += bar_chart(console_, Ink::kBlue, rows);
  }

  /// Which stage waits for which tensors; the rows add up to the two kinds of stalls above.
  void stalls(const Mapping& mapping, const Cost& cost) {
    const std::vector<StallRow> rows = staged_stalls(problem_, mapping);
    if (rows.empty()) return;
    double compulsory_s = 0, optional_s = 0, others_s = 0;
    std::vector<std::string> lines;
    const auto add = [&](const char* kind, double seconds, const std::string& what) {
      lines.push_back("  " + pad_right(kind, 10) + " " + pad_left(si(seconds, "s"), 8) + " " +
                      pad_left(human_percent(seconds / cost.latency_s), 8) + "  " + what);
    };
    for (const StallRow& row : rows) {
      const bool is_shown = lines.size() < kStallsInTable;
      (is_compulsory(row) ? compulsory_s : optional_s) += row.seconds;
      if (!is_shown) others_s += row.seconds;
      if (is_shown)
        add(is_compulsory(row) ? "compulsory" : "optional", row.seconds, stall_text(row));
    }
    if (rows.size() > kStallsInTable)
      add("others", others_s, fmt::format("{} more", rows.size() - kStallsInTable));
    heading("Stalls", fmt::format("compulsory {}, optional {}, longest first",
                                  si(compulsory_s, "s"), si(optional_s, "s")));
    for (const std::string& text : lines) line(text);
  }

  static bool is_compulsory(const StallRow& row) {
    return row.kind == StallKind::kFirstFill || row.kind == StallKind::kLastDrain;
  }

  /// `first fill of W, X: DRAM to Buffer over NoC, in the stage of Z, 8 times`
  std::string stall_text(const StallRow& row) const {
    if (row.kind == StallKind::kOverlap)
      return "what busy components need beyond the stages, as under the policy overlap";
    std::vector<std::string> tensors, networks;
    for (const TensorId tensor : row.tensors) tensors.push_back(problem_.workload[tensor].name);
    for (const ComponentId network : row.networks) networks.push_back(problem_.arch[network].name);
    const bool is_drain = row.kind == StallKind::kLastDrain;
    const ComponentId from = is_drain ? *row.inner : *row.outer;
    const ComponentId to = is_drain ? *row.outer : *row.inner;
    const char* what = row.kind == StallKind::kFirstFill ? "first fill"
                       : is_drain                        ? "last drain"
                                                         : "transfers";
    return fmt::format("{} of {}: {} {} {}{}, in the stage of {}, {} time{}", what,
                       fmt::join(tensors, ", "), problem_.arch[from].name,
                       row.kind == StallKind::kTransfers ? "and" : "to", problem_.arch[to].name,
                       networks.empty() ? "" : fmt::format(" over {}", fmt::join(networks, ", ")),
                       few_names(row.einsums, problem_.workload, 3), human_count(row.times),
                       row.times == 1 ? "" : "s");
  }

  void utilisation(const Cost& cost) {
    const std::string bars = utilisation_bars(console_, problem_, cost);
    if (bars.empty()) return;
    heading("Utilisation", "work of all instances / what they could do in that time");
    text_ += bars;
  }

  /// Whether Einsums that run at the same time, each on a compute of its own, may be below.
  bool are_sequential(const CostBounds& bounds) const {
    return problem_.einsums.size() > 1 && !(bounds == concurrent_bounds(problem_));
  }

  /// Whether it is below what holds where memories keep what their rules ask for.
  static bool breaks_rules(const Cost& cost) {
    const auto is_below = [](double cost, double bound) { return cost < bound * (1 - 1e-9); };
    return is_below(cost.energy_j, cost.bounds.energy_floor_j) ||
           is_below(cost.latency_s, std::max(cost.bounds.compute_s, cost.bounds.memory_s));
  }

  void bounds(const Cost& cost) {
    const double roofline = std::max(cost.bounds.compute_s, cost.bounds.memory_s);
    heading(
        "Bounds",
        breaks_rules(cost)
            ? "of mappings that meet the rules of all memories (`keep`), which this one does not"
        : are_sequential(cost.bounds) ? "that no mapping with one Einsum at a time can beat"
                                      : "that no mapping can beat");
    if (roofline > 0)
      field("latency",
            fmt::format("{}, from {} (compute {}, memory {}){}", si(roofline, "s"),
                        cost.bounds.compute_s >= cost.bounds.memory_s ? "compute" : "memory",
                        si(cost.bounds.compute_s, "s"), si(cost.bounds.memory_s, "s"),
                        times_that(cost.latency_s / roofline)));
    if (cost.bounds.energy_floor_j > 0)
      field("energy", fmt::format("{}: compute with its operands, compulsory traffic, leakage{}",
                                  si(cost.bounds.energy_floor_j, "J"),
                                  times_that(cost.energy_j / cost.bounds.energy_floor_j)));
    if (const std::string text = roofline_text(console_, problem_, cost); !text.empty())
      field("roofline", text);
  }

  void occupancy(const Cost& cost) {
    heading("Occupancy", "peak of one instance / capacity");
    std::vector<BarRow> rows;
    for (const OccupancyRow& row : cost.occupancy) {
      if (!std::isfinite(row.capacity_bits) || row.capacity_bits <= 0) continue;
      rows.push_back({problem_.arch[row.component].name, row.peak_bits / row.capacity_bits,
                      human_size(row.peak_bits) + " / " + human_size(row.capacity_bits), ""});
    }
    text_ += bar_chart(console_, Ink::kGreen, rows);
    for (const OccupancyRow& row : cost.occupancy)
      if (!std::isfinite(row.capacity_bits) && row.peak_bits > 0)
        line(fmt::format("  {} {}, no limit", problem_.arch[row.component].name,
                         human_size(row.peak_bits)));
  }

  /// Numbers of the architecture that come from the component library.
  void sources() {
    if (!result_.shows_sources) return;
    if (result_.sources.empty()) {
      heading("Sources", "all numbers stand in the architecture's own file");
      return;
    }
    heading("Sources", "of energies, areas and leakage; all others stand in the architecture");
    for (std::size_t i = 0; i < result_.sources.size();) {
      const NumberSource& first = result_.sources[i];
      std::vector<std::string> numbers;
      for (; i < result_.sources.size() && result_.sources[i].component == first.component &&
             result_.sources[i].source == first.source;
           ++i)
        numbers.push_back(result_.sources[i].number);
      const std::size_t all = numbers.size();
      if (all > kNumbersOfASource) numbers.resize(kNumbersOfASource);
      line(fmt::format(
          "  {} {}{}", first.component, fmt::join(numbers, ", "),
          all > numbers.size() ? fmt::format(" and {} more", all - numbers.size()) : ""));
      line("    " + first.source);
    }
  }

  /// The Einsums that take longest (or, where nothing takes time, most energy).
  void einsums(const Cost& cost, const std::vector<EinsumShare>& shares) {
    if (shares.size() < 2) return;
    std::vector<EinsumShare> sorted = shares;
    const bool is_unknown = std::isnan(cost.latency_s);
    std::stable_sort(sorted.begin(), sorted.end(), [=](const EinsumShare& a, const EinsumShare& b) {
      return a.total_s() != b.total_s() && !is_unknown ? a.total_s() > b.total_s()
                                                       : a.energy_j > b.energy_j;
    });
    const std::size_t shown = std::min(kEinsumsInTable, sorted.size());
    heading("Einsums",
            (shown < sorted.size() ? fmt::format("the {} slowest of {}", shown, sorted.size())
                                   : "slowest first") +
                std::string(cost.breakdown.empty() ? "" : ", busy as under overlap"));
    std::vector<BarRow> rows;
    for (std::size_t i = 0; i < shown; ++i) {
      const EinsumShare& share = sorted[i];
      std::string remark = si(share.energy_j, "J");
      if (share.bottleneck) remark += ", waits for " + problem_.arch[*share.bottleneck].name;
      if (share.collectives_s > 0) remark += ", collectives " + si(share.collectives_s, "s");
      rows.push_back(
          {problem_.workload[share.einsum].name,
           cost.latency_s > 0 ? share.total_s() / cost.latency_s : share.energy_j / cost.energy_j,
           is_unknown ? "unknown" : si(share.total_s(), "s"), remark});
    }
    text_ += bar_chart(console_, Ink::kBlue, rows);
  }

  void fusion(const Cost& cost) {
    const auto& groups = cost.fusion_groups;
    if (groups.size() < 2 && shares_count(groups) < 2) return;
    const auto fused = std::count_if(groups.begin(), groups.end(),
                                     [](const auto& group) { return group.size() > 1; });
    heading("Fusion",
            fmt::format("{} Einsums in {} group{}, {} of them fused", shares_count(groups),
                        groups.size(), groups.size() == 1 ? "" : "s", fused));
    for (const std::vector<EinsumId>& group : groups)
      if (group.size() > 1) line("  " + few_names(group, problem_.workload, 8));
  }

  static std::size_t shares_count(const std::vector<std::vector<EinsumId>>& groups) {
    return std::accumulate(groups.begin(), groups.end(), std::size_t{0},
                           [](std::size_t sum, const auto& group) { return sum + group.size(); });
  }

  void mapping(const Mapping& mapping) {
    heading("Mapping");
    DrawingOptions options;
    options.ascii = console_.ascii;
    options.compact = true;
    options.width = console_.width;
    options.bits_per_value = bits_in(problem_);
    text_ += to_drawing(mapping, problem_.workload, problem_.arch, options);
  }

  const Console& console_;
  const RunResult& result_;
  const BoundProblem& problem_;
  std::string text_;
};

}  // namespace

std::string summary_text(const Console& console, const RunResult& result) {
  return Summary(console, result).text();
}

}  // namespace sluice::cli
