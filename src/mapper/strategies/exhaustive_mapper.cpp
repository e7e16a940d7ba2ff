#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "mapper/request/refusal.h"
#include "mapper/sampling/sampling_run.h"
#include "mapper/sampling/space/trip_walk.h"
#include "mapper/shape/trip_choices.h"
#include "mapper/space/compatibility.h"
#include "mapper/strategies/sampling_mappers.h"

namespace sluice {
namespace {

using sampling::ChoicePtr;
using sampling::Genome;
using sampling::MapSpace;
using sampling::Trips;

constexpr double kMostMappings = 1e6;  ///< without a budget
constexpr double kMostChoices = 1e6;   ///< of one Einsum
constexpr std::size_t kBatch = 1024;
constexpr std::size_t kFirstDrawn = 64;  ///< with a budget of time

/// Choices of one Einsum that exchange its shared tensors in the same way.
using ChoiceGroups = std::vector<std::vector<ChoicePtr>>;

class ExhaustiveSearch {
 public:
  explicit ExhaustiveSearch(sampling::SamplingRun* run) : run_(*run), space_(run->space()) {}

  /// False: an Einsum has too many choices to list.
  bool list_choices() {
    for (std::size_t e = 0; e < space_.n_einsums(); ++e) {
      std::map<std::vector<std::int64_t>, std::vector<ChoicePtr>> groups;
      n_choices_ = 0;
      const std::vector<fused::Template>& templates = space_.templates(e);
      for (std::uint32_t t = 0; t < templates.size();) {
        Placement placement;
        const std::uint32_t number = templates[t].placement;
        for (; t < templates.size() && templates[t].placement == number; ++t) {
          add_choices(e, t, &placement);
          if (n_choices_ > kMostChoices || run_.record().cancelled()) return false;
        }
        for (auto& [used, choice] : placement.fitting)
          if (used >= placement.most)
            groups[fused::compatibility_key(choice->compatibility)].push_back(std::move(choice));
      }
      ChoiceGroups& own = groups_.emplace_back();
      for (auto& [key, members] : groups) own.push_back(std::move(members));
    }
    return true;
  }

  /// Whole mappings, as far as `limit`.
  double count(double limit) {
    counted_ = 0;
    limit_ = limit;
    count_from({}, 0, 1);
    return counted_;
  }

  void visit_all() {
    visit({}, 0);
    flush();
  }

 private:
  /// What fits alone of the templates of one placement, and how far it uses the fanouts; the best
  /// use of even tile shapes is asked of all.
  struct Placement {
    std::vector<double> most;
    std::vector<std::pair<std::vector<double>, ChoicePtr>> fitting;
  };

  /// Whether an Einsum alone says whether a choice fits: what follows from a reader is nothing
  /// without it, and of tensors that are copies of each other it does not know that.
  bool fits_or_not_alone(std::size_t e, const Trips& trips) const {
    const auto& tensors = space_.shape(e).tensors;
    return std::none_of(trips.begin(), trips.end(), fused::walks_rows) &&
           std::all_of(tensors.begin(), tensors.end(),
                       [](const auto& tensor) { return tensor.relatives == 0; });
  }

  void add_choices(std::size_t e, std::uint32_t t, Placement* placement) {
    const fused::Template& templ = space_.templates(e)[t];
    const auto fanouts = space_.demanding_fanouts(e, templ);
    const auto add = [&](const Trips& trips) {
      if (++n_choices_ > kMostChoices || run_.record().cancelled()) return false;
      std::vector<double> used = capped_use(fanouts, templ, trips);
      if (used < placement->most) return true;
      ChoicePtr choice = space_.make_choice(e, t, trips);
      if (fits_or_not_alone(e, trips) && !space_.price_alone(e, *choice)) return true;
      if (std::none_of(trips.begin(), trips.end(), fused::is_uneven))
        placement->most = std::max(placement->most, used);
      if (!space_.steps_together(e, t, trips)) return true;
      placement->fitting.emplace_back(std::move(used), std::move(choice));
      return true;
    };
    sampling::walk_trips(
        space_, e, t, Trips(templ.loops.size(), 0), std::numeric_limits<std::uint64_t>::max(),
        [&] { return run_.record().cancelled(); }, add);
  }

  void count_from(const fused::Spine& prefix, std::size_t e, double ways) {
    if (e == groups_.size()) {
      counted_ += ways;
      return;
    }
    for (const auto& members : groups_[e]) {
      if (counted_ > limit_ || run_.record().cancelled()) return;
      if (const auto joined = space_.join(prefix, e, *members.front()))
        count_from(*joined, e + 1, ways * static_cast<double>(members.size()));
    }
  }

  void visit(const fused::Spine& prefix, std::size_t e) {
    if (e == groups_.size()) {
      visit_members(0);
      return;
    }
    for (const auto& members : groups_[e]) {
      if (run_.record().over()) return;
      const auto joined = space_.join(prefix, e, *members.front());
      if (!joined) continue;
      path_.push_back(&members);
      visit(*joined, e + 1);
      path_.pop_back();
    }
  }

  /// Every combination of the members of the groups on the path.
  void visit_members(std::size_t e) {
    if (e == path_.size()) {
      waiting_.push_back(genome_);
      if (waiting_.size() == kBatch) flush();
      return;
    }
    for (const ChoicePtr& choice : *path_[e]) {
      if (run_.record().over()) return;
      genome_.push_back(choice);
      visit_members(e + 1);
      genome_.pop_back();
    }
  }

  void flush() {
    run_.batch(waiting_.size(), [&](std::size_t i, sampling::Drawer&) { return waiting_[i]; });
    waiting_.clear();
    run_.record().report("visiting mappings");
  }

  sampling::SamplingRun& run_;
  const MapSpace& space_;
  std::vector<ChoiceGroups> groups_;  // per Einsum
  double n_choices_ = 0;
  double counted_ = 0, limit_ = 0;
  std::vector<const std::vector<ChoicePtr>*> path_;
  Genome genome_;
  std::vector<Genome> waiting_;
};

/// Templates are redundant under the prices that `fused` knows; under others all of them count.
MapperOptions with_all_templates(MapperOptions options) {
  options.pruning.redundant_templates = false;
  return options;
}

NoMapping too_large(const std::string& what) {
  NoMapping no;
  no.proven = false;
  no.reason = "the mapper exhaustive visits every mapping, and " + what;
  no.nearest_relaxation =
      "--budget 1e9evals or --budget 60s to visit a part of them, a smaller --max-fused-loops, "
      "constraints, or another --mapper";
  return no;
}

}  // namespace

std::string ExhaustiveMapper::description() const {
  return "every mapping of the same space, for small problems";
}

tl::expected<MapperResult, NoMapping> ExhaustiveMapper::map(const BoundProblem& problem,
                                                            const MapperOptions& options,
                                                            const MapperControl& control) const {
  if (auto no = refused_alone(*this, problem, options)) return tl::make_unexpected(std::move(*no));
  const bool limited = options.budget_seconds || options.budget_evaluations;
  const bool fused_prices = !not_compiled(problem, options);
  const MapperOptions own = fused_prices ? options : with_all_templates(options);
  sampling::SamplingRun run(problem, own, control, sampling::SamplingRun::kAllTemplates);
  if (!limited) run.record().set_budget(std::numeric_limits<double>::infinity());
  if (options.budget_seconds)  // listing takes long; drawn ones are at hand
    run.batch(kFirstDrawn,
              [](std::size_t, sampling::Drawer& drawer) { return drawer.draw_mapping(); });
  const double drawn = run.record().evaluations();
  ExhaustiveSearch search(&run);
  if (!search.list_choices()) {
    if (run.record().cancelled()) return run.finish();
    return tl::make_unexpected(
        too_large(fmt::format("one Einsum alone has more than {:.0f} choices", kMostChoices)));
  }
  const double most = options.budget_evaluations.value_or(kMostMappings);
  const double all = search.count(limited ? most : kMostMappings);
  if (!limited && all > kMostMappings)
    return tl::make_unexpected(
        too_large(fmt::format("there are more than {:.0f} here", kMostMappings)));
  run.record().set_considered(all);
  search.visit_all();
  auto found = run.finish(!run.record().cancelled() && all <= run.record().evaluations() - drawn);
  // Under other prices the order of loops that no storage node feels may matter; one is visited.
  if (found && !fused_prices)
    found->guarantee.space += ", loops between two storage nodes in one order";
  return found;
}

}  // namespace sluice
