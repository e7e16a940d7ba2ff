#include "sluice/mapper/least_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "equal_einsums.h"
#include "mapper/common/asked_usage.h"
#include "mapper/common/first_memory.h"
#include "mapper/common/part_of_problem.h"
#include "mapper/request/overridden_rules.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/leftovers.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/model/keep_rules.h"
#include "sluice/support/error.h"

namespace sluice {
namespace {

std::set<ComponentId> outermost_memories(const BoundProblem& problem) {
  std::set<ComponentId> result;
  for (const BoundEinsum& einsum : problem.einsums)
    for (const BoundCompute& compute : einsum.computes)
      if (const auto first = first_memory(problem, einsum, compute)) result.insert(*first);
  return result;
}

void add(const Least& part, double times, Least* sum) {
  sum->value += times * part.value;
  sum->bound += times * part.bound;
  sum->is_proven = sum->is_proven && part.is_proven;
}

constexpr Least LeastCosts::*kNumbers[] = {&LeastCosts::traffic_bits, &LeastCosts::energy_j,
                                           &LeastCosts::latency_s};
constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// One of the searches, and what is known of its number by now.
struct Question {
  LeastSearch which;
  const BoundProblem* problem;
  Least least;
  std::optional<MappedResult> best;

  Objective objective() const {
    return which.number == 2 ? Objective::kLatency : Objective::kEnergy;
  }
  void take(MappedResult mapped) {
    if (!best || objective_value(objective(), mapped.cost) < value()) best = std::move(mapped);
    least.value = value();
    least.is_proven = least.value <= least.bound;
    if (least.is_proven) least.bound = least.value;
  }

 private:
  double value() const { return objective_value(objective(), best->cost); }
};

/// First a look at every number, so that each has a mapping and a bound soon; then each search to
/// its end, single Einsums first, which are soon done.
class Floor {
 public:
  Floor(const BoundProblem& problem, const MapperOptions& options, const MapperControl& control,
        const LeastCostsOfWorkload* smaller)
      : problem_(problem), options_(options), control_(control), smaller_(smaller) {
    options_.mapper = "fused";
    options_.policy = LatencyPolicy::kOverlap;
    options_.resource_usage = false;
    options_.top = 1;
    options_.row_fusion = false;
    options_.explore_einsum_orders = false;
  }

  tl::expected<LeastCostsOfWorkload, NoMapping> run() {
    add_questions();
    constexpr double kLook = 0.5;   // s, each
    constexpr double kShare = 0.1;  // of the progress that is shown
    const bool looks_first = options_.budget_seconds.value_or(2 * kLook) > kLook;
    if (looks_first) {
      look_apart(kLook);
      if (!ask_all(kLook, 0, kShare)) return tl::unexpected(std::move(no_));
    }
    if (!ask_all(options_.budget_seconds, looks_first ? kShare : 0, 1))
      return tl::unexpected(std::move(no_));
    return result();
  }

 private:
  void add_questions() {
    if (problem_.einsums.size() > 1) {
      for (const EinsumId einsum : first_equals(problem_)) times_[einsum] += 1;
      for (const auto& [einsum, times] : times_) {
        auto part = bind_part(problem_, {einsum});
        if (!part) {
          no_alone_ = no_part(einsum);
          break;
        }
        problems_.push_back(std::move(*part));
        add_questions(problems_.back(), einsum, MapperOptions());
      }
    }
    add_questions(problem_, std::nullopt, options_);
  }

  void add_questions(const BoundProblem& problem, std::optional<EinsumId> alone,
                     const MapperOptions& options) {
    problems_.push_back(traffic_problem(problem));
    for (int n = 0; n < 3; ++n) {
      Question question{
          {alone, n}, n == 0 ? &problems_.back() : &problem, {kInfinite, 0, false}, {}};
      if (!may_override_keep(*question.problem, options.constraints))
        question.least.bound = objective_bound(question.objective(), question.problem->bounds);
      if (auto known = known_of(question.which)) question.take(std::move(*known));
      questions_.push_back(std::move(question));
    }
  }

  /// Rules of the architecture need the other Einsums.
  NoMapping no_part(EinsumId einsum) const {
    NoMapping no;
    no.einsum = einsum;
    no.reason = fmt::format("the architecture's rules make no sense for the Einsum {} alone",
                            problem_.workload[einsum].name);
    return no;
  }

  std::optional<MappedResult> known_of(const LeastSearch& which) const {
    if (smaller_ == nullptr || (which.number > 0 && asks_for_usage(problem_.arch)))
      return std::nullopt;
    const auto found = smaller_->found.find(which);
    return found == smaller_->found.end() ? std::nullopt : std::optional(found->second);
  }

  /// All that is open yet, with a budget each; `from`, `to`: of the progress. False: `no_` is about
  /// all mappings.
  bool ask_all(std::optional<double> budget_s, double from, double to) {
    const auto is_open = [&](const Question& question) {
      return !question.least.is_proven && !(question.which.alone && no_alone_);
    };
    const auto n_open =
        static_cast<double>(std::count_if(questions_.begin(), questions_.end(), is_open));
    double n_asked = 0;
    for (Question& question : questions_) {
      if (!is_open(question)) continue;
      if (is_cancelled(control_.cancel)) break;
      const double begin = from + (to - from) * n_asked / n_open;
      if (!ask(budget_s, begin, begin + (to - from) / n_open, &question)) return false;
      n_asked += 1;
    }
    return true;
  }

  /// What is found of mappings that exchange all tensors in the outermost memory, which is soon
  /// done, is something to begin with.
  void look_apart(double budget_s) {
    MapperOptions options = options_;
    options.budget_seconds = budget_s;
    for (std::size_t t = 0; t < problem_.workload.tensors.size(); ++t)
      if (problem_.roles.is_intermediate(TensorId(t)))
        options.constraints.fusion.push_back({"apart", TensorId(t), false, std::nullopt});
    if (options.constraints.fusion.size() == options_.constraints.fusion.size()) return;
    for (Question& question : questions_) {
      if (question.which.alone || question.least.is_proven || is_cancelled(control_.cancel))
        continue;
      options.objectives = {question.objective()};
      auto found = search(question, options, 0, 0);
      if (!found || found->mappings.empty()) continue;
      MappedResult& mapped = found->mappings.front();
      // Constraints count more than rules of the architecture, which count here.
      if (keep_violations(*question.problem, mapped.mapping).empty())
        question.take(std::move(mapped));
    }
  }

  /// A proven no is one of all mappings. Else what was found by the end is taken.
  bool ask(std::optional<double> budget_s, double from, double to, Question* question) {
    MapperOptions options = options_;
    options.objectives = {question->objective()};
    options.budget_seconds = budget_s;
    if (question->which.alone) options.constraints = {};
    auto found = search(*question, options, from, to);
    if (found) {
      take(std::move(*found), question);
      return true;
    }
    const bool is_no = found.error().proven && !question->best;
    if (is_no && question->which.alone) {
      no_alone_ = std::move(found.error());
      return true;
    }
    no_ = std::move(found.error());
    return !is_no;
  }

  tl::expected<MapperResult, NoMapping> search(const Question& question,
                                               const MapperOptions& options, double from,
                                               double to) const {
    Incumbent incumbent;
    Leftovers leftovers;
    if (question.best) incumbent.offer(question.least.value, *question.best);
    MapperControl control;
    control.cancel = control_.cancel;
    control.incumbent = &incumbent;
    control.leftovers = &leftovers;
    if (control_.progress)
      control.progress = [&](const std::string& phase, double fraction) {
        control_.progress(phase, from + (to - from) * fraction);
      };
    auto found = run_mapper(*standard_mappers().find("fused"), *question.problem, options, control);
    if (control_.leftovers != nullptr && is_cancelled(control_.cancel))
      leftovers.move_to(control_.leftovers);
    return found;
  }

  void take(MapperResult found, Question* question) {
    if (!question->which.alone && question->which.number > 0) space_ = found.guarantee;
    if (found.mappings.empty()) return;
    MappedResult& mapped = found.mappings.front();
    const double value = objective_value(question->objective(), mapped.cost);
    question->least.bound = std::max(question->least.bound, bound_of(found.guarantee, value));
    question->take(std::move(mapped));
  }

  static double bound_of(const Guarantee& guarantee, double value) {
    switch (guarantee.kind) {
      case GuaranteeKind::kOptimal:
        return value;
      case GuaranteeKind::kWithinEpsilon:
        return value / (1 + guarantee.epsilon);
      case GuaranteeKind::kGap:
        return guarantee.bound;
      case GuaranteeKind::kNone:
        break;
    }
    return 0;
  }

  tl::expected<LeastCostsOfWorkload, NoMapping> result() {
    LeastCostsOfWorkload result;
    result.space = std::move(space_);
    result.is_cancelled = is_cancelled(control_.cancel);
    for (Question& question : questions_) {
      const auto number = kNumbers[question.which.number];
      if (question.which.alone)
        add(question.least, times_.at(*question.which.alone), &(result.alone.*number));
      else
        result.fused.*number = question.least;
      if (question.best) result.found.emplace(question.which, std::move(*question.best));
    }
    if (std::none_of(std::begin(kNumbers), std::end(kNumbers),
                     [&](auto number) { return std::isfinite((result.fused.*number).value); }))
      return tl::unexpected(std::move(no_));
    if (times_.empty()) result.alone = result.fused;
    if (no_alone_) {
      result.alone = {{kInfinite, 0, false}, {kInfinite, 0, false}, {kInfinite, 0, false}};
      result.no_alone = std::move(no_alone_);
    }
    return result;
  }

  const BoundProblem& problem_;
  MapperOptions options_;
  const MapperControl& control_;
  const LeastCostsOfWorkload* smaller_;
  std::map<EinsumId, double> times_;   ///< of Einsums that differ in names only, the first
  std::deque<BoundProblem> problems_;  ///< that questions are about
  std::vector<Question> questions_;
  std::optional<NoMapping> no_alone_;
  NoMapping no_;  ///< of the last search that found nothing
  Guarantee space_;
};

}  // namespace

BoundProblem traffic_problem(const BoundProblem& problem) {
  const std::set<ComponentId> outermost = outermost_memories(problem);
  Arch arch = problem.arch;
  for (std::size_t c = 0; c < arch.components.size(); ++c) {
    Component& component = arch.components[c];
    component.leak_power_w = 0;
    if (auto* network = std::get_if<Network>(&component.kind)) network->hop_energy_j = 0;
    if (auto* memory = std::get_if<Memory>(&component.kind))
      memory->partial_actions = PartialActions::kPart;
    for (SpatialDimension& dimension : component.spatial) dimension.min_usage.reset();
    for (Action& action : component.actions) {
      action.energy_j = 0;
      if (!outermost.contains(ComponentId(c))) continue;
      action.energy_j = 1;
      action.bits_per_action = 1;
      action.values_per_action.reset();
    }
  }
  auto bound = bind(problem.workload, arch, problem.algorithms);
  SLUICE_CHECK(bound.has_value(), "a problem that was bound does not bind at other energies");
  // Of a part of a workload, rules say what they say of the whole.
  for (std::size_t e = 0; e < problem.einsums.size(); ++e)
    for (std::size_t c = 0; c < arch.components.size(); ++c)
      take_rules(problem.einsums[e].components[c], &bound->einsums[e].components[c]);
  bound->bounds = cost_bounds(*bound);
  return std::move(*bound);
}

namespace {

/// The architecture with the memories of another; areas are no matter of mappings.
Arch with_sizes(Arch arch, const Arch& sizes) {
  for (std::size_t c = 0; c < arch.components.size() && c < sizes.components.size(); ++c) {
    auto* memory = std::get_if<Memory>(&arch.components[c].kind);
    const auto* other = std::get_if<Memory>(&sizes.components[c].kind);
    if (memory != nullptr && other != nullptr) memory->size_bits = other->size_bits;
    arch.components[c].area_m2.reset();
  }
  return arch;
}

}  // namespace

bool only_grows(const BoundProblem& smaller, const BoundProblem& larger,
                Least LeastCosts::*number) {
  if (number != &LeastCosts::traffic_bits && asks_for_usage(larger.arch)) return false;
  if (smaller.workload != larger.workload ||
      with_sizes(larger.arch, smaller.arch) != with_sizes(smaller.arch, smaller.arch))
    return false;
  for (std::size_t e = 0; e < larger.einsums.size(); ++e)
    for (std::size_t c = 0; c < larger.arch.components.size(); ++c)
      if (larger.einsums[e].components[c].size_bits < smaller.einsums[e].components[c].size_bits)
        return false;
  return true;
}

tl::expected<LeastCostsOfWorkload, NoMapping> least_costs(const BoundProblem& problem,
                                                          const MapperOptions& options,
                                                          const MapperControl& control,
                                                          const LeastCostsOfWorkload* smaller) {
  return Floor(problem, options, control, smaller).run();
}

}  // namespace sluice
