#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <queue>
#include <set>

#include "design_grid.h"
#include "relaxed_arch.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/options_table.h"
#include "sluice/model/evaluate.h"
#include "sluice/support/error.h"
#include "sluice/support/failed.h"
#include "sluice/sweep/design.h"
#include "support/seconds_since.h"

namespace sluice {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-12;
/// Of a group with other prices than the relaxed design, so many are priced with its mappings.
constexpr std::size_t kSampledMembers = 8;

/// Designs that are bounded together.
struct Group {
  std::vector<std::size_t> members;
  double bound = 0;  ///< no member's objective is below
  bool is_looked_at = false;
  std::vector<std::string> donors;  ///< per workload: a mapping of a relaxed design around it
  std::size_t number = 0;           ///< order of making: the search is the same each time
};

struct IsWorse {
  bool operator()(const Group& a, const Group& b) const {
    return std::pair(a.bound, a.number) > std::pair(b.bound, b.number);
  }
};

/// What searches found for one architecture, relaxed or not; sums over workloads.
struct Look {
  double value = 0;                   ///< infinite: some workload has no mapping that was found
  double bound = 0;                   ///< infinite: some workload has none at all
  std::vector<std::string> mappings;  ///< per workload; empty without one
};

class DesignSearch {
 public:
  DesignSearch(const DesignRequest& request, DesignGrid grid, const DesignControl& control)
      : request_(request),
        control_(control),
        grid_(std::move(grid)),
        is_dead_(grid_.designs.size(), false) {
    result_.n_designs = grid_.designs.size();
    result_.objective = objective_name(objective());
    result_.area_budget_m2 = request_.area_budget_m2;
    result_.power_budget_w = request_.power_budget_w;
  }

  DesignResult run() {
    Group all;
    for (std::size_t d = 0; d < grid_.designs.size(); ++d) {
      const auto& area = grid_.designs[d].area_m2;
      if (request_.area_budget_m2)
        result_.least_area_m2 = std::min(result_.least_area_m2.value_or(kInfinite), *area);
      if (request_.area_budget_m2 && *area > *request_.area_budget_m2 * (1 + kRounding))
        ++result_.n_over_area;
      else
        all.members.push_back(d);
    }
    n_open_ = all.members.size();
    open(std::move(all));
    while (!open_.empty() && !is_over()) {
      Group group = open_.top();
      if (group.bound >= best_ * (1 - kRounding)) break;
      open_.pop();
      show(group.bound);
      if (group.is_looked_at)
        split(group);
      else
        look_at(std::move(group));
    }
    return finish();
  }

 private:
  Objective objective() const { return grid_.workloads.front().options.objectives.front(); }

  /// Of the whole search.
  std::optional<double> budget_seconds() const {
    return grid_.workloads.front().options.budget_seconds;
  }

  double seconds() const { return seconds_since(begin_); }

  bool is_over() const {
    return is_cancelled(control_.cancel) || (budget_seconds() && seconds() >= *budget_seconds());
  }

  void open(Group group) {
    std::erase_if(group.members, [this](std::size_t d) { return is_dead_[d]; });
    if (group.members.empty()) return;
    double least = kInfinite;
    for (const std::size_t d : group.members) least = std::min(least, grid_.designs[d].bound);
    group.bound = std::max(group.bound, least);
    group.number = n_groups_++;
    open_.push(std::move(group));
  }

  /// In two at the middle of the variable in which the members differ most.
  void split(const Group& group) {
    std::size_t variable = 0;
    std::vector<std::size_t> values;
    for (std::size_t v = 0; v < request_.variables.size(); ++v) {
      std::set<std::size_t> here;
      for (const std::size_t d : group.members) here.insert(grid_.designs[d].index[v]);
      if (here.size() <= values.size()) continue;
      variable = v;
      values.assign(here.begin(), here.end());
    }
    const std::size_t middle = values[values.size() / 2];
    Group lower = group, upper = group;
    std::erase_if(lower.members,
                  [&](std::size_t d) { return grid_.designs[d].index[variable] >= middle; });
    std::erase_if(upper.members,
                  [&](std::size_t d) { return grid_.designs[d].index[variable] < middle; });
    for (Group* half : {&lower, &upper}) {
      half->is_looked_at = false;
      open(std::move(*half));
    }
  }

  bool is_alike(const Group& group) const {
    const auto& first = grid_.designs[group.members.front()].skeletons;
    return std::all_of(group.members.begin(), group.members.end(),
                       [&](std::size_t d) { return grid_.designs[d].skeletons == first; });
  }

  bool can_relax() const {
    return std::all_of(grid_.workloads.begin(), grid_.workloads.end(), [](const SweepInputs& w) {
      return w.options.policy == LatencyPolicy::kOverlap;
    });
  }

  void look_at(Group group) {
    group.is_looked_at = true;
    const bool is_single = group.members.size() == 1;
    if (!is_single && (!can_relax() || !is_alike(group))) return open(std::move(group));
    const std::vector<Arch> archs = archs_for(group.members);
    const auto look = search(archs, group.donors);
    if (!look) return open(std::move(group));  // cancelled: its bound still counts
    if (std::isinf(look->bound)) return forget(group);
    group.bound = std::max(group.bound, look->bound);
    group.donors = look->mappings;
    if (is_single) return decide(group, *look);
    if (std::isfinite(look->value) && decides(group, archs, *look)) return forget(group);
    open(std::move(group));
  }

  std::vector<Arch> archs_for(const std::vector<std::size_t>& members) const {
    std::vector<Arch> archs;
    for (std::size_t w = 0; w < grid_.workloads.size(); ++w) {
      std::vector<const Arch*> all;
      for (const std::size_t d : members) all.push_back(&grid_.designs[d].archs[w]);
      archs.push_back(members.size() == 1 ? *all.front() : relaxed_arch(all));
    }
    return archs;
  }

  /// None where the search was cancelled.
  std::optional<Look> search(const std::vector<Arch>& archs,
                             const std::vector<std::string>& donors) {
    Look look;
    bool is_new = false;
    for (std::size_t w = 0; w < archs.size(); ++w) {
      const double weight = request_.workloads[w].weight;
      SweepInputs inputs = grid_.workloads[w];
      auto problem = bind(inputs.problem.workload, archs[w], inputs.problem.algorithms);
      SLUICE_CHECK(problem.has_value(), "a relaxed architecture does not bind");
      inputs.problem = std::move(*problem);
      const std::string key = sweep_key(inputs) + fmt::format("/{}", w);
      auto known = known_.find(key);
      if (known == known_.end()) {
        if (budget_seconds())
          inputs.options.budget_seconds = std::max(0.01, *budget_seconds() - seconds());
        auto run = search_point(inputs, donors.empty() ? "" : donors[w], control_.cancel,
                                control_.leftovers);
        if (!run) return std::nullopt;
        ++result_.n_searches;
        is_new = true;
        known = known_.emplace(key, std::move(*run)).first;
      }
      const SweepRun& run = known->second;
      const double floor = objective_bound(objective(), inputs.problem.bounds);
      const bool has_none = run.mappings.empty();
      const bool is_proven_none = has_none && run.guarantee == "optimal";
      look.value += weight * (has_none ? kInfinite : objective_of(run.mappings.front()));
      look.bound += weight * (is_proven_none ? kInfinite : std::max(floor, run.bound.value_or(0)));
      look.mappings.push_back(has_none ? "" : run.mappings.front().mapping);
    }
    if (is_new) ++result_.n_looks;
    return look;
  }

  double objective_of(const SweepMapping& mapping) const {
    return objective_value(objective(), mapping.energy_j, mapping.latency_s);
  }

  /// A design that was searched itself.
  void decide(const Group& group, const Look& look) {
    const std::size_t design = group.members.front();
    if (std::isfinite(look.value)) {
      const auto candidate = priced(design, mappings_of(grid_.designs[design].archs, look));
      SLUICE_CHECK(candidate.has_value(), "a mapping that was found is illegal");
      if (!within_power(*candidate)) {
        rule_out(design, *candidate);
        return forget(group);
      }
      take(*candidate, design);
    }
    if (look.bound < look.value * (1 - kRounding)) left_open_ = std::min(left_open_, look.bound);
    forget(group);
  }

  /// Prices the relaxed design's mappings on members: where one costs no more there, it is the best
  /// of that member, and no other member has a better one.
  bool decides(const Group& group, const std::vector<Arch>& relaxed, const Look& look) {
    const auto mappings = mappings_of(relaxed, look);
    std::vector<std::pair<double, std::size_t>> best;  // area, design
    std::map<std::size_t, DesignCandidate> candidates;
    const bool is_proven = look.bound >= look.value * (1 - kRounding);
    for (const std::size_t d : members_to_price(group, relaxed)) {
      auto candidate = priced(d, mappings);
      if (!candidate) continue;
      const bool is_best = is_proven && candidate->objective <= look.bound * (1 + kRounding);
      if (is_best && !within_power(*candidate)) {
        rule_out(d, *candidate);
      } else if (is_best) {
        best.emplace_back(candidate->area_m2.value_or(0), d);
        candidates.emplace(d, std::move(*candidate));
      } else if (!request_.power_budget_w) {
        take(*candidate, d);
      }
    }
    if (best.empty()) return false;
    const std::size_t chosen = std::min_element(best.begin(), best.end())->second;
    take(candidates.at(chosen), chosen);
    return true;
  }

  /// All that have the prices of the relaxed design, and some others for a first answer.
  std::vector<std::size_t> members_to_price(const Group& group,
                                            const std::vector<Arch>& relaxed) const {
    std::vector<std::size_t> members;
    const std::size_t stride = std::max<std::size_t>(1, group.members.size() / kSampledMembers);
    for (std::size_t m = 0; m < group.members.size(); ++m)
      if (m % stride == 0 || has_prices_of(grid_.designs[group.members[m]].archs, relaxed))
        members.push_back(group.members[m]);
    return members;
  }

  static bool has_prices_of(const std::vector<Arch>& archs, const std::vector<Arch>& relaxed) {
    for (std::size_t w = 0; w < archs.size(); ++w)
      for (std::size_t c = 0; c < archs[w].components.size(); ++c)
        for (std::size_t a = 0; a < archs[w].components[c].actions.size(); ++a)
          if (archs[w].components[c].actions[a] != relaxed[w].components[c].actions[a])
            return false;
    return true;
  }

  std::vector<Mapping> mappings_of(const std::vector<Arch>& archs, const Look& look) const {
    std::vector<Mapping> mappings;
    for (std::size_t w = 0; w < archs.size(); ++w) {
      auto specs = load_specs_from_text({{"workload", to_yaml(grid_.workloads[w].problem.workload)},
                                         {"arch", to_yaml(archs[w])},
                                         {"mapping", look.mappings[w]}},
                                        {});
      SLUICE_CHECK(specs && specs->mappings.size() == 1, "a mapping does not read back");
      mappings.push_back(std::move(specs->mappings.front()));
    }
    return mappings;
  }

  /// The design with these mappings; none where one of them is illegal on it.
  std::optional<DesignCandidate> priced(std::size_t design,
                                        const std::vector<Mapping>& mappings) const {
    const GridDesign& of = grid_.designs[design];
    DesignCandidate candidate{of.settings, of.area_m2, 0, {}, ""};
    for (std::size_t w = 0; w < mappings.size(); ++w) {
      const BoundProblem& first = grid_.workloads[w].problem;
      const auto problem = bind(first.workload, of.archs[w], first.algorithms);
      if (!problem) return std::nullopt;
      const auto cost = evaluate(*problem, mappings[w], grid_.workloads[w].options.policy);
      if (!cost) return std::nullopt;
      DesignOutcome outcome;
      outcome.workload = first.workload.name;
      outcome.weight = request_.workloads[w].weight;
      outcome.objective = objective_value(objective(), *cost);
      outcome.energy_j = cost->energy_j;
      outcome.latency_s = cost->latency_s;
      if (cost->latency_s > 0) outcome.power_w = cost->energy_j / cost->latency_s;
      outcome.mapping = to_yaml(mappings[w], problem->workload, problem->arch);
      candidate.objective += outcome.weight * outcome.objective;
      candidate.outcomes.push_back(std::move(outcome));
    }
    return candidate;
  }

  bool within_power(const DesignCandidate& candidate) const {
    return !request_.power_budget_w ||
           std::all_of(candidate.outcomes.begin(), candidate.outcomes.end(),
                       [this](const DesignOutcome& outcome) {
                         return outcome.power_w.value_or(0) <=
                                *request_.power_budget_w * (1 + kRounding);
                       });
  }

  /// Of equal ones the one that was there first, unless the other is smaller.
  void take(const DesignCandidate& candidate, std::size_t design) {
    const bool is_smaller = result_.best && candidate.objective == best_ &&
                            candidate.area_m2.value_or(0) < result_.best->area_m2.value_or(0);
    if (candidate.objective >= best_ && !is_smaller) return;
    best_ = candidate.objective;
    result_.best = candidate;
    result_.best->arch = grid_.designs[design].arch;
  }

  /// Its best mapping draws too much.
  void rule_out(std::size_t design, const DesignCandidate& candidate) {
    double power_w = 0;
    for (const DesignOutcome& outcome : candidate.outcomes)
      power_w = std::max(power_w, outcome.power_w.value_or(0));
    result_.least_power_w = std::min(result_.least_power_w.value_or(kInfinite), power_w);
    is_dead_[design] = true;
    ++result_.n_over_power;
    --n_open_;
  }

  /// Nothing more has to be known of the members.
  void forget(const Group& group) {
    for (const std::size_t d : group.members)
      if (!is_dead_[d]) --n_open_;
  }

  void show(double bound) const {
    if (!control_.progress) return;
    DesignProgress progress;
    const double all = static_cast<double>(std::max<std::size_t>(1, result_.n_designs));
    progress.phase = fmt::format("{} searches, {} of {} designs undecided", result_.n_searches,
                                 n_open_, result_.n_designs);
    progress.fraction = 1 - static_cast<double>(n_open_) / all;
    if (result_.best) progress.best = best_;
    progress.bound = std::min(bound, left_open_);
    control_.progress(progress);
  }

  DesignResult finish() {
    double bound = left_open_;
    if (!open_.empty()) bound = std::min(bound, open_.top().bound);
    result_.is_cancelled = is_cancelled(control_.cancel);
    result_.is_proven = result_.best ? bound >= best_ * (1 - kRounding) : std::isinf(bound);
    result_.bound = std::min(bound, best_);
    result_.seconds = seconds();
    return std::move(result_);
  }

  const DesignRequest& request_;
  const DesignControl& control_;
  DesignGrid grid_;
  std::vector<bool> is_dead_;  ///< best mapping known, and over the budget of power
  std::priority_queue<Group, std::vector<Group>, IsWorse> open_;
  std::map<std::string, SweepRun> known_;  ///< by key
  double best_ = kInfinite;
  double left_open_ = kInfinite;  ///< bounds of designs whose own search did not prove its result
  std::size_t n_open_ = 0, n_groups_ = 0;
  DesignResult result_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

Result<DesignResult> design_search(const DesignRequest& request, const LoadOptions& options,
                                   const DesignControl& control) {
  auto grid = design_grid(request, options);
  if (!grid) return tl::unexpected(std::move(grid.error()));
  return DesignSearch(request, std::move(*grid), control).run();
}

}  // namespace sluice
