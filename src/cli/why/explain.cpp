#include "explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "accounts.h"
#include "changes.h"
#include "cli/io/leftovers.h"
#include "mapper/common/asked_usage.h"
#include "mapper/common/contains.h"
#include "mapper/common/part_of_problem.h"
#include "mapper/request/constraint_check.h"
#include "mapper/run/equal_einsums.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/model/evaluate.h"
#include "sluice/model/keep_rules.h"

namespace sluice::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// A mapping in hand, priced for the question. In the space of its search: it bounds that. Else it
/// is an answer only where the search proves nothing.
struct KnownMapping {
  MappedResult mapped;
  bool is_in_space = true;
};

class Questions {
 public:
  Questions(const Explained& explained, const MapperOptions& options,
            const std::atomic<bool>& cancel, const QuestionProgress& progress)
      : explained_(explained),
        problem_(explained.problem),
        options_(options),
        cancel_(cancel),
        progress_(progress) {
    options_.top = 1;
    if (options_.budget_seconds)
      end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(*options_.budget_seconds));
  }

  Explanation answered() {
    ask_all();
    explanation_.is_interrupted = is_cancelled(&cancel_);
    return std::move(explanation_);
  }

 private:
  Objective objective() const { return options_.objectives.front(); }

  /// What there is to ask is known before the first search, so that each gets its share.
  void ask_all() {
    explanation_.objective = objective_value(objective(), explained_.cost);
    explanation_.is_proven = explained_.guarantee.kind == GuaranteeKind::kOptimal;
    explanation_.einsums = einsum_accounts(problem_, explained_.cost, objective());
    explanation_.exchanges = exchange_choices(problem_, explained_.mapping);
    explanation_.holdings = holding_choices(problem_, explained_.mapping);
    explanation_.shadow_prices = doublings(problem_);
    std::map<EinsumId, Answer> alone;  // of Einsums that differ in names only, the first
    const std::vector<EinsumId> first = first_equals(problem_);
    if (problem_.einsums.size() > 1)
      for (const EinsumId einsum : first) alone[einsum];
    n_questions_ = alone.size() + explanation_.shadow_prices.size() +
                   count_open(explanation_.exchanges) + count_open(explanation_.holdings);
    share_evaluations();
    for (auto& [einsum, answer] : alone) answer = ask_alone(einsum);
    for (EinsumAccount& account : explanation_.einsums)
      if (const auto found = alone.find(first[account.einsum.index()]); found != alone.end())
        account.alone = found->second;
    for (ShadowPrice& price : explanation_.shadow_prices) price.answer = ask_doubled(price);
    for (ExchangeChoice& choice : explanation_.exchanges) choice.other = ask_other(choice);
    for (HoldingChoice& choice : explanation_.holdings) choice.other = ask_other(choice);
    for (ExchangeChoice& choice : explanation_.exchanges) take_others(&choice);
    for (HoldingChoice& choice : explanation_.holdings) take_others(&choice);
    explanation_.n_questions = n_questions_;
  }

  void share_evaluations() {
    if (options_.budget_evaluations && n_questions_ > 0)
      options_.budget_evaluations = std::max(
          1.0, std::floor(*options_.budget_evaluations / static_cast<double>(n_questions_)));
  }

  /// As `sluice bounds` does: constraints are about the whole workload.
  Answer ask_alone(EinsumId einsum) {
    MapperOptions alone = options_;
    alone.constraints = {};
    alone.explore_einsum_orders = false;
    alone.row_fusion = false;
    const Result<BoundProblem> part = bind_part(problem_, {einsum});
    if (!part) return impossible(part.error());
    return ask(problem_.workload[einsum].name + " alone", *part, alone, std::nullopt);
  }

  Answer ask_doubled(const ShadowPrice& price) {
    const std::string what = fmt::format("twice the {}{}{} of {}", resource_name(price.resource),
                                         price.dimension.empty() ? "" : " ", price.dimension,
                                         problem_.arch[price.component].name);
    const Result<BoundProblem> changed = with_doubled(problem_, price);
    if (!changed) return impossible(changed.error());
    return ask(what, *changed, options_, known_for(*changed, price.resource));
  }

  /// There is no such problem.
  Answer impossible(const Diagnostics& diagnostics) {
    ++n_asked_;
    ++explanation_.n_answers;
    Answer answer;
    answer.reason = diagnostics.empty() ? "there is no such problem" : diagnostics.front().message;
    return answer;
  }

  /// The mapping that is explained. With `min_usage`, fuller ones that fit now may exclude it.
  std::optional<KnownMapping> known_for(const BoundProblem& changed, Resource resource) const {
    auto cost = evaluate(changed, explained_.mapping, options_.policy);
    if (!cost) return std::nullopt;
    const bool is_in_space = resource == Resource::kThroughput || !asks_for_usage(changed.arch);
    return KnownMapping{{explained_.mapping, std::move(*cost)}, is_in_space};
  }

  /// The constraint of the user's that leaves no choice; null where there is none.
  const FusionConstraint* deciding(const ExchangeChoice& choice) const {
    return find(options_.constraints.fusion, [&](const FusionConstraint& constraint) {
      return constraint.tensor == choice.tensor;
    });
  }
  const StorageConstraint* deciding(const HoldingChoice& choice) const {
    return find(options_.constraints.storage, [&](const StorageConstraint& constraint) {
      return constraint.memory == choice.memory && (contains(constraint.keep, choice.tensor) ||
                                                    contains(constraint.forbid, choice.tensor));
    });
  }

  template <class Constraint, class Test>
  static const Constraint* find(const std::vector<Constraint>& constraints, const Test& test) {
    const auto found = std::find_if(constraints.begin(), constraints.end(), test);
    return found == constraints.end() ? nullptr : &*found;
  }

  template <class Choice>
  std::size_t count_open(const std::vector<Choice>& choices) const {
    return static_cast<std::size_t>(
        std::count_if(choices.begin(), choices.end(),
                      [this](const Choice& choice) { return deciding(choice) == nullptr; }));
  }

  template <class Choice>
  Answer ask_other(const Choice& choice) {
    if (const auto* constraint = deciding(choice)) {
      Answer answer;
      answer.reason = fmt::format("the constraint {} decides it", constraint->name);
      return answer;
    }
    MapperOptions other = options_;
    other.constraints = constraints_of(choice);
    std::optional<KnownMapping> known;
    if (const MappedResult* best = best_other(other.constraints)) known = KnownMapping{*best};
    return ask(name_of(choice), problem_, other, known);
  }

  template <class Choice>
  Constraints constraints_of(const Choice& choice) const {
    Constraints constraints = options_.constraints;
    add(other_choice(choice), &constraints);
    return constraints;
  }

  /// Of what such questions have found so far, the best that answers this one, too; null: nothing.
  const MappedResult* best_other(const Constraints& constraints) const {
    const MappedResult* best = nullptr;
    const auto value = [&](const MappedResult& own) {
      return objective_value(objective(), own.cost);
    };
    for (const MappedResult& own : others_)
      if ((best == nullptr || value(own) < value(*best)) &&
          constraint_violations(constraints, problem_, own.mapping).empty())
        best = &own;
    return best;
  }

  /// What later questions found may be better than what an earlier one did in its time.
  template <class Choice>
  void take_others(Choice* choice) const {
    if (deciding(*choice) != nullptr || is_proven(choice->other)) return;
    if (const MappedResult* best = best_other(constraints_of(*choice))) take(*best, &choice->other);
  }

  static void add(FusionConstraint constraint, Constraints* constraints) {
    constraints->fusion.push_back(std::move(constraint));
  }
  static void add(StorageConstraint constraint, Constraints* constraints) {
    constraints->storage.push_back(std::move(constraint));
  }

  std::string name_of(const ExchangeChoice& choice) const {
    return fmt::format("{} {}", problem_.workload[choice.tensor].name,
                       choice.on_chip ? "off chip" : "on chip");
  }
  std::string name_of(const HoldingChoice& choice) const {
    return fmt::format("{} {}in {}", problem_.workload[choice.tensor].name,
                       choice.is_held ? "not " : "", problem_.arch[choice.memory].name);
  }

  Answer ask(const std::string& what, const BoundProblem& problem, MapperOptions options,
             const std::optional<KnownMapping>& known) {
    Answer answer;
    const std::size_t number = ++n_asked_;
    if (is_cancelled(&cancel_)) answer.reason = "interrupted";
    if (answer.reason.empty() && !take_share(&options)) answer.reason = "the budget is over";
    if (!answer.reason.empty()) return answer;
    Incumbent incumbent;
    if (known && known->is_in_space)
      incumbent.offer(objective_value(objective(), known->mapped.cost), known->mapped);
    MapperControl control;
    control.cancel = &cancel_;
    control.incumbent = &incumbent;
    leftovers().clear();
    control.leftovers = &leftovers();
    if (progress_)
      control.progress = [&](const std::string& phase, double fraction) {
        progress_(what + ": " + phase,
                  (static_cast<double>(number - 1) + fraction) / static_cast<double>(n_questions_),
                  number, n_questions_);
      };
    if (control.progress) control.progress("starting", 0);
    auto found = run_mapper(explained_.mapper, problem, options, control);
    fill(problem, std::move(found), known, &answer);
    explanation_.n_answers += is_cancelled(&cancel_) ? 0 : 1;
    return answer;
  }

  /// An equal share of the time that is left for this and all later questions.
  bool take_share(MapperOptions* options) const {
    if (!end_) return true;
    constexpr double kShortest = 1e-3;  // s
    const double left = std::chrono::duration<double>(*end_ - Clock::now()).count();
    options->budget_seconds = left / static_cast<double>(n_questions_ - n_asked_ + 1);
    return *options->budget_seconds >= kShortest;
  }

  /// A constraint counts more than the architecture's rules: what breaks them is no other choice.
  std::optional<std::string> broken_rule(const BoundProblem& problem,
                                         const Mapping& mapping) const {
    const auto broken = keep_violations(problem, mapping);
    if (broken.empty() || !keep_violations(problem_, explained_.mapping).empty())
      return std::nullopt;
    return broken.front().message;
  }

  void fill(const BoundProblem& problem, tl::expected<MapperResult, NoMapping> found,
            const std::optional<KnownMapping>& known, Answer* answer) {
    if (found && !found->mappings.empty()) {
      if (const auto rule = broken_rule(problem, found->mappings.front().mapping)) {
        answer->kind = Answer::Kind::kNoMapping;
        answer->reason = "against a rule of the architecture: " + *rule;
        return;
      }
      if (&problem == &problem_) others_.push_back(found->mappings.front());
    }
    if (found) {
      answer->guarantee = std::move(found->guarantee);
      for (const MappedResult& mapped : found->mappings) take(mapped, answer);
    } else {
      answer->kind = found.error().proven ? Answer::Kind::kNoMapping : Answer::Kind::kNothingFound;
      answer->reason = std::move(found.error().reason);
    }
    if (known && (known->is_in_space || !is_proven(*answer))) take(known->mapped, answer);
    if (found && answer->kind == Answer::Kind::kNotSearched) {
      answer->kind = Answer::Kind::kNothingFound;
      answer->reason = "the search ended before a mapping was found";
    }
  }

  static bool is_proven(const Answer& answer) {
    if (answer.kind != Answer::Kind::kFound) return answer.kind == Answer::Kind::kNoMapping;
    return is_proof(answer.guarantee);
  }

  void take(const MappedResult& mapped, Answer* answer) const {
    const double value = objective_value(objective(), mapped.cost);
    if (answer->kind == Answer::Kind::kFound && answer->objective <= value) return;
    Guarantee& guarantee = answer->guarantee;  // its bound is of the space that was searched
    if (guarantee.kind == GuaranteeKind::kGap && value < guarantee.bound)
      guarantee.kind = GuaranteeKind::kNone;
    answer->kind = Answer::Kind::kFound;
    answer->reason.clear();
    answer->objective = value;
    answer->energy_j = mapped.cost.energy_j;
    answer->latency_s = mapped.cost.latency_s;
  }

  const Explained& explained_;
  const BoundProblem& problem_;
  MapperOptions options_;
  const std::atomic<bool>& cancel_;
  const QuestionProgress& progress_;
  std::optional<Clock::time_point> end_;
  std::size_t n_questions_ = 0, n_asked_ = 0;
  std::vector<MappedResult> others_;  ///< that answer what is asked of other choices
  Explanation explanation_;
};

}  // namespace

Explanation explain(const Explained& explained, const MapperOptions& options,
                    const std::atomic<bool>& cancel, const QuestionProgress& progress) {
  return Questions(explained, options, cancel, progress).answered();
}

}  // namespace sluice::cli
