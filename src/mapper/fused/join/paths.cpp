// Where a mapping is known: first the graph of all exchanges, by bounds, then prices along its
// paths, those first that may be best (docs/adr/0008-graph-before-prices.md).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mapper/common/parallel.h"
#include "mapper/common/rounding.h"
#include "mapper/fused/tiles/row_bounds.h"
#include "search.h"

namespace sluice::fused {
namespace {

constexpr double kInfiniteBound = std::numeric_limits<double>::infinity();

}  // namespace

/// A bound of whole mappings.
SearchBound Search::below(double limit) const {
  return {.active = true, .objective = options_.objectives.front(), .limit = limit};
}

/// Rows to price of an Einsum, once for each template.
double Search::rows_to_price(std::size_t e) const {
  double rows = 0;
  for (const std::uint32_t skeleton : spaces_[e].skeleton_of)
    rows += static_cast<double>(spaces_[e].skeletons[skeleton].n_rows);
  return rows;
}

/// Whether the graph of all rows has fewer of them than there are to price. A chain of hundreds of
/// Einsums, most of them equal, has more: each is priced once and stands in the graph many times.
bool Search::has_short_graph() const {
  double priced = 0, rows = 0;
  for (std::size_t e = 0; e < shapes_.size(); ++e) {
    const ExchangeSpace& space = spaces_[same_as_[e]];
    for (const ExchangeSpace::Skeleton& skeleton : space.skeletons)
      rows += static_cast<double>(skeleton.n_rows);
    if (same_as_[e] == e) priced += rows_to_price(e);
  }
  return rows <= priced;
}

/// What every row of an Einsum costs at least, whatever template it is of; rows that no template
/// has a tile shape for are dropped.
std::vector<std::vector<EnergyLatency>> Search::bound_rows(const TileSearchContext& context) {
  const std::size_t e = context.shape->einsum.index();
  ExchangeSpace& space = spaces_[e];
  std::vector<std::vector<EnergyLatency>> least;
  for (const ExchangeSpace::Skeleton& skeleton : space.skeletons)
    least.emplace_back(skeleton.n_rows, EnergyLatency{kInfiniteBound, kInfiniteBound});
  parallel_for(options_.threads, space.skeletons.size(), [&](std::size_t k) {
    for (std::uint32_t t = 0; t < templates_[e].size(); ++t)
      if (space.skeleton_of[t] == k) fused::bound_rows(context, compiled_[e][t], t, &least[k]);
  });
  std::vector<std::vector<char>> possible;
  for (std::vector<EnergyLatency>& rows : least) {
    std::vector<char>& own = possible.emplace_back();
    for (const EnergyLatency& cost : rows) own.push_back(std::isfinite(cost.energy));
    std::erase_if(rows, [](const EnergyLatency& cost) { return !std::isfinite(cost.energy); });
  }
  keep_rows(possible, &space);
  return least;
}

namespace {

/// Per group the hull of what its rows cost at least (per skeleton and row).
ThroughBounds::Costs hulls_of_groups(const RowGroups& rows,
                                     const std::vector<std::vector<EnergyLatency>>& least) {
  std::vector<std::size_t> end(rows.groups.size() + 1, 0);  // of each group's points
  for (const std::vector<std::uint32_t>& of_row : rows.of_row)
    for (const std::uint32_t g : of_row) ++end[g + 1];
  std::partial_sum(end.begin(), end.end(), end.begin());
  std::vector<EnergyLatency> points(end.back());
  std::vector<std::size_t> next(end.begin(), end.end() - 1);
  for (std::size_t k = 0; k < least.size(); ++k)
    for (std::size_t r = 0; r < least[k].size(); ++r)
      points[next[rows.of_row[k][r]]++] = least[k][r];
  const auto hulls = std::make_shared<HullList>();
  std::vector<EnergyLatency> hull;
  for (const std::uint32_t like : rows.like) {
    hull.assign(points.data() + end[like], points.data() + end[like + 1]);
    to_lower_hull(&hull);
    hulls->add(coarser(hull, ThroughBounds::kCorners));
  }
  hulls->shrink_to_fit();
  return hulls;
}

/// Per group the hull of what its pmappings cost.
ThroughBounds::Costs hulls_of_groups(const PmappingTable& table) {
  const auto hulls = std::make_shared<HullList>();
  for (const PmappingGroup& group : table.groups)
    hulls->add(coarser(hull_of(group), ThroughBounds::kCorners));
  hulls->shrink_to_fit();
  return hulls;
}

}  // namespace

/// All exchanges that bounds leave and partners know, what each costs at least, and how they can
/// follow each other.
ThroughBounds Search::find_paths(const std::vector<SearchBound>& bounds,
                                 const ExchangeAgreement& agreement) {
  std::vector<ThroughBounds::Costs> costs(shapes_.size());
  rows_.assign(shapes_.size(), {});
  for (const std::size_t e : distinct_) {
    if (cancelled()) return {{}, {}, 1};
    keep_agreed(exchange_request(e, &agreement, false), &spaces_[e]);
    TileSearchContext context = tile_context(e);
    context.bound = bounds[e];
    const auto least = bound_rows(context);
    rows_[e] = rows_of(e);
    if (cancelled()) return {{}, {}, 1};
    costs[e] = hulls_of_groups(rows_[e], least);
  }
  for (std::size_t e = 0; e < shapes_.size(); ++e) costs[e] = costs[same_as_[e]];
  ExchangeGraph graph = connect_rows(costs);
  if (cancelled()) return {{}, {}, 1};
  return {std::move(graph), std::move(costs), options_.threads};
}

/// Drops what lies on no path that may beat the known mapping, with its groups and rows: often four
/// of five.
void Search::keep_paths(ThroughBounds* paths) {
  paths->update(below(limit_));
  for (const std::size_t e : distinct_) {
    if (cancelled()) return;
    std::vector<char> is_kept(rows_[e].groups.size(), 0);
    for (std::size_t equal = 0; equal < shapes_.size(); ++equal)
      if (same_as_[equal] == e)
        for (const ExchangeEdge& edge : paths->graph().edges[equal])
          is_kept[edge.group] = is_kept[rows_[e].like[edge.group]] = 1;
    std::vector<std::uint32_t> kept;
    for (std::uint32_t g = 0; g < is_kept.size(); ++g)
      if (is_kept[g] != 0) kept.push_back(g);
    keep_groups(kept, &rows_[e], &spaces_[e]);
    for (std::size_t equal = 0; equal < shapes_.size(); ++equal)
      if (same_as_[equal] == e) paths->keep_groups(equal, kept);
  }
}

/// The graph of all rows, by what they cost at least. (Each group has the bound as its only
/// pmapping meanwhile: a copy of all groups would take too much memory.)
ExchangeGraph Search::connect_rows(const std::vector<ThroughBounds::Costs>& costs) {
  std::vector<std::vector<double>> values(shapes_.size());
  for (const std::size_t e : distinct_) {
    std::size_t n = 0;
    for (const PmappingGroup& group : rows_[e].groups) n += group.stride;
    values[e].assign(n, 0);
    double* value = values[e].data();
    for (std::size_t g = 0; g < rows_[e].groups.size(); ++g) {
      PmappingGroup& group = rows_[e].groups[g];
      value[0] = (*costs[e])[g].front().energy;
      value[1] = (*costs[e])[g].back().latency;
      group.values = value;
      group.count = 1;
      value += group.stride;
    }
  }
  std::vector<ExchangeLayer> layers;
  for (std::size_t e = 0; e < shapes_.size(); ++e)
    layers.push_back({&shapes_[e], &rows_[same_as_[e]].groups});
  GraphOptions options = graph_options();
  options.least = least_teller();
  ExchangeGraph graph = connect_exchanges(problem_, std::move(layers), options);
  for (RowGroups& rows : rows_)
    for (PmappingGroup& group : rows.groups) {
      group.values = nullptr;
      group.count = 0;
    }
  return graph;
}

/// Distinct Einsums: first those with few rows to price, then those with most. What these cost is
/// often far above its bound, and all that are left have less to price once that is known.
std::vector<std::size_t> Search::order_along_paths() const {
  constexpr double kFew = 1.0 / 32;  // of the most
  std::vector<std::size_t> order = distinct_;
  double most = 0;
  for (const std::size_t e : order) most = std::max(most, rows_to_price(e));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double rows_a = rows_to_price(a), rows_b = rows_to_price(b);
    const bool few_a = rows_a < kFew * most, few_b = rows_b < kFew * most;
    if (few_a != few_b) return few_a;
    return few_a ? rows_a < rows_b : rows_a > rows_b;
  });
  return order;
}

/// Prices what lies on paths whose bound is below the limit: first the bound of all rows, then of
/// what is priced of the Einsums before. With a beam some of it.
void Search::price_along(const std::vector<SearchBound>& bounds, const SearchBound& limit,
                         std::size_t beam, ThroughBounds* paths) {
  tables_.assign(shapes_.size(), std::make_shared<PmappingTable>());
  // Where the graph is small, or many rows are to be priced, it pays to know what is left of it.
  constexpr std::size_t kSmall = 100'000;  // edges
  constexpr double kMany = 2;              // rows for each edge
  const auto is_worth_it = [&](std::size_t e) {
    const std::size_t n_edges = count_edges(paths->graph().edges);
    return n_edges <= kSmall || rows_to_price(e) > kMany * static_cast<double>(n_edges);
  };
  std::size_t done = 0;
  for (const std::size_t e : order_) {
    if (done == 0 || is_worth_it(e)) paths->update(limit);
    if (cancelled() || paths->least(limit) == kInfiniteBound) return;
    ExchangeBounds exchange_bounds{&rows_[e].of_row,
                                   std::vector<LowerHull>(rows_[e].groups.size())};
    for (std::size_t equal = 0; equal < shapes_.size(); ++equal) {
      if (same_as_[equal] != e) continue;
      const std::vector<LowerHull> others = paths->others(equal);
      for (std::size_t g = 0; g < others.size(); ++g) {
        LowerHull& all = exchange_bounds.others[rows_[e].like[g]];
        all.insert(all.end(), others[g].begin(), others[g].end());
      }
    }
    for (LowerHull& all : exchange_bounds.others) all = lower_hull(std::move(all));
    TileSearchContext context = tile_context(e);
    context.bound = bounds[e];
    context.bound.limit = limit.limit;
    context.beam = beam;
    context.exchange_bounds = &exchange_bounds;
    PmappingTable table = price(context, rows_[e]);
    statistics_.mappings_evaluated += table.evaluated;
    const ThroughBounds::Costs hulls = hulls_of_groups(table);
    for (std::size_t equal = 0; equal < shapes_.size(); ++equal)
      if (same_as_[equal] == e) paths->set_costs(equal, hulls);
    put_down(e, std::move(table), &done);
  }
  paths->update(limit);
}

/// Prices some of what lies on the best paths: a mapping found so may be much better than that of
/// the scout, which knew no paths. First of those that are halfway from the best path to the known
/// mapping; if that was in vain, of all that may beat it, again while it helps. Not where the
/// former are most of them: all prices are found as soon.
void Search::scout_along(const std::vector<SearchBound>& bounds, const ThroughBounds& all,
                         double root) {
  constexpr double kBetter = 0.99, kMost = 0.5;
  const double halfway = std::sqrt(root * limit_);
  {
    ThroughBounds best = all;
    best.update(below(halfway));
    const auto n = static_cast<double>(count_edges(best.graph().edges));
    if (cancelled() || n > kMost * static_cast<double>(count_edges(all.graph().edges))) return;
  }
  const auto finds_better = [&](double within) {
    const double known = limit_;
    ThroughBounds paths = all;
    price_along(bounds, below(within), kTileBeam, &paths);
    if (!cancelled()) join_within(paths.graph(), 0, kJoinBeam);
    return !cancelled() && limit_ < kBetter * known;
  };
  if (finds_better(halfway)) return;
  while (!cancelled() && finds_better(limit_)) {
  }
}

/// The best mapping, priced along the paths of a graph of bounds.
JoinResult Search::search_along_paths(const std::vector<SearchBound>& bounds,
                                      const ExchangeAgreement& agreement) {
  const auto scout = [&](const ThroughBounds& all, double root) { scout_along(bounds, all, root); };
  const auto narrow = [&](const SearchBound& limit, ThroughBounds* paths) {
    price_along(bounds, limit, 0, paths);
  };
  ThroughBounds paths = find_paths(bounds, agreement);
  if (cancelled()) return {};
  order_ = order_along_paths();
  if (!paths.graph().broken_at) keep_paths(&paths);
  return search_in_rounds(std::move(paths), scout, narrow);
}

/// The best mapping, of tables that are priced.
JoinResult Search::search_priced() {
  ExchangeGraph graph = connect(0);
  if (cancelled()) return {};
  std::vector<ThroughBounds::Costs> costs(shapes_.size());
  for (std::size_t e = 0; e < shapes_.size(); ++e)
    costs[e] = same_as_[e] != e ? costs[same_as_[e]] : hulls_of_groups(*tables_[e]);
  const auto scout = [&](const ThroughBounds& all, double root) {
    ThroughBounds halfway = all;
    halfway.update(below(std::sqrt(root * limit_)));
    join_within(halfway.graph(), 0, kJoinBeam);
  };
  ThroughBounds paths{std::move(graph), std::move(costs), options_.threads};
  if (!paths.graph().broken_at) paths.update(below(limit_));
  return search_in_rounds(
      std::move(paths), scout,
      [](const SearchBound& limit, ThroughBounds* open) { open->update(limit); });
}

/// `all` is up to date. First all that may be little above the bound of the best path, then more
/// and more, up to what is known, at once where that is near: each round does the work of those
/// before again.
JoinResult Search::search_in_rounds(
    ThroughBounds all, const std::function<void(const ThroughBounds& all, double root)>& scout,
    const std::function<void(const SearchBound& limit, ThroughBounds* paths)>& narrow) {
  constexpr double kGrowth = 3, kFar = 0.15;
  // A bound that is not the best one is worth little; a mapping that comes out soon much.
  const double first = control_.asks_for_bound ? 0.1 : 0.01;
  const double near = control_.asks_for_bound ? 3 : 5;  // so many shares are done at once
  if (cancelled()) return {};
  if (all.graph().broken_at) {  // nothing is left that may be better
    open_bound_ = limit_;
    JoinResult none;
    none.searched_below = limit_;
    none.failed_at = shapes_[*all.graph().broken_at].einsum;
    return none;
  }
  SearchBound limit = below(limit_);
  const double root = std::min(limit_, all.least(limit));
  open_bound_ = root;
  tell_bound();
  if (!control_.asks_for_bound && limit_ > root * (1 + kFar)) scout(all, root);
  for (double share = first;; share *= kGrowth) {
    take_incumbent();
    const bool is_near = root <= 0 || limit_ <= root * (1 + near * share);
    limit.limit = is_near ? limit_ : std::min(limit_, root * (1 + share));
    ThroughBounds paths = all;
    narrow(limit, &paths);
    if (cancelled()) return {};
    open_bound_ = std::max(open_bound_, std::min(limit.limit, paths.least(limit)));
    tell_bound();
    JoinResult join = join_within(paths.graph(), limit.limit, 0);
    if (cancelled()) return {};
    open_bound_ = limit.limit;
    tell_bound();
    if (limit.limit >= limit_) return join;
  }
}

/// Joins what is priced: exact below `within`; of what lies above, a beam may find something. What
/// is found is what the rest must beat. `beam` > 0: nothing is exact.
JoinResult Search::join_within(const ExchangeGraph& graph, double within, std::size_t beam) {
  const auto take = [this](const JoinedMapping& found) {
    const double value = objective_value(options_.objectives.front(), found.energy, found.latency) *
                         kAboveRounding / (1 + epsilon());
    if (value >= limit_) return;
    limit_ = value;
    is_limit_known_ = false;
    if (may_end_early()) offer(finish(found));
  };
  JoinContext context = join_context(graph);
  context.beam = beam;
  if (beam == 0) {
    context.scout_beam = kJoinBeam;
    context.exact_below = within;
  }
  context.found = take;
  JoinResult join = join_pmappings(context);
  if (!cancelled())
    for (const JoinedMapping& mapping : join.mappings) take(mapping);
  return join;
}

}  // namespace sluice::fused
