#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

#include "mapper/common/parallel.h"
#include "mapper/fused/tiles/row_bounds.h"
#include "search.h"
#include "table_merger.h"

namespace sluice::fused {

/// Prices the exchanges of every Einsum. What no partner knows, or what bounds exclude, is not
/// priced: first the exchanges of all Einsums are bounded and compared, those with few first.
/// `beam` > 0: as a scout.
void Search::explore(const std::vector<SearchBound>& bounds, std::size_t beam) {
  price_all(bounds, find_exchanges(bounds, beam > 0), beam);
}

/// Prices the exchanges that were found.
void Search::price_all(const std::vector<SearchBound>& bounds, ExchangeAgreement agreement,
                       std::size_t beam) {
  std::size_t done = 0;
  for (std::size_t e : pricing_order()) {
    if (cancelled()) return;
    const ExchangeRequest request = exchange_request(e, &agreement, false);
    keep_agreed(request, &spaces_[e]);
    TileSearchContext context = tile_context(e);
    context.bound = bounds[e];
    context.beam = beam;
    const RowGroups rows = rows_of(e);
    if (cancelled()) return;
    PmappingTable table = price(context, rows);
    keep_priced(rows, table, &spaces_[e]);
    std::erase_if(table.groups, [](const PmappingGroup& group) { return group.count == 0; });
    agree(request, spaces_[e], &agreement);
    spaces_[e] = {};  // large, and priced
    put_down(e, std::move(table), &done);
  }
}

/// All ways of exchanging tensors that bounds leave, and those that all users of a tensor know.
ExchangeAgreement Search::find_exchanges(const std::vector<SearchBound>& bounds, bool coarse) {
  ExchangeAgreement agreement(problem_.workload.tensors.size());
  tables_.assign(shapes_.size(), std::make_shared<PmappingTable>());
  for (std::size_t e : pricing_order()) {
    if (cancelled()) break;
    ExchangeRequest request = exchange_request(e, &agreement, coarse);
    TileSearchContext context = tile_context(e);
    context.bound = bounds[e];
    request.filters = [&](const std::vector<std::uint32_t>& templates) {
      return trip_filters(context, compiled_[e], templates);
    };
    spaces_[e] = make_exchange_space(problem_, request, templates_[e], options_);
    keep_promising(context);
    agree(request, spaces_[e], &agreement);
  }
  return agreement;
}

RowGroups Search::rows_of(std::size_t e) const {
  return group_rows(problem_, shapes_[e], templates_[e], spaces_[e], tracked_.size(),
                    options_.threads, control_.cancel);
}

void Search::put_down(std::size_t e, PmappingTable priced, std::size_t* done) {
  const auto table = std::make_shared<PmappingTable>(std::move(priced));
  for (std::size_t other = 0; other < shapes_.size(); ++other) {
    if (same_as_[other] != e) continue;
    tables_[other] = table;
    ++*done;
  }
  if (control_.progress)
    control_.progress("exploring tile shapes",
                      static_cast<double>(*done) / static_cast<double>(shapes_.size()));
}

ExchangeRequest Search::exchange_request(std::size_t e, const ExchangeAgreement* agreement,
                                         bool coarse) const {
  ExchangeRequest request;
  for (std::size_t other = 0; other < shapes_.size(); ++other)
    if (same_as_[other] == e) request.equals.push_back(&shapes_[other]);
  if (options_.pruning.dead_ends) request.agreement = agreement;
  request.coarse = coarse;
  request.threads = options_.threads;
  request.cancel = control_.cancel;
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
      if (space.skeleton_of[t] == k && !cancelled())
        mark_promising(context, compiled_[e][t], t, &promising[k]);
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

/// Drops the rows that have no pmapping.
void Search::keep_priced(const RowGroups& rows, const PmappingTable& table, ExchangeSpace* space) {
  std::vector<std::vector<char>> priced;
  for (const std::vector<std::uint32_t>& groups : rows.of_row) {
    std::vector<char>& own = priced.emplace_back();
    for (const std::uint32_t group : groups) own.push_back(table.groups[group].count > 0);
  }
  keep_rows(priced, space);
}

/// Where pmappings are whole mappings: what the search of each template begins with, and by that
/// what each of them costs at least.
void Search::find_starts(const TileSearchContext& context) {
  const std::vector<std::uint32_t> order =
      distinct_templates(*context.compiled, [&](const SimpleProgram& program) {
        return context.bound.value(program.least_energy, program.least_latency);
      });
  std::vector<LoopStarts> starts(context.compiled->size());
  parallel_for(options_.threads, order.size(), [&](std::size_t i) {
    const std::uint32_t t = order[i];
    if (cancelled()) return;
    if (auto own = fused::find_starts(context, (*context.templates)[t], (*context.compiled)[t], t))
      starts[t] = std::move(*own);
  });
  if (!cancelled()) starts_ = std::move(starts);
}

/// In which order templates are priced: of whole mappings those first that may be best.
std::vector<std::uint32_t> Search::order_of_templates(const TileSearchContext& context) const {
  std::vector<std::uint32_t> all(context.compiled->size());
  std::iota(all.begin(), all.end(), 0U);
  if (context.starts == nullptr) return all;
  std::stable_sort(all.begin(), all.end(), [&](std::uint32_t a, std::uint32_t b) {
    return starts_[a].bound < starts_[b].bound;
  });
  constexpr std::size_t kScouted = 16;
  if (context.beam > 0) all.resize(std::min(all.size(), kScouted));
  return all;
}

namespace {

/// Templates in their order are searched together as far as they have not too many rows: what they
/// found takes memory until it is merged.
std::size_t end_of_batch(const ExchangeSpace& space, const std::vector<std::uint32_t>& order,
                         std::size_t first) {
  constexpr std::size_t kRows = 1 << 18;
  std::size_t rows = 0, last = first;
  while (last < order.size() && rows < kRows)
    rows += space.skeletons[space.skeleton_of[order[last++]]].n_rows;
  return last;
}

}  // namespace

/// All pmappings of one Einsum worth joining, by the groups of its exchanges.
PmappingTable Search::price(const TileSearchContext& of_einsum, const RowGroups& rows) {
  TileSearchContext context = of_einsum;
  const std::size_t e = context.shape->einsum.index();
  if (context.met_objective != nullptr) {
    if (starts_.empty()) find_starts(context);
    if (!starts_.empty()) context.starts = &starts_;
  }
  std::vector<TemplateResult> results(templates_[e].size());
  std::vector<char> is_searched(templates_[e].size(), 0);
  const std::vector<std::uint32_t> order = order_of_templates(context);
  if (!starts_.empty() && !order.empty()) open_bound_ = starts_[order.front()].bound;
  tell_bound();
  std::mutex mutex;
  std::size_t first_open = 0;  // in the order, which is that of their bounds
  const auto close = [&](std::uint32_t t) {
    const std::lock_guard lock(mutex);
    is_searched[t] = 1;
    while (first_open < order.size() && is_searched[order[first_open]] == 1) ++first_open;
    if (starts_.empty()) return;
    open_bound_ = first_open < order.size() ? starts_[order[first_open]].bound
                                            : std::numeric_limits<double>::infinity();
    tell_bound();
  };
  PmappingTable table;
  table.templates = templates_[e];
  TableMerger merger(context, compiled_[e], rows);
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    last = end_of_batch(*context.space, order, first);
    parallel_for(options_.threads, last - first, [&](std::size_t i) {
      if (cancelled()) return;
      const std::uint32_t t = order[first + i];
      results[t] = search_tile_shapes(context, templates_[e][t], compiled_[e][t], t);
      if (!cancelled() && context.beam == 0) close(t);
    });
    merger.add(results);
    for (std::size_t i = first; i < last; ++i) {
      const TemplateResult result = std::exchange(results[order[i]], {});
      table.considered += cancelled() ? result.considered : compiled_[e][order[i]].considered;
      table.evaluated += result.evaluated;
      if (result.miss.known &&
          (!table.miss.known || result.miss.excess_bits < table.miss.excess_bits))
        table.miss = result.miss;
    }
  }
  merger.finish(&table);
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

}  // namespace sluice::fused
