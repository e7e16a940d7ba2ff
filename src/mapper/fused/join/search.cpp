#include "search.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <set>

#include "mapper/common/criteria.h"
#include "mapper/common/parallel.h"
#include "mapper/common/room_for_chains.h"
#include "mapper/common/rounding.h"
#include "mapper/fused/tiles/front.h"
#include "mapper/fused/tiles/least_cost.h"
#include "mapper/fused/tiles/usage_filter.h"
#include "mapper/request/constrained_problem.h"
#include "mapper/request/einsum_orders.h"
#include "mapper/request/overridden_rules.h"
#include "mapper/request/search_space.h"
#include "mapper/shape/isomorphic.h"
#include "mapper/space/build.h"
#include "mapper/space/constraint_rules.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/options_table.h"
#include "sluice/mapper/space_bounds.h"
#include "sluice/model/einsum_bounds.h"
#include "sluice/model/evaluate.h"
#include "sluice/support/error.h"
#include "support/seconds_since.h"

namespace sluice::fused {
namespace {

constexpr std::size_t kWholeBeam = 16;     // the same where the best one alone is asked for
constexpr std::size_t kSpineBeam = 20000;  // spines a layer in a scout's graph

/// Bits of everything that an Einsum touches (padding included) in one component's width.
double everything_held(const EinsumShape& shape, const BoundEinsum& bound, std::size_t component,
                       bool twice) {
  double bits = 0;
  for (const BoundAccess& held : bound.held) {
    double volume = 1;
    for (const BoundIndex& index : held.index) volume *= static_cast<double>(index.whole);
    const auto tensor = static_cast<std::size_t>(held.tensor);
    bits += volume * bound.components[component].bits_per_value[tensor] *
            (shape.tensors[tensor].persistent ? shape.tensors[tensor].instances : 1);
  }
  return twice ? 2 * bits : bits;
}

/// Whether it is a relaxed machine, whose energies the model does not know.
bool has_cuts(const BoundProblem& problem) {
  return std::any_of(problem.einsums.begin(), problem.einsums.end(), [](const BoundEinsum& own) {
    return !own.computes.empty() && !own.computes.front().cuts.empty();
  });
}

}  // namespace

Search::Search(const BoundProblem& problem, const MapperOptions& options,
               const MapperControl& control)
    : problem_(problem),
      options_(options),
      control_(control),
      state_tables_(std::make_shared<std::vector<StateTables>>(problem.workload.einsums.size())) {}

void Search::make_shapes(const TemplateLimits& limits) {
  shapes_.clear();
  const std::size_t n = problem_.workload.einsums.size();
  for (std::size_t e = 0; e < n; ++e) shapes_.push_back(make_einsum_shape(problem_, EinsumId(e)));
  if (options_.row_fusion) add_row_loops(problem_, &shapes_);
  templates_ = TemplateLists(problem_, shapes_, options_, limits);
}

bool Search::is_alike(std::size_t a, std::size_t b) const {
  if (tile_rules(options_.constraints, shapes_[a]) != tile_rules(options_.constraints, shapes_[b]))
    return false;
  return templates_.list_of(a) == templates_.list_of(b) ||
         (same_problem(problem_, shapes_[a], shapes_[b]) && templates_[a] == templates_[b]);
}

void Search::find_isomorphic() {
  spaces_.resize(shapes_.size());
  for (std::size_t e = 0; e < shapes_.size(); ++e) {
    same_as_.push_back(e);
    if (!options_.pruning.isomorphic_einsums) {
      distinct_.push_back(e);
      continue;
    }
    const auto alike = [&](std::size_t other) { return is_alike(other, e); };
    const auto known = std::find_if(distinct_.begin(), distinct_.end(), alike);
    if (known == distinct_.end())
      distinct_.push_back(e);
    else
      same_as_.back() = *known;
  }
}

/// A memory is followed across Einsums if a shared or persistent tensor can be backed there or a
/// node can stand there above a fused loop; never, if it could hold everything at once.
void Search::find_tracked() {
  const std::size_t n = problem_.arch.components.size();
  unlimited_.assign(n, true);
  for (std::size_t c = 0; c < n; ++c) {
    if (!problem_.arch.components[c].is_memory()) continue;
    double all = 0;
    for (const EinsumShape& shape : shapes_)
      all += everything_held(shape, problem_[shape.einsum], c,
                             is_double_buffered(problem_.arch.components[c]));
    const double size = smallest_size_bits(problem_, ComponentId(c));
    unlimited_[c] = std::isinf(size) || (options_.pruning.reservation_relevance &&
                                         !options_.resource_usage && all <= size);
    if (unlimited_[c]) continue;
    bool follow = !options_.pruning.reservation_relevance || options_.resource_usage;
    for (const std::vector<Template>& templates : templates_.lists()) {
      for (const Template& templ : templates) {
        std::uint32_t fused = 0;
        for (const Slot& slot : templ.slots)
          if (slot.shared) fused = std::max(fused, slot.gap);
        for (const LoopPlace& loop : templ.loops)
          if (loop.steps) fused = std::max(fused, loop.gap + 1);
        for (const Slot& slot : templ.slots)
          follow = follow || (slot.component.index() == c &&
                              (slot.shared || slot.persistent || slot.gap < fused));
      }
    }
    if (follow) tracked_.push_back({ComponentId(c), size});
  }
}

/// Whether chains know all mappings of this search, and it has the memory that they take.
bool Search::has_chains() const {
  return options_.pruning.chains && factors_of(options_) == Factors::kPerfect &&
         shapes_.size() > 1 && !has_recurrence(problem_.roles) &&
         !may_override_keep(problem_, options_.constraints) && has_room_for_chains(options_);
}

TileSearchContext Search::tile_context(std::size_t einsum) const {
  TileSearchContext context{};
  context.problem = &problem_;
  context.chained = chained_;
  context.shape = &shapes_[einsum];
  context.options = &options_;
  context.constraints = &options_.constraints;
  context.tracked = &tracked_;
  context.unlimited = &unlimited_;
  if (uses_incumbent()) context.incumbent = control_.incumbent;
  if (is_whole()) context.met_objective = &met_objective_;
  context.cancel = control_.cancel;
  context.space = &spaces_[einsum];
  context.templates = &templates_[einsum];
  context.compiled = &compiled_[einsum];
  return context;
}

/// Whether the pmappings of the only Einsum are whole mappings, of which the best is asked for.
bool Search::is_whole() const {
  return shapes_.size() == 1 && tracked_.empty() && bounds_apply() && epsilon() == 0;
}

/// What the known mapping excludes; nothing where none is known.
SearchBound Search::known_bound() const {
  return {.active = knows_limit(), .objective = options_.objectives.front(), .limit = limit_};
}

GraphOptions Search::graph_options() const {
  GraphOptions graph_options;
  graph_options.drop_dead_ends = options_.pruning.dead_ends;
  graph_options.tracked = &tracked_;
  graph_options.cancel = control_.cancel;
  graph_options.leftovers = control_.leftovers;
  graph_options.threads = options_.threads;
  graph_options.bound = known_bound();
  return graph_options;
}

/// Which pmappings can be joined to which.
ExchangeGraph Search::connect(std::size_t beam) {
  std::vector<ExchangeLayer> layers;
  for (std::size_t e = 0; e < shapes_.size(); ++e)
    layers.push_back({&shapes_[e], &tables_[e]->groups});
  GraphOptions options = graph_options();
  if (beam > 0) {
    options.beam = kSpineBeam;
  } else {
    options.least = least_teller();
  }
  ExchangeGraph graph = connect_exchanges(problem_, layers, options);
  if (beam == 0 || !graph.broken_at) return graph;
  options.beam = 0;  // the cheapest spines were dead ends
  return connect_exchanges(problem_, std::move(layers), options);
}

/// Joins the pmappings of all Einsums where their exchanges agree.
JoinResult Search::join(std::size_t beam) {
  take_incumbent();
  JoinResult none;
  const ExchangeGraph graph = connect(beam);
  if (cancelled()) return none;
  if (graph.broken_at) {
    none.failed_at = shapes_[*graph.broken_at].einsum;
    return none;
  }
  JoinContext context = join_context(graph);
  context.beam = beam;
  if (beam == 0 && bounds_apply()) context.scout_beam = kJoinBeam;
  return join_pmappings(context);
}

/// False: it would take too long.
bool Search::compile_templates() {
  compiled_.resize(shapes_.size());
  for (std::size_t e = 0; e < shapes_.size(); ++e)
    if (same_as_[e] == e) compiled_[e].resize(templates_[e].size());
  std::vector<std::pair<std::size_t, std::size_t>> all;  // Einsums and their templates
  for (std::size_t e = 0; e < shapes_.size(); ++e)
    for (std::size_t t = 0; t < compiled_[e].size(); ++t) all.emplace_back(e, t);
  // In an order that makes some of them stand for all.
  constexpr std::size_t kStep = 7919;  // prime
  const std::size_t step = all.size() % kStep == 0 ? 1 : kStep;
  const auto start = std::chrono::steady_clock::now();
  std::atomic<std::size_t> n_done = 0;
  std::atomic<bool> is_over = false;
  std::vector<StateTables>& tables = *state_tables_;
  parallel_for(options_.threads, all.size(), [&](std::size_t i) {
    const auto [e, t] = all[i * step % all.size()];
    if (cancelled() || is_over) return;
    compiled_[e][t] = compile_template(tile_context(e), templates_[e][t], &tables[e]);
    const auto n = static_cast<double>(++n_done);
    if (takes_too_long(seconds_since(start), n / static_cast<double>(all.size()))) is_over = true;
  });
  if (is_over) return false;
  if (cancelled()) return true;
  for (std::size_t e = 0; e < shapes_.size(); ++e) {
    number_columns(compiled_[e]);
    share_usages(templates_[e], &compiled_[e]);
    mark_repeats(&compiled_[e], options_.threads, control_.cancel);
  }
  return true;
}

/// What an Einsum costs at least by the bounds of its templates and of all mappings.
EnergyLatency Search::least_by_bounds(std::size_t e) const {
  const double infinite = std::numeric_limits<double>::infinity();
  EnergyLatency least{infinite, infinite};
  for (const CompiledTemplate& compiled : compiled_[e]) {
    if (compiled.considered == 0 || !compiled.program.feasible) continue;
    least.energy = std::min(least.energy, compiled.program.least_energy);
    least.latency = std::min(least.latency, compiled.program.least_latency);
  }
  if (!std::isfinite(least.energy)) least = {0, 0};
  if (may_override_keep(problem_, options_.constraints)) return least;
  const CostBounds floor =
      overlap_bounds(problem_, einsum_bounds(problem_, EinsumId(e), factors_of(options_)));
  least.energy = std::max(least.energy, floor.energy_floor_j);
  least.latency = std::max({least.latency, floor.compute_s, floor.memory_s});
  return least;
}

/// What the Einsums cost where they are priced, or in the mapping that is in hand, where that is
/// good enough to look further: of equal ones the least. Infinite: not known.
std::vector<EnergyLatency> Search::known_costs() const {
  const double infinite = std::numeric_limits<double>::infinity();
  std::vector<EnergyLatency> known(shapes_.size(), {infinite, infinite});
  if (!knows_limit()) return known;
  for (std::size_t e = 0; e < tables_.size(); ++e)
    for (const PmappingGroup& group : tables_[e]->groups)
      for (std::size_t i = 0; i < group.size(); ++i) {
        known[e].energy = std::min(known[e].energy, group.value(i)[0]);
        known[e].latency = std::min(known[e].latency, group.value(i)[1]);
      }
  const bool looks_further = is_whole() ? !tables_.empty() : starts_near_bound();
  const auto best = uses_incumbent() && looks_further ? control_.incumbent->best() : std::nullopt;
  if (!best || best->cost.latency.empty()) return known;  // totals say nothing about Einsums
  std::vector<EnergyLatency> own(shapes_.size());
  for (const EnergyRow& row : best->cost.energy) own[row.einsum.index()].energy += row.energy_j;
  for (const LatencyRow& row : best->cost.latency)
    own[row.einsum.index()].latency = std::max(own[row.einsum.index()].latency, row.latency_s);
  for (std::size_t e = 0; e < shapes_.size(); ++e) {
    EnergyLatency& least = known[same_as_[e]];
    least.energy = std::min(least.energy, own[e].energy);
    least.latency = std::min(least.latency, own[e].latency);
  }
  return known;
}

/// Whether the search began with a mapping that is not far above what no mapping is below. One that
/// walks find on the way is often worse than a scout's.
bool Search::starts_near_bound() const {
  constexpr double kNear = 1.25;
  return starts_from_mapping_ && knows_limit() && limit_ <= kNear * bound_of_all();
}

/// What each Einsum costs at least: by bounds, or, where some of what it costs is known, by a
/// search for the least alone.
void Search::find_least() {
  least_.resize(shapes_.size());
  for (std::size_t e = 0; e < shapes_.size(); ++e)
    least_[e] = same_as_[e] == e ? least_by_bounds(e) : least_[same_as_[e]];
  const std::vector<EnergyLatency> known = known_costs();
  for (std::size_t e = 0; e < shapes_.size(); ++e) {
    if (same_as_[e] != e) {
      least_[e] = least_[same_as_[e]];
    } else if (std::isfinite(known[e].energy)) {
      least_[e] = least_cost(tile_context(e), templates_[e], compiled_[e], known[e], least_[e]);
      if (!is_whole())  // which goes on with the same tries
        for (const CompiledTemplate& compiled : compiled_[e])
          for (const std::shared_ptr<StateTable>& table : compiled.tables) table->forget_tries();
    }
    tell_bound();
  }
}

/// What no mapping's first objective is below.
double Search::bound_of_all() const {
  EnergyLatency sum;
  for (const EnergyLatency& least : least_) {
    sum.energy += least.energy;
    sum.latency += least.latency;
  }
  const double all = objective_value(options_.objectives.front(), sum.energy, sum.latency);
  const double open = std::min({open_bound_, met_objective_.load(), limit_});
  return std::isfinite(open) ? std::max(all, open / kAboveRounding / kAboveRounding) : all;
}

/// Tells whoever asked what is known by now.
void Search::tell_bound() const {
  if (control_.bound && options_.objectives.size() == 1) control_.bound(bound_of_all());
}

/// Takes what bounds all mappings before there is a graph; none: nobody asks for it.
std::function<void(double)> Search::least_teller() {
  if (!control_.bound || !bounds_apply() || !knows_limit()) return {};
  return [this](double least) {
    open_bound_ = std::max(open_bound_, std::min(least, limit_));
    tell_bound();
  };
}

/// Per Einsum: what all others cost at least, and what must be beaten.
std::vector<SearchBound> Search::bounds() {
  take_incumbent();
  find_least();
  std::vector<SearchBound> result(shapes_.size(), known_bound());
  EnergyLatency before, behind;
  for (std::size_t e = 0; e < shapes_.size(); ++e) {
    result[e].own = {least_[e].energy / kAboveRounding, least_[e].latency / kAboveRounding};
    result[e].others.front() = before;
    before.energy += least_[e].energy;
    before.latency += least_[e].latency;
  }
  for (std::size_t e = shapes_.size(); e-- > 0;) {
    result[e].others.front().energy += behind.energy;
    result[e].others.front().latency += behind.latency;
    behind.energy += least_[e].energy;
    behind.latency += least_[e].latency;
  }
  return result;
}

/// What searches beside this one have found by now bounds it as well. Not where less than the best
/// is good enough: what is found then would depend on when they found it.
void Search::take_incumbent() {
  if (!uses_incumbent()) return;
  SearchBound bound = known_bound();
  bound.tighten(control_.incumbent->objective());
  if (bound.limit == limit_) return;
  limit_ = bound.limit;
  is_limit_known_ = false;
}

bool Search::uses_incumbent() const {
  return control_.incumbent != nullptr && bounds_apply() && epsilon() == 0;
}

/// One known mapping excludes others only where a single objective asks for a single mapping.
bool Search::bounds_apply() const {
  return options_.pruning.bounds && options_.pruning.dominance && options_.objectives.size() == 1 &&
         !options_.resource_usage && options_.top == 1;
}

void Search::offer(MappedResult mapped) {
  if (control_.incumbent != nullptr)
    control_.incumbent->offer(objective_value(options_.objectives.front(), mapped.cost), mapped);
  best_so_far_ = std::move(mapped);
}

/// Whether what is found on the way is needed: the search may end without a better one, or others
/// run beside it.
bool Search::may_end_early() const {
  return control_.cancel != nullptr || epsilon() > 0 || control_.incumbent != nullptr;
}

/// Looks for a good mapping with a narrow beam: its objective bounds the exact search. Not where
/// one is known already.
void Search::scout() {
  if (cancelled()) return;
  std::vector<SearchBound> bounds = this->bounds();
  if (starts_near_bound()) {
    first_bounds_ = std::move(bounds);
    return take_known();
  }
  explore(bounds, is_whole() ? kWholeBeam : kTileBeam);
  const JoinResult join = this->join(kJoinBeam);
  for (const JoinedMapping& mapping : join.mappings) {
    limit_ = std::min(
        limit_, objective_value(options_.objectives.front(), mapping.energy, mapping.latency));
  }
  if (may_end_early() && !join.mappings.empty()) offer(finish(select(join.mappings).front()));
  limit_ *= kAboveRounding / (1 + epsilon());
  take_known();
}

/// The known mapping is not in hand here, so what is as good must be found again.
void Search::take_known() {
  const auto known = control_.known_objective;
  if (!known || *known * kAboveRounding >= limit_) return;
  limit_ = *known * kAboveRounding;
  is_limit_known_ = true;
}

JoinContext Search::join_context(const ExchangeGraph& graph) const {
  JoinContext context{};
  context.graph = &graph;
  context.bound = graph_options().bound;
  context.epsilon = epsilon();
  context.problem = &problem_;
  context.options = &options_;
  context.tracked = &tracked_;
  for (const EinsumShape& shape : shapes_) context.shapes.push_back(&shape);
  for (const auto& table : tables_) context.tables.push_back(table.get());
  context.cancel = control_.cancel;
  if (control_.progress)
    context.progress = [this](std::size_t einsum) {
      control_.progress("joining Einsums",
                        static_cast<double>(einsum + 1) / static_cast<double>(shapes_.size()));
    };
  return context;
}

MappedResult Search::finish(const JoinedMapping& joined) const {
  std::vector<BuildPart> parts;
  for (std::size_t e = 0; e < shapes_.size(); ++e) {
    const PmappingGroup& group = tables_[e]->groups[joined.chosen[e].group];
    const std::uint32_t t = group.templates[joined.chosen[e].index];
    const std::uint32_t* states =
        tables_[e]->states.data() + group.first_state[joined.chosen[e].index];
    const Template& templ = tables_[e]->templates[t];
    parts.push_back({&shapes_[e], &templ, group.compatibility.get(),
                     loop_trips(shapes_[e], templ, compiled_[same_as_[e]][t], states)});
  }
  MappedResult result;
  result.mapping = build_mapping(problem_, std::move(parts));
  if (has_cuts(problem_)) {
    result.cost.energy_j = joined.energy;
    result.cost.latency_s = joined.latency;
    return result;
  }
  auto cost = evaluate(problem_, result.mapping, options_.policy);
  if (!cost) {
    std::string what;
    for (const Violation& violation : cost.error()) what += "\n  " + violation.message;
    throw InternalError("the mapper produced a mapping that the model rejects:" + what + "\n" +
                        to_yaml(result.mapping, problem_.workload, problem_.arch));
  }
  result.cost = std::move(*cost);
  const auto close = [](double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
  };
  SLUICE_CHECK(
      close(result.cost.energy_j, joined.energy) && close(result.cost.latency_s, joined.latency),
      fmt::format("the mapper and the model disagree about a mapping: {} J / {} s against {} J / "
                  "{} s\n{}",
                  joined.energy, joined.latency, result.cost.energy_j, result.cost.latency_s,
                  to_yaml(result.mapping, problem_.workload, problem_.arch)));
  return result;
}

std::vector<JoinedMapping> Search::select(std::vector<JoinedMapping> mappings) const {
  const Objective first = options_.objectives.front();
  std::stable_sort(mappings.begin(), mappings.end(),
                   [&](const JoinedMapping& a, const JoinedMapping& b) {
                     const double x = objective_value(first, a.energy, a.latency);
                     const double y = objective_value(first, b.energy, b.latency);
                     if (x != y) return x < y;
                     if (a.energy != b.energy) return a.energy < b.energy;
                     return a.latency < b.latency;
                   });
  if (options_.objectives.size() == 1 && !options_.resource_usage) {
    mappings.resize(std::min<std::size_t>(mappings.size(), static_cast<std::size_t>(options_.top)));
    return mappings;
  }
  PointSet points;
  for (const JoinedMapping& mapping : mappings) {
    for (Objective objective : options_.objectives)
      points.values.push_back(objective_value(objective, mapping.energy, mapping.latency));
    if (options_.resource_usage)
      points.values.insert(points.values.end(), mapping.peaks.begin(), mapping.peaks.end());
    points.dimension = points.values.size() / (&mapping - mappings.data() + 1);
  }
  std::vector<JoinedMapping> front;
  for (std::uint32_t i : pareto_front(points)) front.push_back(std::move(mappings[i]));
  return front;
}

/// What a search that was cancelled or need not be exact found may be worse than what its scout had
/// found before.
void Search::keep_best_so_far(MapperResult* result) const {
  if (!best_so_far_) return;
  const Objective objective = options_.objectives.front();
  const auto value = [objective](const MappedResult& mapped) {
    return objective_value(objective, mapped.cost.energy_j, mapped.cost.latency_s);
  };
  if (result->mappings.empty() || value(*best_so_far_) < value(result->mappings.front()))
    result->mappings = {*best_so_far_};
}

/// The search found nothing that beats it.
void Search::keep_incumbent(MapperResult* result) const {
  if (!uses_incumbent()) return;
  if (auto best = control_.incumbent->best()) result->mappings = {std::move(*best)};
}

/// Whether what was found keeps the promise: nothing of the space is better by more than epsilon.
/// The only place where that is claimed.
bool Search::is_good_enough(const MapperResult& result, const JoinResult& join) const {
  if (result.mappings.empty()) return false;
  if (epsilon() == 0) return true;
  const Objective objective = options_.objectives.front();
  double least = join.searched_below;  // of all mappings
  for (const JoinedMapping& mapping : join.mappings)
    least = std::min(least, objective_value(objective, mapping.energy, mapping.latency));
  const double found = objective_value(objective, result.mappings.front().cost);
  return found <= least * (1 + epsilon()) * kAboveRounding * kAboveRounding;
}

NoMapping Search::no(const JoinResult& join) const {
  if (!is_limit_known_) return explain(join);
  NoMapping no;
  no.reason = "no mapping is better than the one that is known";
  no.is_beaten = true;
  return no;
}

/// Cancelled before there was anything to search.
MapperResult Search::nothing_yet(double seconds) const {
  MapperResult result;
  result.cancelled = true;
  result.guarantee.space = searched_space(options_);
  result.guarantee.leaves_out = left_out(SearchSpace::kExchanges, problem_, options_);
  result.search.threads = options_.threads;
  result.search.seconds = seconds;
  return result;
}

/// Whether a mapping is known that the paths through the graph of exchanges must beat.
bool Search::knows_mapping() const {
  return shapes_.size() > 1 && knows_limit() && options_.pruning.dead_ends;
}

/// Whether the graph comes before the prices.
bool Search::follows_paths() const {
  return knows_mapping() && options_.pruning.graph_first && has_short_graph();
}

/// The best mappings, after the scout.
JoinResult Search::search_exactly() {
  const std::vector<SearchBound> bounds = first_bounds_ ? *first_bounds_ : this->bounds();
  if (cancelled()) return {};
  tell_bound();
  ExchangeAgreement agreement = find_exchanges(bounds, false);
  if (cancelled()) return {};
  if (follows_paths()) return search_along_paths(bounds, agreement);
  price_all(bounds, std::move(agreement), 0);
  for (const std::size_t e : distinct_) statistics_.mappings_evaluated += tables_[e]->evaluated;
  return knows_mapping() ? search_priced() : join(0);
}

tl::expected<MapperResult, NoMapping> Search::run() {
  const auto start = std::chrono::steady_clock::now();
  starts_from_mapping_ = uses_incumbent() && std::isfinite(control_.incumbent->objective());
  draw_first();
  make_shapes({.cancel = control_.cancel, .cap = most_templates(), .cap_of_all = most_in_time()});
  if (are_too_many_in_time()) return nothing_yet(seconds_since(start));
  if (is_too_many()) {
    if (auto drawn = draw_only(start)) return std::move(*drawn);
    make_shapes({.cancel = control_.cancel});
  }
  draw_more();
  if (cancelled()) return nothing_yet(seconds_since(start));
  find_isomorphic();
  find_tracked();
  if (!compile_templates() || cancelled())
    return nothing_yet(seconds_since(start));  // bounds are those of all templates
  if (bounds_apply()) {
    if (has_chains())
      chained_ = options_.constraints == Constraints{}
                     ? &problem_
                     : &constrained_.emplace(constrained(problem_, options_.constraints));
    scout();
  }
  const JoinResult join = search_exactly();
  MapperResult result;
  for (const std::size_t e : distinct_) {
    if (tables_.empty()) break;
    statistics_.mappings_considered += tables_[e]->considered;
    statistics_.pmappings_kept += tables_[e]->kept;
  }
  result.cancelled = cancelled();
  for (const JoinedMapping& joined : select(join.mappings))
    result.mappings.push_back(finish(joined));
  if (asks_for_front(options_))
    result.mappings = front_of(problem_, options_, std::move(result.mappings));
  if (result.cancelled || epsilon() > 0) keep_best_so_far(&result);
  if (result.mappings.empty() && !is_limit_known_) keep_incumbent(&result);
  if (!result.cancelled && !is_good_enough(result, join)) {
    SLUICE_CHECK(is_limit_known_ || result.mappings.empty(),
                 "a search ended on a mapping that is not good enough");
    return tl::make_unexpected(no(join));
  }
  for (std::size_t e = 0; e < same_as_.size(); ++e)
    if (same_as_[e] == e) ++statistics_.distinct_einsums;
  statistics_.seconds = seconds_since(start);
  statistics_.threads = options_.threads;
  result.search = statistics_;
  result.guarantee.kind = result.cancelled ? GuaranteeKind::kNone
                          : epsilon() > 0  ? GuaranteeKind::kWithinEpsilon
                                           : GuaranteeKind::kOptimal;
  if (result.cancelled && !asks_for_front(options_)) {
    result.guarantee.kind = GuaranteeKind::kGap;
    result.guarantee.bound = bound_of_all();
  }
  result.guarantee.epsilon = epsilon();
  result.guarantee.space = searched_space(options_);
  result.guarantee.leaves_out = left_out(SearchSpace::kExchanges, problem_, options_);
  const bool leaves_out = options_.pruning.dominance || options_.pruning.bounds;
  if (options_.top > 1 && leaves_out && !result.cancelled &&
      result.mappings.size() < static_cast<std::size_t>(options_.top))
    result.guarantee.space += fmt::format(
        "; of {} mappings only those that none beats or equals in all respects, of which "
        "the first is proven (--disable-rules dominance,bounds lists the others)",
        options_.top);
  return result;
}

}  // namespace sluice::fused
