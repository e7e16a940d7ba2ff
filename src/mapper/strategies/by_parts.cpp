#include "by_parts.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "mapper/common/criteria.h"
#include "mapper/common/dominance.h"
#include "mapper/common/rounding.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/options_table.h"
#include "sluice/model/evaluate.h"
#include "sluice/support/error.h"

namespace sluice {
namespace {

using MapperOutcome = tl::expected<MapperResult, NoMapping>;

BoundProblem by_parts(BoundProblem problem) {
  for (Component& component : problem.arch.components)
    if (auto* memory = std::get_if<Memory>(&component.kind))
      memory->partial_actions = PartialActions::kPart;
  return problem;
}

class PartsSearch {
 public:
  PartsSearch(const BoundProblem& problem, const MapperOptions& options,
              const MapperControl& control)
      : problem_(problem), options_(options), control_(control), parts_(by_parts(problem)) {}

  template <class Search>
  MapperOutcome run(const Search& search) {
    std::optional<MappedResult> given;
    if (control_.incumbent != nullptr) given = control_.incumbent->best();
    Incumbent found([this](double, const MappedResult& mapped) {
      if (control_.incumbent == nullptr) return;
      if (auto own = priced(problem_, mapped)) control_.incumbent->offer(value(*own), *own);
    });
    if (given && is_single())
      if (const auto known = priced(parts_, *given)) found.offer(value(*known), *known);
    MapperControl control = control_;
    control.incumbent = control_.incumbent == nullptr ? nullptr : &found;
    MapperOutcome outcome = search(parts_, control);
    if (outcome && !outcome->mappings.empty()) settle(given, *outcome);
    return outcome;
  }

 private:
  bool is_single() const { return options_.objectives.size() == 1 && !options_.resource_usage; }
  double value(const MappedResult& mapped) const {
    return objective_value(options_.objectives.front(), mapped.cost);
  }

  std::optional<MappedResult> priced(const BoundProblem& problem, MappedResult mapped) const {
    auto cost = evaluate(problem, mapped.mapping, options_.policy);
    if (!cost) return std::nullopt;
    mapped.cost = *std::move(cost);
    return mapped;
  }

  void settle(const std::optional<MappedResult>& given, MapperResult& result) const {
    const double least = value(result.mappings.front());  // by parts
    bool is_rounded = false;
    for (MappedResult& mapped : result.mappings) {
      const double energy_j = mapped.cost.energy_j;
      auto own = priced(problem_, std::move(mapped));
      SLUICE_CHECK(own.has_value(), "a mapping is legal only where parts of actions cost less");
      mapped = *std::move(own);
      is_rounded |= !is_at_most(mapped.cost.energy_j, energy_j);
    }
    if (!is_single()) {
      if (is_rounded) settle_front(result);
      return;
    }
    std::stable_sort(
        result.mappings.begin(), result.mappings.end(),
        [this](const MappedResult& a, const MappedResult& b) { return value(a) < value(b); });
    if (options_.top == 1) take_better(given, result);
    settle_guarantee(least, result);
  }

  /// Without a budget of time the clock has no say in what comes out: then what was known before.
  void take_better(const std::optional<MappedResult>& given, MapperResult& result) const {
    std::optional<MappedResult> known = given;
    if (control_.incumbent != nullptr && (options_.budget_seconds || result.cancelled))
      known = control_.incumbent->best();
    if (known && value(*known) < value(result.mappings.front())) result.mappings = {*known};
  }

  void settle_guarantee(double least, MapperResult& result) const {
    Guarantee& guarantee = result.guarantee;
    const double found = value(result.mappings.front());
    const bool has_epsilon = guarantee.kind == GuaranteeKind::kWithinEpsilon;
    if (guarantee.kind == GuaranteeKind::kNone) return;
    if (guarantee.kind == GuaranteeKind::kOptimal) guarantee.bound = least;
    if (has_epsilon) guarantee.bound = least / (1 + guarantee.epsilon);
    if (is_at_most(found, guarantee.bound)) {
      guarantee.kind = GuaranteeKind::kOptimal;
    } else if (!has_epsilon || !is_at_most(found, least)) {
      guarantee.kind = GuaranteeKind::kGap;
      if (options_.top > 1) guarantee.space = searched_space(options_);  // none is proven
    }
    if (guarantee.kind != GuaranteeKind::kGap) guarantee.bound = 0;
  }

  /// None that another one found beats. Others may be better.
  void settle_front(MapperResult& result) const {
    result.mappings = front_of(problem_, options_, std::move(result.mappings));
    result.guarantee.kind = GuaranteeKind::kNone;
    result.guarantee.bound = 0;
  }

  const BoundProblem& problem_;
  const MapperOptions& options_;
  const MapperControl& control_;
  BoundProblem parts_;
};

}  // namespace

tl::expected<MapperResult, NoMapping> map_by_parts(
    const BoundProblem& problem, const MapperOptions& options, const MapperControl& control,
    const std::function<tl::expected<MapperResult, NoMapping>(
        const BoundProblem& parts, const MapperControl& control)>& search) {
  return PartsSearch(problem, options, control).run(search);
}

}  // namespace sluice
