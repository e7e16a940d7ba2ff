#include "search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <unordered_map>

#include "../parallel.h"
#include "build.h"
#include "constraint_rules.h"
#include "front.h"
#include "key_hash.h"
#include "sluice/model/evaluate.h"
#include "sluice/support/error.h"

namespace sluice::fused {
namespace {

constexpr std::size_t kJoinBeam = 32;  // entries a group in a scout's join

/// Everything that decides an Einsum's pmappings except names.
bool same_problem(const BoundProblem& problem, const EinsumShape& a, const EinsumShape& b) {
  if (a.sizes != b.sizes || a.coupled != b.coupled || a.group != b.group ||
      a.carried != b.carried || !(a.recurrence == b.recurrence) || a.is_copy != b.is_copy ||
      a.multiplicity != b.multiplicity || a.tensors.size() != b.tensors.size())
    return false;
  for (std::size_t t = 0; t < a.tensors.size(); ++t) {
    const LocalTensor &x = a.tensors[t], &y = b.tensors[t];
    if (x.relevance != y.relevance || x.held != y.held || x.stepped != y.stepped ||
        x.is_input != y.is_input || x.is_output != y.is_output || x.shared != y.shared ||
        x.intermediate != y.intermediate || x.persistent != y.persistent ||
        x.copy_of != y.copy_of || x.instances != y.instances || x.other_holders != y.other_holders)
      return false;
  }
  const BoundEinsum &x = problem[a.einsum], &y = problem[b.einsum];
  const auto same_access = [](const BoundAccess& p, const BoundAccess& q) {
    if (p.tensor != q.tensor || p.is_output != q.is_output || p.relevance != q.relevance ||
        p.index.size() != q.index.size())
      return false;
    for (std::size_t r = 0; r < p.index.size(); ++r) {
      if (p.index[r].slack != q.index[r].slack || p.index[r].others != q.index[r].others ||
          p.index[r].whole != q.index[r].whole ||
          p.index[r].terms.size() != q.index[r].terms.size())
        return false;
      for (std::size_t i = 0; i < p.index[r].terms.size(); ++i)
        if (p.index[r].terms[i].variable != q.index[r].terms[i].variable ||
            p.index[r].terms[i].coefficient != q.index[r].terms[i].coefficient)
          return false;
    }
    return true;
  };
  if (!std::equal(x.accesses.begin(), x.accesses.end(), y.accesses.begin(), y.accesses.end(),
                  same_access) ||
      !std::equal(x.held.begin(), x.held.end(), y.held.begin(), y.held.end(), same_access))
    return false;
  for (std::size_t c = 0; c < x.components.size(); ++c) {
    const BoundComponent &p = x.components[c], &q = y.components[c];
    if (p.enabled != q.enabled || p.size_bits != q.size_bits ||
        p.bits_per_value != q.bits_per_value || p.latency_rows != q.latency_rows ||
        p.spatial.size() != q.spatial.size())
      return false;
    for (std::size_t d = 0; d < p.spatial.size(); ++d)
      if (p.spatial[d].fanout != q.spatial[d].fanout ||
          p.spatial[d].may_reuse != q.spatial[d].may_reuse ||
          p.spatial[d].reuse != q.spatial[d].reuse ||
          p.spatial[d].min_usage != q.spatial[d].min_usage)
        return false;
  }
  if (x.computes.size() != y.computes.size()) return false;
  for (std::size_t c = 0; c < x.computes.size(); ++c)
    if (x.computes[c].component != y.computes[c].component ||
        x.computes[c].calls_per_point != y.computes[c].calls_per_point)
      return false;
  return true;
}

/// Collects the pmappings of one Einsum from its templates: those of equal compatibility become one
/// group, pruned.
class TableMerger {
 public:
  TableMerger(const BoundProblem& problem, const EinsumShape& shape, const MapperOptions& options,
              const ExchangeSpace& space, std::size_t n_tracked, PmappingTable* table)
      : problem_(problem),
        shape_(shape),
        options_(options),
        space_(space),
        n_tracked_(n_tracked),
        table_(*table) {
    for (const ExchangeSpace::Skeleton& skeleton : space.skeletons)
      group_of_row_.emplace_back(skeleton.n_rows, -1);
  }

  void merge(const std::vector<TemplateResult>& results,
             const std::vector<CompiledTemplate>& compiled) {
    for (std::uint32_t t = 0; t < results.size(); ++t)
      for (std::uint32_t x = 0; x < results[t].exchanges.size(); ++x) {
        const std::size_t g = group_of(space_.skeleton_of[t], results[t].exchanges[x].row, t);
        if (parts_.size() <= g) parts_.resize(g + 1);
        parts_[g].push_back({t, x});
      }
    // In chunks of groups, which threads prune apart and put down in order.
    constexpr std::size_t kChunk = 512;
    const std::size_t n_chunks = (parts_.size() + kChunk - 1) / kChunk;
    table_.values.resize(n_chunks);
    table_.numbers.resize(n_chunks);
    std::vector<std::vector<std::uint32_t>> states(n_chunks);
    parallel_for(options_.threads, n_chunks, [&](std::size_t chunk) {
      const std::size_t last = std::min(parts_.size(), (chunk + 1) * kChunk);
      std::vector<std::size_t> first_value, first_number;
      for (std::size_t g = chunk * kChunk; g < last; ++g) {
        first_value.push_back(table_.values[chunk].size());
        first_number.push_back(table_.numbers[chunk].size());
        prune_group(results, compiled, g, chunk, &states[chunk]);
      }
      for (std::size_t g = chunk * kChunk; g < last; ++g) {
        PmappingGroup& group = table_.groups[g];
        const std::size_t at = g - chunk * kChunk;
        group.values = table_.values[chunk].data() + first_value[at];
        group.templates = table_.numbers[chunk].data() + first_number[at];
        group.first_state = group.templates + group.count;
      }
    });
    for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) {
      const auto before = static_cast<std::uint32_t>(table_.states.size());
      table_.states.insert(table_.states.end(), states[chunk].begin(), states[chunk].end());
      const std::size_t last = std::min(parts_.size(), (chunk + 1) * kChunk);
      for (std::size_t g = chunk * kChunk; g < last; ++g) {
        const PmappingGroup& group = table_.groups[g];
        const std::ptrdiff_t first = group.first_state - table_.numbers[chunk].data();
        for (std::size_t i = 0; i < group.count; ++i)
          table_.numbers[chunk][static_cast<std::size_t>(first) + i] += before;
      }
    }
  }

  /// Rows with a pmapping, per skeleton.
  std::vector<std::vector<char>> priced_rows() const {
    std::vector<std::vector<char>> priced;
    for (const std::vector<std::int64_t>& rows : group_of_row_) {
      std::vector<char>& own = priced.emplace_back();
      for (std::int64_t group : rows) own.push_back(group >= 0);
    }
    return priced;
  }

 private:
  struct Part {
    std::uint32_t templ, exchange;
  };

  std::size_t group_of(std::uint32_t k, std::uint32_t row, std::uint32_t t) {
    std::int64_t& at = group_of_row_[k][row];
    if (at < 0) {
      Compatibility compatibility =
          compatibility_of(problem_, shape_, table_.templates[t], space_.skeletons[k].row(row));
      const auto [known, is_new] =
          index_.try_emplace(compatibility_key(compatibility), table_.groups.size());
      at = static_cast<std::int64_t>(known->second);
      if (is_new) {
        PmappingGroup& group = table_.groups.emplace_back();
        group.stride = 2 + n_tracked_ * (compatibility.loops.size() + 1) + n_tracked_;
        group.compatibility = std::move(compatibility);
      }
    }
    return static_cast<std::size_t>(at);
  }

  /// Gathers a group from its templates and puts what is worth keeping at the end of its chunk:
  /// values, then templates and places of its states.
  void prune_group(const std::vector<TemplateResult>& results,
                   const std::vector<CompiledTemplate>& compiled, std::size_t g, std::size_t chunk,
                   std::vector<std::uint32_t>* states) {
    PmappingGroup& group = table_.groups[g];
    PointSet points;
    points.dimension = group.stride;
    std::vector<std::pair<std::uint32_t, const std::uint32_t*>> sources;  // template, states
    for (const Part& part : parts_[g]) {
      const TemplateResult& result = results[part.templ];
      const PricedExchange& exchange = result.exchanges[part.exchange];
      const double* values = result.values.data() + exchange.values;
      points.values.insert(points.values.end(), values, values + exchange.count * group.stride);
      const std::size_t n_classes = compiled[part.templ].classes.size();
      for (std::size_t i = 0; i < exchange.count; ++i)
        sources.emplace_back(part.templ, result.states.data() + exchange.states + i * n_classes);
    }
    FrontOptions front;
    front.objectives = options_.objectives;
    front.dominance = options_.pruning.dominance;
    front.convex_hull =
        options_.pruning.convex_hull && options_.top == 1 && !options_.resource_usage;
    const std::vector<std::uint32_t> kept = worth_keeping(points, front);
    group.count = kept.size();
    std::vector<std::uint32_t>& numbers = table_.numbers[chunk];
    for (std::uint32_t i : kept) {
      table_.values[chunk].insert(table_.values[chunk].end(), points.point(i),
                                  points.point(i) + group.stride);
      numbers.push_back(sources[i].first);
    }
    for (std::uint32_t i : kept) {
      numbers.push_back(static_cast<std::uint32_t>(states->size()));
      const auto& [templ, from] = sources[i];
      states->insert(states->end(), from, from + compiled[templ].classes.size());
    }
  }

  const BoundProblem& problem_;
  const EinsumShape& shape_;
  const MapperOptions& options_;
  const ExchangeSpace& space_;
  const std::size_t n_tracked_;
  PmappingTable& table_;
  std::vector<std::vector<std::int64_t>> group_of_row_;  // per skeleton and row, -1: none
  std::vector<std::vector<Part>> parts_;                 // per group
  std::unordered_map<std::vector<std::int64_t>, std::size_t, KeyHash> index_;
};

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

}  // namespace

Search::Search(const BoundProblem& problem, const MapperOptions& options,
               const MapperControl& control)
    : problem_(problem), options_(options), control_(control) {}

void Search::make_shapes() {
  const std::size_t n = problem_.workload.einsums.size();
  for (std::size_t e = 0; e < n; ++e) {
    shapes_.push_back(make_einsum_shape(problem_, EinsumId(e)));
    templates_.push_back(
        enumerate_templates(problem_, shapes_.back(), options_, options_.constraints));
  }
}

void Search::find_isomorphic() {
  spaces_.resize(shapes_.size());
  for (std::size_t e = 0; e < shapes_.size(); ++e) {
    same_as_.push_back(e);
    if (!options_.pruning.isomorphic_einsums) continue;
    for (std::size_t other = 0; other < e; ++other) {
      if (same_as_[other] != other || templates_[other] != templates_[e] ||
          !same_problem(problem_, shapes_[other], shapes_[e]) ||
          tile_rules(options_.constraints, shapes_[other]) !=
              tile_rules(options_.constraints, shapes_[e]))
        continue;
      same_as_.back() = other;
      break;
    }
  }
}

/// A memory is followed across Einsums if a shared or persistent tensor can be backed there or a
/// node can stand there above a fused loop; never, if it could hold everything at once.
void Search::find_tracked() {
  const std::size_t n = problem_.arch.components.size();
  unlimited_.assign(n, true);
  for (std::size_t c = 0; c < n; ++c) {
    if (!problem_.arch.components[c].is_memory()) continue;
    double all = 0, size = std::numeric_limits<double>::infinity();
    for (const EinsumShape& shape : shapes_) {
      const BoundComponent& bound = problem_[shape.einsum].components[c];
      size = std::min(size, bound.size_bits);
      all += everything_held(shape, problem_[shape.einsum], c,
                             is_double_buffered(problem_.arch.components[c]));
    }
    unlimited_[c] = std::isinf(size) || (options_.pruning.reservation_relevance &&
                                         !options_.resource_usage && all <= size);
    if (unlimited_[c]) continue;
    bool follow = !options_.pruning.reservation_relevance || options_.resource_usage;
    for (const std::vector<Template>& templates : templates_) {
      for (const Template& templ : templates) {
        std::uint32_t fused = 0;
        for (const Slot& slot : templ.slots)
          if (slot.shared) fused = std::max(fused, slot.gap);
        for (const Slot& slot : templ.slots)
          follow = follow || (slot.component.index() == c &&
                              (slot.shared || slot.persistent || slot.gap < fused));
      }
    }
    if (follow) tracked_.push_back({ComponentId(c), size});
  }
}

TileSearchContext Search::tile_context(std::size_t einsum) const {
  TileSearchContext context{};
  context.problem = &problem_;
  context.shape = &shapes_[einsum];
  context.options = &options_;
  context.constraints = &options_.constraints;
  context.tracked = &tracked_;
  context.unlimited = &unlimited_;
  context.cancel = control_.cancel;
  context.space = &spaces_[einsum];
  return context;
}

/// Joins the pmappings of all Einsums where their exchanges agree.
JoinResult Search::join(std::size_t beam) {
  std::vector<ExchangeLayer> layers;
  for (std::size_t e = 0; e < shapes_.size(); ++e)
    layers.push_back({&shapes_[e], &tables_[e]->groups});
  GraphOptions graph_options;
  graph_options.drop_dead_ends = options_.pruning.dead_ends;
  graph_options.tracked = &tracked_;
  graph_options.cancel = control_.cancel;
  graph_options.bound.active = limit_ > 0;
  graph_options.bound.limit = limit_;
  graph_options.bound.objective = options_.objectives.front();
  const ExchangeGraph graph = connect_exchanges(problem_, std::move(layers), graph_options);
  JoinResult none;
  if (cancelled()) return none;
  if (graph.broken_at) {
    none.failed_at = shapes_[*graph.broken_at].einsum;
    return none;
  }
  JoinContext context = join_context();
  context.graph = &graph;
  context.beam = beam;
  if (beam == 0 && bounds_apply()) context.scout_beam = kJoinBeam;
  context.bound = graph_options.bound;
  return join_pmappings(context);
}

void Search::compile_templates() {
  compiled_.resize(shapes_.size());
  for (std::size_t e = 0; e < shapes_.size(); ++e)
    if (same_as_[e] == e) compiled_[e].resize(templates_[e].size());
  parallel_for(options_.threads, shapes_.size(), [&](std::size_t e) {
    StateTables tables;
    for (std::size_t t = 0; t < compiled_[e].size() && !cancelled(); ++t)
      compiled_[e][t] = compile_template(tile_context(e), templates_[e][t], &tables);
  });
}

/// Per Einsum: what all others cost at least, and what must be beaten.
std::vector<SearchBound> Search::bounds(double limit) const {
  std::vector<double> energy(shapes_.size()), latency(shapes_.size());
  for (std::size_t e = 0; e < shapes_.size(); ++e) {
    double least_energy = std::numeric_limits<double>::infinity(), least_latency = least_energy;
    for (const CompiledTemplate& compiled : compiled_[same_as_[e]]) {
      if (compiled.considered == 0 || !compiled.program.feasible) continue;
      least_energy = std::min(least_energy, compiled.program.least_energy);
      least_latency = std::min(least_latency, compiled.program.least_latency);
    }
    energy[e] = std::isfinite(least_energy) ? least_energy : 0;
    latency[e] = std::isfinite(least_latency) ? least_latency : 0;
  }
  std::vector<SearchBound> result(shapes_.size());
  for (std::size_t e = 0; e < shapes_.size(); ++e) {
    result[e].active = limit > 0;
    result[e].limit = limit;
    result[e].objective = options_.objectives.front();
    for (std::size_t other = 0; other < shapes_.size(); ++other) {
      if (other == e) continue;
      result[e].others.front().energy += energy[other];
      result[e].others.front().latency += latency[other];
    }
  }
  return result;
}

/// One known mapping excludes others only where a single objective asks for a single mapping.
bool Search::bounds_apply() const {
  return options_.pruning.bounds && options_.pruning.dominance && options_.objectives.size() == 1 &&
         !options_.resource_usage && options_.top == 1;
}

/// Looks for a good mapping with a narrow beam: its objective bounds the exact search.
void Search::scout() {
  if (cancelled()) return;
  constexpr std::size_t kTileBeam = 8;
  explore(bounds(0), kTileBeam);
  const JoinResult join = this->join(kJoinBeam);
  for (const JoinedMapping& mapping : join.mappings) {
    const double value =
        objective_value(options_.objectives.front(), mapping.energy, mapping.latency);
    if (limit_ == 0 || value < limit_) limit_ = value;
  }
  // Only a search that somebody may cancel needs something to show for it.
  if (control_.cancel != nullptr && !join.mappings.empty())
    best_so_far_ = finish(select(join.mappings).front());
  limit_ *= 1 + 1e-9;
}

/// Prices the exchanges of every Einsum. What no partner knows, or what bounds exclude, is not
/// priced: first the exchanges of all Einsums are bounded and compared, those with few first.
/// `beam` > 0: as a scout.
void Search::explore(const std::vector<SearchBound>& bounds, std::size_t beam) {
  const std::vector<std::size_t> order = pricing_order();
  ExchangeAgreement agreement(problem_.workload.tensors.size());
  tables_.assign(shapes_.size(), std::make_shared<PmappingTable>());
  for (std::size_t e : order) {
    if (cancelled()) return;
    const ExchangeRequest request = exchange_request(e, &agreement, beam > 0);
    spaces_[e] = make_exchange_space(problem_, request, templates_[e], options_);
    TileSearchContext context = tile_context(e);
    context.bound = bounds[e];
    keep_promising(context);
    agree(request, spaces_[e], &agreement);
  }
  std::size_t done = 0;
  for (std::size_t e : order) {
    if (cancelled()) return;
    const ExchangeRequest request = exchange_request(e, &agreement, false);
    keep_agreed(request, &spaces_[e]);
    TileSearchContext context = tile_context(e);
    context.bound = bounds[e];
    context.beam = beam;
    const auto table = std::make_shared<PmappingTable>(price(context));
    for (std::size_t other = 0; other < shapes_.size(); ++other)
      if (same_as_[other] == e) tables_[other] = table;
    agree(request, spaces_[e], &agreement);
    spaces_[e] = {};  // large, and priced
    done += request.equals.size();
    if (control_.progress)
      control_.progress("exploring tile shapes",
                        static_cast<double>(done) / static_cast<double>(shapes_.size()));
  }
}

ExchangeRequest Search::exchange_request(std::size_t e, const ExchangeAgreement* agreement,
                                         bool coarse) const {
  ExchangeRequest request;
  for (std::size_t other = 0; other < shapes_.size(); ++other)
    if (same_as_[other] == e) request.equals.push_back(&shapes_[other]);
  if (options_.pruning.dead_ends) request.agreement = agreement;
  request.coarse = coarse;
  request.threads = options_.threads;
  return request;
}

/// Drops the exchanges for which no template can have a tile shape worth pricing.
void Search::keep_promising(const TileSearchContext& context) {
  const std::size_t e = context.shape->einsum.index();
  ExchangeSpace& space = spaces_[e];
  std::vector<std::vector<char>> promising;
  for (const ExchangeSpace::Skeleton& skeleton : space.skeletons)
    promising.emplace_back(skeleton.n_rows, 0);
  parallel_for(options_.threads, space.skeletons.size(), [&](std::size_t k) {
    for (std::uint32_t t = 0; t < templates_[e].size(); ++t)
      if (space.skeleton_of[t] == k) mark_promising(context, compiled_[e][t], t, &promising[k]);
  });
  keep_rows(promising, &space);
}

void Search::keep_agreed(const ExchangeRequest& request, ExchangeSpace* space) {
  std::vector<std::vector<char>> agreed;
  const std::size_t n = space->shared_tensor.size();
  for (const ExchangeSpace::Skeleton& skeleton : space->skeletons) {
    std::vector<char>& rows = agreed.emplace_back();
    for (std::size_t r = 0; r < skeleton.n_rows; ++r)
      rows.push_back(has_partners(request, *space, skeleton.exchanges.data() + r * n));
  }
  keep_rows(agreed, space);
}

/// All pmappings of one Einsum worth joining; of its exchange space, the rows that have any stay.
PmappingTable Search::price(const TileSearchContext& context) {
  const std::size_t e = context.shape->einsum.index();
  std::vector<TemplateResult> results(templates_[e].size());
  parallel_for(options_.threads, results.size(), [&](std::size_t t) {
    if (cancelled()) return;
    results[t] = search_tile_shapes(context, templates_[e][t], compiled_[e][t],
                                    static_cast<std::uint32_t>(t));
  });
  PmappingTable table;
  table.templates = templates_[e];
  TableMerger merger(problem_, shapes_[e], options_, spaces_[e], tracked_.size(), &table);
  merger.merge(results, compiled_[e]);
  for (const TemplateResult& result : results) {
    table.considered += result.considered;
    table.evaluated += result.evaluated;
    if (result.miss.known &&
        (!table.miss.known || result.miss.excess_bits < table.miss.excess_bits))
      table.miss = result.miss;
  }
  keep_rows(merger.priced_rows(), &spaces_[e]);
  for (const PmappingGroup& group : table.groups) table.kept += static_cast<double>(group.size());
  return table;
}

/// Tells the partners of an Einsum in which ways it can exchange its tensors.
void Search::agree(const ExchangeRequest& request, const ExchangeSpace& space,
                   ExchangeAgreement* agreement) {
  for (const EinsumShape* equal : request.equals) {
    std::vector<TensorId> tensors;
    for (std::uint32_t tensor : space.shared_tensor) tensors.push_back(equal->tensors[tensor].id);
    std::vector<std::uint64_t> exchanges;
    for (const ExchangeSpace::Skeleton& skeleton : space.skeletons)
      exchanges.insert(exchanges.end(), skeleton.exchanges.begin(), skeleton.exchanges.end());
    agreement->add(equal->einsum, std::move(tensors), std::move(exchanges));
  }
  agreement->settle();
}

/// Distinct Einsums, those with the fewest possible exchanges first.
std::vector<std::size_t> Search::pricing_order() const {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t e = 0; e < shapes_.size(); ++e) {
    if (same_as_[e] != e) continue;
    double choices = 0;
    for (const Template& templ : templates_[e]) {
      double own = 1;
      for (const LoopPlace& loop : templ.loops)
        if (loop.fused) own *= 1 + std::log2(static_cast<double>(shapes_[e].sizes[loop.variable]));
      choices += own;
    }
    order.emplace_back(choices, e);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> result;
  for (const auto& [choices, e] : order) result.push_back(e);
  return result;
}

JoinContext Search::join_context() const {
  JoinContext context{};
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
  std::vector<std::vector<std::int64_t>> trips;
  for (std::size_t e = 0; e < shapes_.size(); ++e) {
    const PmappingGroup& group = tables_[e]->groups[joined.chosen[e].group];
    const std::uint32_t t = group.templates[joined.chosen[e].index];
    trips.push_back(
        loop_trips(shapes_[e], tables_[e]->templates[t], compiled_[same_as_[e]][t],
                   tables_[e]->states.data() + group.first_state[joined.chosen[e].index]));
  }
  MappedResult result;
  result.mapping = build_mapping(join_context(), joined.chosen, trips);
  auto cost = evaluate(problem_, result.mapping);
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
      "the mapper and the model disagree about a mapping: " + std::to_string(joined.energy) +
          " J / " + std::to_string(joined.latency) + " s against " +
          std::to_string(result.cost.energy_j) + " J / " + std::to_string(result.cost.latency_s) +
          " s\n" + to_yaml(result.mapping, problem_.workload, problem_.arch));
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

/// What a cancelled search found may be worse than what its scout had found before.
void Search::keep_best_so_far(MapperResult* result) const {
  if (!best_so_far_) return;
  const Objective objective = options_.objectives.front();
  const auto value = [objective](const MappedResult& mapped) {
    return objective_value(objective, mapped.cost.energy_j, mapped.cost.latency_s);
  };
  if (result->mappings.empty() || value(*best_so_far_) < value(result->mappings.front()))
    result->mappings = {*best_so_far_};
}

tl::expected<MapperResult, NoMapping> Search::run() {
  const auto start = std::chrono::steady_clock::now();
  make_shapes();
  find_isomorphic();
  find_tracked();
  compile_templates();
  if (bounds_apply()) scout();
  explore(bounds(limit_), 0);
  MapperResult result;
  for (std::size_t e = 0; e < shapes_.size(); ++e) {
    if (same_as_[e] != e) continue;
    statistics_.mappings_considered += tables_[e]->considered;
    statistics_.mappings_evaluated += tables_[e]->evaluated;
    statistics_.pmappings_kept += tables_[e]->kept;
  }
  const JoinResult join = this->join(0);
  result.cancelled = cancelled();
  if (join.mappings.empty() && !result.cancelled) return tl::make_unexpected(explain(join));
  for (const JoinedMapping& joined : select(join.mappings))
    result.mappings.push_back(finish(joined));
  if (result.cancelled) keep_best_so_far(&result);
  for (std::size_t e = 0; e < same_as_.size(); ++e)
    if (same_as_[e] == e) ++statistics_.distinct_einsums;
  statistics_.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  statistics_.threads = options_.threads;
  result.search = statistics_;
  result.guarantee.kind = result.cancelled ? GuaranteeKind::kNone : GuaranteeKind::kOptimal;
  result.guarantee.space =
      "no recomputation, perfect factors, max_fused_loops=" +
      (options_.max_fused_loops == kUnlimitedLoops ? std::string("inf")
                                                   : std::to_string(options_.max_fused_loops));
  return result;
}

}  // namespace sluice::fused
