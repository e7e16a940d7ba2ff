#include "sluice/mapper/options_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>

#include "sluice/support/diagnostic.h"
#include "sluice/support/error.h"

namespace sluice {
namespace {

using SetResult = tl::expected<void, std::string>;

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A whole number, also as `1e3`.
template <class Integer>
std::optional<Integer> parse_whole(std::string_view text) {
  if (const auto value = parse_number<Integer>(text)) return value;
  constexpr double kExact = 0x1p53;  // beyond it doubles leave whole numbers out
  const auto value = parse_number<double>(text);
  if (!value || std::floor(*value) != *value || std::abs(*value) > kExact) return std::nullopt;
  if (*value < static_cast<double>(std::numeric_limits<Integer>::min()) ||
      *value > static_cast<double>(std::numeric_limits<Integer>::max()))
    return std::nullopt;
  return static_cast<Integer>(*value);
}

SetResult expected_one_of(const std::string& what) {
  return tl::make_unexpected("expected " + what);
}

/// As above; a misspelt word gets the nearest one.
SetResult expected_one_of(const std::string& what, const std::string& word,
                          const std::vector<std::string>& words) {
  const std::string nearest = nearest_name(word, words);
  return expected_one_of(what + (nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
}

/// An integer of at least `minimum`, or `inf` for no limit.
SetResult set_limit(int& field, const std::string& text, int minimum) {
  if (text == "inf") {
    field = kUnlimitedLoops;
    return {};
  }
  const auto value = parse_whole<int>(text);
  if (!value || *value < minimum)
    return expected_one_of(fmt::format("a whole number from {} on, or inf", minimum));
  field = *value;
  return {};
}

std::string limit_text(int limit) {
  return limit == kUnlimitedLoops ? "inf" : std::to_string(limit);
}

SetResult set_integer(int& field, const std::string& text, int minimum, int maximum) {
  const auto value = parse_whole<int>(text);
  if (!value || *value < minimum || *value > maximum)
    return expected_one_of(fmt::format("a whole number from {} to {}", minimum, maximum));
  field = *value;
  return {};
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    const auto first = part.find_first_not_of(" []");
    const auto last = part.find_last_not_of(" []");
    parts.push_back(first == std::string::npos ? "" : part.substr(first, last - first + 1));
  }
  return parts;
}

SetResult set_objectives(MapperOptions& options, const std::string& text) {
  std::vector<Objective> objectives;
  bool resource_usage = false;
  for (const std::string& name : split_at_commas(text)) {
    const auto& table = objective_table();
    const auto found = std::find_if(table.begin(), table.end(),
                                    [&](const ObjectiveInfo& info) { return info.name == name; });
    if (name == "resources") {
      resource_usage = true;
    } else if (found == table.end()) {
      return expected_one_of("energy, latency, edp, or several of them and resources with commas",
                             name, {"energy", "latency", "edp", "resources"});
    } else if (std::find(objectives.begin(), objectives.end(), found->objective) ==
               objectives.end()) {
      objectives.push_back(found->objective);
    }
  }
  if (objectives.empty()) return expected_one_of("at least one of energy, latency, edp");
  options.objectives = objectives;
  options.resource_usage = resource_usage;
  return {};
}

std::string objectives_text(const MapperOptions& options) {
  std::vector<std::string> names;
  for (const Objective objective : options.objectives) names.push_back(objective_name(objective));
  if (options.resource_usage) names.push_back("resources");
  return fmt::format("{}", fmt::join(names, ","));
}

struct BudgetUnit {
  const char* name;
  double seconds;  ///< 0: it counts mappings
};
// Those that others end with come last.
constexpr BudgetUnit kBudgetUnits[] = {
    {"evals", 0}, {"ms", 1e-3}, {"min", 60}, {"h", 3600}, {"s", 1}};

/// `60s`, `1e6evals`, both with a comma, or none.
SetResult set_budget(MapperOptions& options, const std::string& text) {
  std::optional<double> seconds, evaluations;
  for (const std::string& part :
       text == "none" ? std::vector<std::string>{} : split_at_commas(text)) {
    const auto unit = std::find_if(
        std::begin(kBudgetUnits), std::end(kBudgetUnits),
        [&](const BudgetUnit& own) { return part.ends_with(std::string_view(own.name)); });
    std::optional<double> value;
    if (unit != std::end(kBudgetUnits))
      value = parse_number<double>(
          std::string_view(part).substr(0, part.size() - std::string_view(unit->name).size()));
    const bool counts = value && unit->seconds == 0;
    std::optional<double>& field = counts ? evaluations : seconds;
    if (!value || !(*value > 0) || !std::isfinite(*value) || field)
      return expected_one_of(
          "a positive time such as 60s, 500ms or 5min, a number of mappings to price such as "
          "1e6evals, one of each with a comma, or none");
    field = counts ? std::max(1.0, std::floor(*value)) : *value * unit->seconds;
  }
  if (text.empty()) return expected_one_of("a budget, or none");
  options.budget_seconds = seconds;
  options.budget_evaluations = evaluations;
  return {};
}

std::string budget_text(const MapperOptions& options) {
  std::vector<std::string> parts;
  if (options.budget_seconds) parts.push_back(fmt::format("{}s", *options.budget_seconds));
  if (options.budget_evaluations)
    parts.push_back(fmt::format("{}evals", *options.budget_evaluations));
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ","));
}

struct MemoryUnit {
  std::string_view name;
  double bytes;
};
constexpr MemoryUnit kMemoryUnits[] = {{"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30},
                                       {"kB", 1e3},     {"MB", 1e6},     {"GB", 1e9}};

/// `8GiB`, or none.
SetResult set_memory(MapperOptions& options, const std::string& text) {
  options.memory_bytes.reset();
  if (text == "none") return {};
  for (const MemoryUnit& unit : kMemoryUnits) {
    if (!text.ends_with(unit.name)) continue;
    const auto value =
        parse_number<double>(std::string_view(text).substr(0, text.size() - unit.name.size()));
    if (value && *value > 0 && std::isfinite(*value)) options.memory_bytes = *value * unit.bytes;
  }
  if (options.memory_bytes) return {};
  return expected_one_of("a size such as 8GiB or 500MB, or none");
}

std::string memory_text(const MapperOptions& options) {
  if (!options.memory_bytes) return "none";
  return fmt::format("{}MiB", *options.memory_bytes / 0x1p20);
}

struct PruningRule {
  std::string_view name;
  bool PruningRules::*field;
};
constexpr PruningRule kPruningRules[] = {
    {"dominance", &PruningRules::dominance},
    {"convex_hull", &PruningRules::convex_hull},
    {"bounds", &PruningRules::bounds},
    {"isomorphic_einsums", &PruningRules::isomorphic_einsums},
    {"reservation_relevance", &PruningRules::reservation_relevance},
    {"dead_ends", &PruningRules::dead_ends},
    {"graph_first", &PruningRules::graph_first},
    {"held_bounds", &PruningRules::held_bounds},
    {"redundant_templates", &PruningRules::redundant_templates},
    {"chains", &PruningRules::chains},
};

std::vector<std::string> pruning_rule_names() {
  std::vector<std::string> names;
  for (const PruningRule& rule : kPruningRules) names.emplace_back(rule.name);
  return names;
}

SetResult set_disabled_rules(MapperOptions& options, const std::string& text) {
  PruningRules rules;
  for (const std::string& name :
       text == "none" ? std::vector<std::string>{} : split_at_commas(text)) {
    const auto* rule = std::find_if(std::begin(kPruningRules), std::end(kPruningRules),
                                    [&](const PruningRule& r) { return r.name == name; });
    if (rule == std::end(kPruningRules))
      return expected_one_of(
          fmt::format("none, or some of {}", fmt::join(pruning_rule_names(), ", ")), name,
          pruning_rule_names());
    rules.*(rule->field) = false;
  }
  options.pruning = rules;
  return {};
}

std::string disabled_rules_text(const MapperOptions& options) {
  std::vector<std::string_view> names;
  for (const PruningRule& rule : kPruningRules)
    if (!(options.pruning.*(rule.field))) names.push_back(rule.name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ","));
}

SetResult set_seed(MapperOptions& options, const std::string& text) {
  const auto value = parse_whole<std::uint64_t>(text);
  if (!value) return expected_one_of("a whole number from 0 to 2^64 - 1");
  options.seed = *value;
  return {};
}

SetResult set_epsilon(MapperOptions& options, const std::string& text) {
  const auto value = parse_number<double>(text);
  if (!value || !(*value >= 0 && *value <= 1)) return expected_one_of("a number from 0 to 1");
  options.epsilon = *value;
  return {};
}

SetResult set_einsum_orders(MapperOptions& options, const std::string& text) {
  if (text != "as-written" && text != "explore")
    return expected_one_of("as-written or explore", text, {"as-written", "explore"});
  options.explore_einsum_orders = text == "explore";
  return {};
}

constexpr std::pair<std::string_view, ImperfectFactors> kImperfectFactors[] = {
    {"none", ImperfectFactors::kNone},
    {"unfused", ImperfectFactors::kUnfused},
    {"all", ImperfectFactors::kAll},
};

SetResult set_imperfect_factors(MapperOptions& options, const std::string& text) {
  for (const auto& [name, value] : kImperfectFactors) {
    if (name != text) continue;
    options.imperfect_factors = value;
    return {};
  }
  return expected_one_of("none, unfused or all", text, {"none", "unfused", "all"});
}

SetResult set_latency(MapperOptions& options, const std::string& text) {
  const std::vector<std::string>& names = options.policies.names();
  const LatencyMethod* policy = options.policies.find(text);
  if (policy == nullptr)
    return expected_one_of(fmt::format("one of {}", fmt::join(names, ", ")), text, names);
  options.policy = *policy;
  return {};
}

SetResult set_row_fusion(MapperOptions& options, const std::string& text) {
  if (text != "true" && text != "false")
    return expected_one_of("true or false", text, {"true", "false"});
  options.row_fusion = text == "true";
  return {};
}

std::string imperfect_factors_text(const MapperOptions& options) {
  for (const auto& [name, value] : kImperfectFactors)
    if (value == options.imperfect_factors) return std::string(name);
  fail_internal_check("kImperfectFactors", __FILE__, __LINE__, "a choice without a name");
}

std::vector<MapperOption> make_table() {
  using Options = MapperOptions;
  using Text = std::string;
  return {
      {"mapper", "choice", "a name that `sluice list mappers` shows",
       "Search method; where none is given and fused cannot do what is asked, compound; for long "
       "networks with equal layers, layers first",
       [](Options& o, const Text& t) -> SetResult {
         o.mapper = t;
         return {};
       },
       [](const Options& o) { return o.mapper; }},
      {"objective", "choices",
       "energy, latency, edp; several with commas: their Pareto front; with resources: memory "
       "peaks too",
       "What to minimise", set_objectives, objectives_text},
      {"latency", "choice", fmt::format("{}", fmt::join(MapperOptions{}.policies.names(), ", ")),
       "Latency policy: how busy times become latency, as in `sluice evaluate`", set_latency,
       [](const Options& o) { return o.policy.name(); }},
      {"max_fused_loops", "integer", "0 … inf", "Most loops that an Einsum may share with others",
       [](Options& o, const Text& t) { return set_limit(o.max_fused_loops, t, 0); },
       [](const Options& o) { return limit_text(o.max_fused_loops); }},
      {"max_fused_loops_per_rank", "integer", "1 … inf", "Most shared loops over one rank",
       [](Options& o, const Text& t) { return set_limit(o.max_fused_loops_per_rank, t, 1); },
       [](const Options& o) { return limit_text(o.max_fused_loops_per_rank); }},
      {"imperfect_factors", "choice", "none, unfused, all",
       "Which of the outermost loops over a variable may have a smaller last tile; only for fused, "
       "exhaustive and (unfused) compound",
       set_imperfect_factors, imperfect_factors_text},
      {"row_fusion", "switch", "true, false",
       "Let an Einsum that reads windows of what another makes (`2*p+r`) take it row by row; only "
       "for "
       "fused and exhaustive",
       set_row_fusion, [](const Options& o) { return Text(o.row_fusion ? "true" : "false"); }},
      {"einsum_orders", "choice", "as-written, explore",
       "Run the Einsums in the order written, or try the other orders that respect the "
       "dependencies",
       set_einsum_orders,
       [](const Options& o) { return Text(o.explore_einsum_orders ? "explore" : "as-written"); }},
      {"epsilon", "number", "0 … 1",
       "With one objective: a mapping that is at most this share worse than the optimum is good "
       "enough",
       set_epsilon, [](const Options& o) { return fmt::format("{}", o.epsilon); }},
      {"max_templates", "integer", "1 … inf",
       "Most templates of an Einsum (where tensors stand, which loops there are) that fused tries "
       "one by one; of more it draws some, and proves nothing",
       [](Options& o, const Text& t) { return set_limit(o.max_templates, t, 1); },
       [](const Options& o) { return limit_text(o.max_templates); }},
      {"top", "integer", "1 … 1000", "How many mappings to report, best first",
       [](Options& o, const Text& t) { return set_integer(o.top, t, 1, 1000); },
       [](const Options& o) { return std::to_string(o.top); }},
      {"threads", "integer", "1 … 1024",
       "Threads to search with; the command line takes one a processor where none is given",
       [](Options& o, const Text& t) { return set_integer(o.threads, t, 1, 1024); },
       [](const Options& o) { return std::to_string(o.threads); }},
      {"budget", "budget", "`60s`, `500ms`, `5min`, `1e6evals`, `60s,1e6evals`, none",
       "Stop searching after this time, or so many mappings priced (not for fused), with the best "
       "so far",
       set_budget, budget_text},
      {"memory", "size", "`8GiB`, `500MB`, none",
       "End the search with the best so far where the program takes this much memory; the command "
       "line takes half of the machine's where none is given",
       set_memory, memory_text},
      {"seed", "integer", "0 … 2^64 - 1", "Seed of every random choice", set_seed,
       [](const Options& o) { return std::to_string(o.seed); }},
      {"disable_rules", "choices", fmt::format("{}; none", fmt::join(pruning_rule_names(), ", ")),
       "Switch off pruning rules, to check that the optimum does not move", set_disabled_rules,
       disabled_rules_text},
  };
}

/// `|` separates the columns of a Markdown table.
std::string table_row(const MapperOption& option) {
  return fmt::format("| `{}` | `{}` | {} | {} | `{}` | {} |\n", option.name, flag_of(option),
                     option.type, option.range, option.get(MapperOptions{}), option.help);
}

}  // namespace

const std::vector<MapperOption>& mapper_option_table() {
  static const std::vector<MapperOption> table = make_table();
  return table;
}

const MapperOption* find_mapper_option(const std::string& name) {
  for (const MapperOption& option : mapper_option_table())
    if (option.name == name) return &option;
  return nullptr;
}

std::string flag_of(const MapperOption& option) {
  std::string flag = "--" + option.name;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::string mapper_options_as_markdown() {
  std::string page =
      "# Search options\n\n"
      "Each is a flag of `sluice map` and a key of the `mapper:` section of a spec file; a flag "
      "wins over a file.\n"
      "This page is made from the table in `src/mapper/request/options_table.cpp` (`./dev golden "
      "--update`).\n\n"
      "| key | flag | type | values | default | meaning |\n|---|---|---|---|---|---|\n";
  for (const MapperOption& option : mapper_option_table()) page += table_row(option);
  return page;
}

std::string searched_space(const MapperOptions& options) {
  std::string factors = "perfect factors";
  if (options.imperfect_factors != ImperfectFactors::kNone)
    factors = "imperfect factors of " + imperfect_factors_text(options) + " outermost loops";
  const bool overlaps = options.policy == LatencyPolicy::kOverlap;
  return fmt::format("no recomputation, {}{}, max_fused_loops={} ({} per rank){}{}", factors,
                     options.row_fusion ? ", row by row" : "", limit_text(options.max_fused_loops),
                     limit_text(options.max_fused_loops_per_rank),
                     options.constraints == Constraints{} ? "" : ", within the constraints",
                     overlaps ? "" : ", latency " + options.policy.name());
}

const std::vector<ObjectiveInfo>& objective_table() {
  static const std::vector<ObjectiveInfo> table = {
      {Objective::kEnergy, "energy", "total energy, leakage included"},
      {Objective::kLatency, "latency", "time from the first to the last Einsum"},
      {Objective::kEdp, "edp", "energy-delay product, energy times latency"},
  };
  return table;
}

std::string objective_name(Objective objective) {
  for (const ObjectiveInfo& info : objective_table())
    if (info.objective == objective) return info.name;
  fail_internal_check("objective_table", __FILE__, __LINE__, "an objective without a name");
}

}  // namespace sluice
