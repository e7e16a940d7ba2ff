#include "oracle/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "sluice/frontend/load.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/relaxed_bound.h"
#include "sluice/mapper/space_bounds.h"
#include "sluice/model/einsum_bounds.h"
#include "sluice/support/error.h"

namespace sluice::oracle {
namespace {

using MapperAnswer = tl::expected<MapperResult, NoMapping>;

const std::optional<PricedMapping>& best_of(const Enumeration& truth, Objective objective) {
  switch (objective) {
    case Objective::kEnergy:
      return truth.best_energy;
    case Objective::kLatency:
      return truth.best_latency;
    case Objective::kEdp:
      return truth.best_edp;
  }
  return truth.best_edp;
}

const char* name_of(Objective objective) {
  switch (objective) {
    case Objective::kEnergy:
      return "energy";
    case Objective::kLatency:
      return "latency";
    case Objective::kEdp:
      return "edp";
  }
  return "?";
}

std::string text_of(const std::vector<Point>& points) {
  std::string text;
  for (const Point& p : points) {
    text += fmt::format("    {} J {} s", p.energy_j, p.latency_s);
    for (double bits : p.peak_bits) text += fmt::format(" {}", bits);
    text += "\n";
  }
  return text;
}

struct Switch {
  const char* name;
  bool PruningRules::*rule;
};
constexpr Switch kSwitches[] = {
    {"dominance off", &PruningRules::dominance},
    {"convex_hull off", &PruningRules::convex_hull},
    {"bounds off", &PruningRules::bounds},
    {"isomorphic_einsums off", &PruningRules::isomorphic_einsums},
    {"reservation_relevance off", &PruningRules::reservation_relevance},
    {"dead_ends off", &PruningRules::dead_ends},
    {"graph_first off", &PruningRules::graph_first},
    {"held_bounds off", &PruningRules::held_bounds},
    {"redundant_templates off", &PruningRules::redundant_templates},
    {"chains off", &PruningRules::chains},
};

/// What was asked: for a search that does not end.
std::string text_of(const MapperOptions& options) {
  std::string text;
  for (Objective objective : options.objectives) text += std::string(name_of(objective)) + " ";
  if (options.resource_usage) text += "with occupancy ";
  for (const Switch& off : kSwitches)
    if (!(options.pruning.*off.rule)) text += off.name;
  return text;
}

/// Cancels a search that has taken too much of the processor, however busy the machine is.
class Watchdog {
 public:
  explicit Watchdog(double seconds)
      : thread_([this, seconds] {
          const std::clock_t start = std::clock();
          std::unique_lock lock(mutex_);
          while (!expired_ && !done_.wait_for(lock, kGlance, [this] { return finished_; }))
            expired_ = static_cast<double>(std::clock() - start) > seconds * CLOCKS_PER_SEC;
        }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      finished_ = true;
    }
    done_.notify_one();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  const std::atomic<bool>& expired() const { return expired_; }

 private:
  static constexpr auto kGlance = std::chrono::milliseconds(100);
  std::mutex mutex_;
  std::condition_variable done_;
  bool finished_ = false;
  std::atomic<bool> expired_ = false;
  std::thread thread_;
};

/// The checks of one problem; each returns what differs.
class Comparison {
 public:
  Comparison(const Mapper& mapper, const BoundProblem& problem, const Enumeration& truth)
      : mapper_(mapper), problem_(problem), truth_(truth) {}

  /// Few enough full mappings for a mapper that drops nothing.
  bool is_small() const {
    double combinations = 1;
    for (std::int64_t nests : truth_.nests) combinations *= static_cast<double>(nests);
    return combinations < 300;
  }

  /// `with_incumbent`: the best mapping is in hand already; what is found must be as good.
  std::optional<std::string> optimum(MapperOptions options, Objective objective,
                                     const std::string& what, bool with_incumbent = false) const {
    options.objectives = {objective};
    options.resource_usage = false;
    Incumbent incumbent;
    if (const auto& known = best_of(truth_, objective); known && with_incumbent)
      incumbent.offer(objective_value(objective, known->point.energy_j, known->point.latency_s),
                      {known->mapping, *evaluate(problem_, known->mapping)});
    const MapperAnswer answer = ask(options, with_incumbent ? &incumbent : nullptr);
    const std::optional<PricedMapping>& best = best_of(truth_, objective);
    if (!answer && !best) return std::nullopt;
    const std::string title = fmt::format("{} ({})", name_of(objective), what);
    if (!answer)
      return title + ": the mapper finds nothing: " + answer.error().reason + "\n" +
             best_text(*best);
    if (answer->mappings.empty()) return title + ": a result without a mapping";
    const MappedResult& found = answer->mappings.front();
    if (auto wrong = repriced(found)) return title + ": " + *wrong;
    if (!best) return title + ": the referee finds nothing, the mapper:\n" + mapping_text(found);
    const double is = objective_value(objective, found.cost);
    const double should = objective_value(objective, best->point.energy_j, best->point.latency_s);
    if (auto wrong = bounded(objective, should, options)) return title + ": " + *wrong;
    if (auto wrong = guaranteed(answer->guarantee, should)) return title + ": " + *wrong;
    const bool is_proven = answer->guarantee.kind == GuaranteeKind::kOptimal;
    if (is == should || (has_whole_actions() && !is_proven && is > should)) return std::nullopt;
    return fmt::format("{}: mapper {} referee {}\n{}{}", title, is, should, best_text(*best),
                       mapping_text(found));
  }

  /// Every pruning rule and incumbent has the same bound: it is asked for once.
  std::optional<std::string> bounded_by_relaxed(MapperOptions asked, Objective objective) const {
    constexpr double kRelaxedSeconds = 0.5;
    const std::optional<PricedMapping>& best = best_of(truth_, objective);
    asked.objectives = {objective};
    asked.resource_usage = false;
    if (!best || !takes_relaxed_bound(*standard_mappers().find("fused"), problem_, asked))
      return std::nullopt;
    const double optimum = objective_value(objective, best->point.energy_j, best->point.latency_s);
    for (const double limit : {std::numeric_limits<double>::infinity(), 1.5 * optimum}) {
      const Watchdog watchdog(kRelaxedSeconds);  // what is known by then is a bound, too
      const double relaxed = relaxed_bound(problem_, asked, limit, &watchdog.expired(), {});
      if (relaxed > optimum * kRounding)
        return fmt::format("the optimum {} is below the bound {} of the relaxed machine, under {}",
                           optimum, relaxed, limit);
    }
    return std::nullopt;
  }

  std::optional<std::string> front(MapperOptions options, bool with_occupancy) const {
    options.objectives = {Objective::kEnergy, Objective::kLatency};
    options.resource_usage = with_occupancy;
    const MapperAnswer answer = ask(options);
    const std::vector<Point>& should =
        with_occupancy ? truth_.full_front : truth_.energy_latency_front;
    if (!answer && should.empty()) return std::nullopt;
    const std::string title = with_occupancy ? "front with occupancy" : "front";
    if (!answer) return title + ": the mapper finds nothing: " + answer.error().reason;
    std::vector<Point> is;
    for (const MappedResult& found : answer->mappings) {
      if (auto wrong = repriced(found)) return title + ": " + *wrong;
      Point point = point_of(found.cost);
      if (!with_occupancy) point.peak_bits.clear();
      is.push_back(std::move(point));
    }
    std::sort(is.begin(), is.end());
    is.erase(std::unique(is.begin(), is.end()), is.end());
    if (is == should) return std::nullopt;
    if (has_whole_actions() && answer->guarantee.kind == GuaranteeKind::kNone &&
        is_behind(is, should))
      return std::nullopt;
    return fmt::format("{}: mapper\n{}  referee\n{}", title, text_of(is), text_of(should));
  }

  std::optional<std::string> threads(MapperOptions options,
                                     std::vector<Objective> objectives) const {
    options.objectives = std::move(objectives);
    options.resource_usage = false;
    options.threads = 1;
    const MapperAnswer one = ask(options);
    for (int count : {2, 8}) {
      options.threads = count;
      const MapperAnswer many = ask(options);
      if (one.has_value() != many.has_value() || (one && !same(*one, *many)))
        return fmt::format("{} threads give another result than 1", count);
    }
    return std::nullopt;
  }

 private:
  /// Whether some mapper's prices leave something out (docs/mappers.md).
  bool has_whole_actions() const { return sluice::has_whole_actions(problem_.arch); }

  static std::optional<std::string> guaranteed(const Guarantee& guarantee, double optimum) {
    constexpr double kRounding = 1 + 1e-11;
    if (guarantee.kind != GuaranteeKind::kGap || guarantee.bound <= optimum * kRounding)
      return std::nullopt;
    return fmt::format("the optimum {} is below the bound {} that the mapper tells", optimum,
                       guarantee.bound);
  }

  /// Whether every point is on the front or behind it.
  static bool is_behind(const std::vector<Point>& points, const std::vector<Point>& front) {
    return std::all_of(points.begin(), points.end(), [&](const Point& point) {
      return std::any_of(front.begin(), front.end(), [&](const Point& best) {
        bool is_no_more = best.energy_j <= point.energy_j && best.latency_s <= point.latency_s;
        for (std::size_t i = 0; i < point.peak_bits.size(); ++i)
          is_no_more = is_no_more && best.peak_bits[i] <= point.peak_bits[i];
        return is_no_more;
      });
    });
  }

  static constexpr double kRounding = 1 + 1e-12;

  std::optional<std::string> bounded(Objective objective, double optimum,
                                     const MapperOptions& options) const {
    double bound = options.constraints == Constraints{} ? sum_of_bounds(objective, options) : 0;
    MapperOptions asked = options;
    asked.objectives = {objective};
    const Mapper& fused = *standard_mappers().find("fused");
    // Constraints may take tensors out of memories that the bounds count on: then it takes none.
    const bool takes_relaxed = takes_relaxed_bound(fused, problem_, asked);
    if (takes_relaxed || options.constraints == Constraints{})
      bound = std::max(bound, objective_bound(objective, space_bounds(fused, problem_, asked)));
    if (bound > optimum * kRounding)
      return fmt::format("the optimum {} is below the bound {} of all mappings", optimum, bound);
    return std::nullopt;
  }

  /// Of the Einsums one by one.
  double sum_of_bounds(Objective objective, const MapperOptions& options) const {
    double energy_j = 0, latency_s = 0;
    for (std::size_t e = 0; e < problem_.einsums.size(); ++e) {
      const CostBounds own =
          overlap_bounds(problem_, einsum_bounds(problem_, EinsumId(e), factors_of(options)));
      energy_j += own.energy_floor_j;
      latency_s += std::max(own.compute_s, own.memory_s);
    }
    return objective_value(objective, energy_j, latency_s);
  }

  static bool same(const MapperResult& a, const MapperResult& b) {
    return std::equal(a.mappings.begin(), a.mappings.end(), b.mappings.begin(), b.mappings.end(),
                      [](const MappedResult& x, const MappedResult& y) {
                        return x.mapping == y.mapping && x.cost == y.cost;
                      });
  }

  /// The mapper's cost must be what evaluate says of its mapping.
  std::optional<std::string> repriced(const MappedResult& found) const {
    const auto cost = evaluate(problem_, found.mapping);
    if (!cost)
      return "the mapping is illegal: " + cost.error().front().message + "\n" + mapping_text(found);
    if (!(*cost == found.cost)) return "evaluate gives another cost\n" + mapping_text(found);
    return std::nullopt;
  }

  MapperAnswer ask(const MapperOptions& options, Incumbent* incumbent = nullptr) const {
    const Watchdog watchdog(kPatienceSeconds);
    MapperControl control;
    control.cancel = &watchdog.expired();
    control.incumbent = incumbent;
    MapperAnswer answer = mapper_.map(problem_, options, control);
    if (watchdog.expired())
      throw InternalError(fmt::format("no answer in {} s of processor time: {}", kPatienceSeconds,
                                      text_of(options)));
    return answer;
  }

  std::string best_text(const PricedMapping& best) const {
    return fmt::format("# referee: {} J {} s\n{}", best.point.energy_j, best.point.latency_s,
                       to_yaml(best.mapping, problem_.workload, problem_.arch));
  }

  std::string mapping_text(const MappedResult& found) const {
    return fmt::format("# mapper: {} J {} s\n{}", found.cost.energy_j, found.cost.latency_s,
                       to_yaml(found.mapping, problem_.workload, problem_.arch));
  }

  const Mapper& mapper_;
  const BoundProblem& problem_;
  const Enumeration& truth_;
};

constexpr Objective kEachObjective[] = {Objective::kEnergy, Objective::kLatency, Objective::kEdp};

std::optional<std::string> first_difference(const Comparison& comparison,
                                            const MapperOptions& options, std::uint64_t variation) {
  for (Objective objective : kEachObjective)
    for (const bool with_incumbent : {false, true})
      if (auto found = comparison.optimum(options, objective,
                                          with_incumbent ? "with an incumbent" : "all rules",
                                          with_incumbent))
        return found;
  if (auto found = comparison.bounded_by_relaxed(
          options, kEachObjective[variation % std::size(kEachObjective)]))
    return found;
  if (auto found = comparison.front(options, false)) return found;
  const std::size_t first_switch = comparison.is_small() ? 0 : 1;
  const Switch& off = kSwitches[std::max(first_switch, variation % std::size(kSwitches))];
  MapperOptions less = options;
  less.pruning.*off.rule = false;
  for (Objective objective : kEachObjective)
    if (auto found = comparison.optimum(less, objective, off.name)) return found;
  if (auto found = comparison.front(less, false)) return std::string(off.name) + ": " + *found;
  if (variation % 5 == 0) {
    if (auto found = comparison.threads(options, {Objective::kEdp})) return found;
    if (auto found = comparison.threads(options, {Objective::kEnergy, Objective::kLatency}))
      return found;
  }
  return options.resource_usage ? comparison.front(options, true) : std::nullopt;
}

}  // namespace

std::uint64_t number_of_variations() { return std::size(kSwitches); }

std::optional<std::string> difference(const Mapper& mapper, const BoundProblem& problem,
                                      const MapperOptions& options, const Enumeration& truth,
                                      std::uint64_t variation) {
  try {
    return first_difference(Comparison(mapper, problem, truth), options, variation);
  } catch (const std::exception& error) {
    return std::string("exception: ") + error.what();
  }
}

RandomCase random_case(std::uint64_t seed, const EnumerationLimits& limits, const Extras& extras) {
  for (std::uint64_t attempt = 0;; ++attempt) {
    RandomCase drawn;
    drawn.spec = random_problem(seed * 1'000'003 + attempt, extras);
    drawn.problem = bind_problem(drawn.spec);
    drawn.options = options_of(drawn.spec);
    drawn.truth = enumerate(drawn.problem, drawn.options, limits);
    if (!drawn.truth.exceeded) return drawn;
  }
}

BoundProblem written_problem(const ProblemSpec& spec) {
  const auto specs = load_specs_from_text({{"problem.yaml", to_yaml(spec)}}, {});
  if (!specs) throw InternalError(to_string(specs.error()));
  auto problem = bind(*specs->workload, *specs->arch);
  if (!problem) throw InternalError(to_string(problem.error()));
  return std::move(*problem);
}

ProblemSpec with_one_long_rank(ProblemSpec spec, std::uint64_t seed) {
  constexpr int kLengths[] = {5, 6, 7, 9, 10, 11, 13};
  Dice dice(seed);
  const ProblemSpec before = spec;
  for (auto& [rank, size] : spec.rank_sizes) size = std::min(size, 2);
  spec.rank_sizes[static_cast<std::size_t>(dice.below(static_cast<int>(spec.rank_sizes.size())))]
      .second = kLengths[dice.below(static_cast<int>(std::size(kLengths)))];
  try {
    written_problem(spec);
  } catch (const InternalError&) {
    return before;
  }
  return spec;
}

ShrunkDifference shrink(const Mapper& mapper, const ProblemSpec& spec, const std::string& found,
                        const EnumerationLimits& limits, std::uint64_t variation) {
  ShrunkDifference best{spec, found};
  for (bool again = true; again;) {
    again = false;
    for (const ProblemSpec& simpler : simpler_problems(best.spec)) {
      try {
        const BoundProblem problem = written_problem(simpler);
        const MapperOptions options = options_of(simpler);
        const Enumeration truth = enumerate(problem, options, limits);
        if (truth.exceeded) continue;
        auto still = difference(mapper, problem, options, truth, variation);
        if (!still) continue;
        best = {simpler, *still};
        again = true;
        break;
      } catch (const std::exception&) {
        continue;  // an edit may make a problem that nothing can be said of: not a simpler failure
      }
    }
  }
  return best;
}

}  // namespace sluice::oracle
