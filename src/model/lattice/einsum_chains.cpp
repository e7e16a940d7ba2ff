#include "sluice/model/einsum_chains.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <queue>
#include <unordered_map>

#include "chain_tensors.h"
#include "model/bind/compute_bound.h"
#include "tile_lattice.h"

namespace sluice {
namespace {

using ChainStep = ChainSteps::value_type;

/// Whether a step is a loop over a dimension of the gap.
bool is_in(const SpatialGap& gap, const ChainStep& step) {
  const auto* loop = std::get_if<ChainLoop>(&step);
  return loop != nullptr && loop->spatial &&
         std::find(gap.dimensions.begin(), gap.dimensions.end(), *loop->spatial) !=
             gap.dimensions.end();
}

/// Whether the gap lies outside of a node among a chain's first steps: these have its loops.
bool is_given(const SpatialGap& gap, const ChainSteps& outermost) {
  return std::any_of(outermost.begin(), outermost.end(), [&](const ChainStep& step) {
    const auto* node = std::get_if<ChainNode>(&step);
    return node != nullptr && gap.dimensions.front().first < node->memory;
  });
}

/// Nodes and temporal loops of a chain, and its spatial loops: as far out as the memories allow, so
/// that windows can slide in each instance.
class ChainWriter {
 public:
  /// `outermost`: the chain's first steps, if they are given.
  ChainWriter(const ChainTensors& tensors, const Spread& spread, const BoundCompute& compute,
              const ChainSteps& outermost)
      : tensors_(tensors), spread_(spread), compute_(compute), outermost_(outermost) {}

  void node(const ChainTensor& tensor, std::size_t memory, bool slides) {
    steps_.emplace_back(ChainNode{tensor.tensor, compute_.path[tensors_.memories[memory]], slides});
    for (std::size_t m = memory; m < n_above_.size(); ++m) n_above_[m] = steps_.size();
    if (tensor.is_above_all && steps_.size() == n_persistent_ + 1) ++n_persistent_;
  }
  /// Of loops over a variable between two nodes, one is left.
  void loop(std::size_t variable, std::int64_t trips) {
    for (std::size_t s = steps_.size(); s-- > 0;) {
      const auto* other = std::get_if<ChainLoop>(&steps_[s]);
      if (other == nullptr) break;
      if (other->variable != variable) continue;
      trips *= other->trips;
      steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(s));
      break;
    }
    steps_.emplace_back(ChainLoop{variable, trips});
  }
  Chain finish() const {
    Chain chain;
    chain.compute = compute_.component;
    std::size_t gap = 0;
    for (std::size_t s = 0; s <= steps_.size(); ++s) {
      for (; gap < spread_.gaps.size() && steps_above(tensors_.spreads->gaps()[gap]) <= s; ++gap)
        spread_over(gap, &chain);
      if (s < steps_.size()) chain.steps.push_back(steps_[s]);
    }
    return chain;
  }

 private:
  /// Before all memories: below tensors that stay for the whole run.
  std::size_t steps_above(const SpatialGap& gap) const {
    return gap.memory == 0 ? n_persistent_ : n_above_[gap.memory - 1];
  }

  void spread_over(std::size_t gap, Chain* chain) const {
    const auto& dimensions = tensors_.spreads->gaps()[gap].dimensions;
    if (is_given(tensors_.spreads->gaps()[gap], outermost_)) {
      for (const auto& step : outermost_)
        if (is_in(tensors_.spreads->gaps()[gap], step)) chain->steps.push_back(step);
      return;
    }
    const std::vector<Factors64>& factors = spread_.gaps[gap]->by_dimension;
    for (std::size_t d = 0; d < factors.size(); ++d)
      for (std::size_t v = 0; v < factors[d].size(); ++v)
        if (factors[d][v] > 1)
          chain->steps.emplace_back(ChainLoop{v, factors[d][v], dimensions[d]});
  }

  const ChainTensors& tensors_;
  const Spread& spread_;
  const BoundCompute& compute_;
  const ChainSteps& outermost_;
  ChainSteps steps_;
  std::size_t n_persistent_ = 0;  ///< steps at the beginning
  /// Per memory: steps down to the last node there or further out.
  std::vector<std::size_t> n_above_ = std::vector<std::size_t>(tensors_.memories.size(), 0);
};

}  // namespace

bool has_unknown_costs(const BoundProblem& problem, const BoundCompute& compute) {
  return !compute.networks.empty() ||
         std::any_of(compute.path.begin(), compute.path.end(), [&](ComponentId component) {
           const Component& own = problem.arch[component];
           return own.is_toll() ||
                  (own.is_memory() && std::get<Memory>(own.kind).buffering == Buffering::kDouble);
         });
}

struct EinsumChains::Way {
  Way(const BoundProblem& problem, EinsumId id, const BoundCompute& own, Counted counted,
      const std::optional<Discount>& discount, std::size_t most_spreads)
      : bound(problem[id]),
        compute(own),
        tensors(problem, id, own, counted, most_spreads),
        compute_j(compute_energy(problem, id, own)),
        seconds(tensors.points * seconds_per_point(problem, id, own)) {
    if (!discount) return;
    const int last = own.depth[discount->memory.index()];
    const auto is_discounted = [&](std::size_t place) { return static_cast<int>(place) <= last; };
    tensors.discount(static_cast<std::size_t>(std::count_if(tensors.memories.begin(),
                                                            tensors.memories.end(), is_discounted)),
                     discount->share);
  }

  SpreadBound first_bound(const Spread& spread) const {
    SpreadBound bound;
    bound.seconds = std::max(seconds / spread.lanes, tensors.least_busy_seconds(spread));
    bound.energy_j = compute_j + tensors.least_energy(spread);
    bound.is_group = tensors.spreads->is_group(spread);
    return bound;
  }

  /// What a lattice has found; nothing where it says too little.
  std::optional<Chain> chain(const Spread& spread, const TileLattice& lattice,
                             const ChainSteps& outermost) const {
    if (lattice.steps().empty()) return std::nullopt;
    ChainWriter writer(tensors, spread, compute, outermost);
    std::vector<const ChainTensor*> with_nodes;
    for (const ChainTensor& tensor : tensors.tensors) {
      if (!tensor.has_nodes) return std::nullopt;
      with_nodes.push_back(&tensor);
    }
    for (const bool is_above_all : {true, false})
      for (const ChainTensor* tensor : with_nodes)
        if (tensor->is_backed_first && tensor->is_above_all == is_above_all)
          writer.node(*tensor, tensor->memories.front(), false);
    for (const auto& step : lattice.steps()) {
      if (const auto* node = std::get_if<TileLattice::Node>(&step))
        writer.node(*with_nodes[node->tensor], node->memory, node->slides);
      else
        writer.loop(std::get<TileLattice::Loop>(step).variable,
                    std::get<TileLattice::Loop>(step).trips);
    }
    return writer.finish();
  }

  /// Steps in the numbers of a lattice; nothing where it does not know one of their tensors.
  std::optional<TileLattice::Steps> steps_of(const ChainSteps& steps) const {
    TileLattice::Steps result;
    for (const auto& step : steps) {
      if (const auto* loop = std::get_if<ChainLoop>(&step)) {
        if (!loop->spatial) result.emplace_back(TileLattice::Loop{loop->variable, loop->trips});
        continue;
      }
      const auto& own = std::get<ChainNode>(step);
      std::size_t k = 0;
      for (; k < tensors.tensors.size() && tensors.tensors[k].tensor != own.tensor; ++k)
        if (!tensors.tensors[k].has_nodes) return std::nullopt;
      std::size_t m = 0;
      while (m < tensors.memories.size() && compute.path[tensors.memories[m]] != own.memory) ++m;
      if (k == tensors.tensors.size() || m == tensors.memories.size() ||
          tensors.tensors[k].is_backed_first)
        return std::nullopt;
      result.emplace_back(TileLattice::Node{k, m, false});
    }
    return result;
  }

  const BoundEinsum& bound;
  const BoundCompute& compute;
  ChainTensors tensors;
  double compute_j, seconds;                                  ///< of all points, on one instance
  std::unordered_map<std::size_t, SpreadBound> first_bounds;  ///< per kind of spread
};

EinsumChains::EinsumChains(const BoundProblem& problem, EinsumId einsum, Counted counted,
                           const std::optional<Discount>& discount, std::size_t most_spreads) {
  if (problem.workload[einsum].is_copy_operation) return;
  for (const BoundCompute& compute : problem[einsum].computes) {
    ways_.push_back(
        std::make_unique<Way>(problem, einsum, compute, counted, discount, most_spreads));
    const Way& way = *ways_.back();
    know_costs_ = know_costs_ && !has_unknown_costs(problem, compute);
    if (way.tensors.spreads->all().empty()) {  // nothing is known of this way
      spreads_.clear();
      return;
    }
    list(ways_.size() - 1, 0);
  }
}

/// From one place on, in the order of the way.
void EinsumChains::list(std::size_t w, std::size_t from) {
  Way& way = *ways_[w];
  const std::deque<Spread>& all = way.tensors.spreads->all();
  for (std::size_t i = from; i < all.size(); ++i) {
    const auto [known, is_new] = way.first_bounds.try_emplace(way.tensors.spreads->kind_of(all[i]));
    if (is_new) known->second = way.first_bound(all[i]);
    spreads_.push_back(known->second);
    way_of_.push_back(w);
    index_in_way_.push_back(i);
  }
  chains_.resize(spreads_.size());
}

void EinsumChains::split(std::size_t group) {
  const std::size_t w = way_of_[group];
  Spreads& spreads = *ways_[w]->tensors.spreads;
  const std::size_t before = spreads.all().size();
  spreads.split(index_in_way_[group]);
  list(w, before);
  SpreadBound& own = spreads_[group];
  own.price = own.energy_j = std::numeric_limits<double>::infinity();
  own.is_refined = true;
  own.is_group = false;
}

bool EinsumChains::know_all() const {
  return know_costs_ && !spreads_.empty() &&
         std::all_of(ways_.begin(), ways_.end(),
                     [](const auto& way) { return way->tensors.knows_all; });
}

/// Some at once, those first that may have it.
std::optional<double> EinsumChains::least_energy(double limit, const Parallel& parallel,
                                                 const std::atomic<bool>* cancel,
                                                 double most_states) {
  constexpr std::size_t kAtOnce = 8;
  using Open = std::pair<double, std::size_t>;  // bound, spread
  const auto price = [](double energy_j, double) { return energy_j; };
  const auto least_of = [&](std::size_t s) {
    return std::max(spreads_[s].price, spreads_[s].energy_j);
  };
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
  std::size_t n_known = 0;
  double n_states = 0;  // of what was refined
  const auto add_new = [&] {
    for (; n_known < spreads_.size(); ++n_known) open.emplace(least_of(n_known), n_known);
  };
  add_new();
  while (!open.empty() && open.top().first < limit) {
    const bool is_over = cancel != nullptr && *cancel;
    if (is_over || !may_split()) return open.top().first;  // no better than they seem
    std::vector<std::size_t> some;
    while (!open.empty() && some.size() < kAtOnce && open.top().first < limit) {
      const std::size_t s = open.top().second;
      open.pop();
      if (spreads_[s].is_group)
        split(s);
      else
        some.push_back(s);
      add_new();
    }
    for (const std::size_t s : some) n_states += n_states_of(s);
    if (n_states > most_states) return std::nullopt;
    parallel(some.size(), [&](std::size_t i) { refine(some[i], price, limit, cancel); });
    for (const std::size_t s : some) limit = std::min(limit, least_of(s));
  }
  return limit;
}

bool EinsumChains::equals(const EinsumChains& other) const {
  return !ways_.empty() && !spreads_.empty() &&
         std::equal(ways_.begin(), ways_.end(), other.ways_.begin(), other.ways_.end(),
                    [](const auto& a, const auto& b) {
                      return a->compute_j == b->compute_j && a->seconds == b->seconds &&
                             a->tensors.equals(b->tensors);
                    });
}

EinsumChains::EinsumChains(EinsumChains&&) noexcept = default;
EinsumChains& EinsumChains::operator=(EinsumChains&&) noexcept = default;
EinsumChains::~EinsumChains() = default;

void EinsumChains::refine(std::size_t index, const Price& price, double limit,
                          const std::atomic<bool>* cancel, Beyond beyond) {
  // The chain of the least energy is soon found, and often as fast as the computes; where it is
  // not, memories' times count, some labels of the search at first.
  constexpr TileLattice::Effort kSteps[] = {
      {.weighs_time = false}, {.most_labels = 30'000}, {.most_labels = 300'000}};
  SpreadBound& bound = spreads_[index];
  if (bound.is_refined) return;
  const Way& way = *ways_[way_of_[index]];
  const Spread& spread = way.tensors.spreads->all()[index_in_way_[index]];
  const auto whole = [&](double energy_j, double seconds) {
    return price(way.compute_j + energy_j, seconds);
  };
  const auto raise_energy = [&](double energy_j) {
    bound.energy_j = std::max(bound.energy_j, way.compute_j + energy_j);
    bound.price = std::max(bound.price, std::min(limit, price(bound.energy_j, bound.seconds)));
    return bound.price < limit;
  };
  const auto least_of = [&](TileLattice* lattice) {
    const auto is_beyond = [&](double energy_j) {
      return beyond == Beyond::kCut && whole(energy_j, bound.seconds) >= limit;
    };
    return lattice->least(is_beyond, bound.energy_j - way.compute_j);
  };
  if (!raise_energy(0)) return;
  if (way.tensors.have_windows() && bound.n_steps == 0)
    for (const Windows windows : {Windows::kAnywhere, Windows::kAsMoved}) {
      TileLattice lattice(way.tensors, spread, windows, cancel);
      if (!raise_energy(least_of(&lattice))) return;
    }
  TileLattice lattice(way.tensors, spread, Windows::kStepByStep, cancel);
  if (!raise_energy(least_of(&lattice))) return;
  const TileLattice::Effort& effort = kSteps[bound.n_steps];
  bound.price = std::max(bound.price, lattice.least_that_fits(whole, bound.seconds, limit, effort));
  if (bound.price >= limit) return;
  double longest_s = bound.seconds;
  for (const double busy_s : lattice.busy_seconds()) longest_s = std::max(longest_s, busy_s);
  const bool is_exact = !lattice.steps().empty() &&
                        (effort.weighs_time ||
                         price(bound.energy_j, longest_s) <= price(bound.energy_j, bound.seconds));
  ++bound.n_steps;
  bound.is_refined = is_exact || bound.n_steps == std::size(kSteps);
  if (auto chain = way.chain(spread, lattice, {}))
    chains_[index] = std::make_unique<Chain>(std::move(*chain));
}

/// Those of the least energy. Where nodes take more than a memory has, it lends each of them less
/// room; where a memory is busy for longer than the computes, its time is worth energy.
std::vector<Chain> EinsumChains::good_chains(std::size_t index, const Worth& worth,
                                             const ChainSteps& outermost,
                                             const std::atomic<bool>* cancel) const {
  constexpr TileLattice::Effort kStraight{5'000, 1, 1, false, false};
  constexpr TileLattice::Effort kFitting{3'000, 1.02, 4, false, true};
  constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  constexpr int kMostLattices = 8;
  constexpr double kMostStates = 8e6;  // 64 MB, some hundredths of a second
  std::vector<Chain> chains;
  const Way& way = *ways_[way_of_[index]];
  const Spread& spread = way.tensors.spreads->all()[index_in_way_[index]];
  const auto begin = way.steps_of(outermost);
  if (!begin || !begins_with(index, outermost)) return chains;
  const auto energy = [](double energy_j, double) { return energy_j; };
  const auto add_found = [&](const TileLattice& lattice) {
    auto chain = way.chain(spread, lattice, outermost);
    if (chain) chains.push_back(*std::move(chain));
    return chain.has_value();
  };
  ChainTensors tensors = way.tensors;
  std::vector<char> is_charged(tensors.memories.size(), 0);
  for (int n = 0; n < kMostLattices; ++n) {
    TileLattice lattice(tensors, spread, Windows::kStepByStep, cancel);
    if (!lattice.begin_with(*begin)) break;
    lattice.least([](double) { return false; }, 0, kMostStates);
    lattice.least_that_fits(energy, 0, kNoLimit, kStraight);
    if (lattice.steps().empty()) break;
    bool fits = true;
    for (std::size_t m = 0; m < tensors.memories.size(); ++m) {
      const double taken = lattice.taken_bits()[m] / way.tensors.size_bits[m];
      if (!(taken > 1)) continue;
      fits = false;
      tensors.size_bits[m] /= taken;
    }
    const std::vector<double> busy_s = lattice.busy_seconds();
    if (fits && !add_found(lattice)) break;
    if (!fits) {
      lattice.least_that_fits(energy, 0, kNoLimit, kFitting);
      add_found(lattice);
      continue;
    }
    const auto busiest = std::max_element(busy_s.begin(), busy_s.end());
    const auto m = static_cast<std::size_t>(busiest - busy_s.begin());
    if (*busiest <= spreads_[index].seconds || is_charged[m] != 0) break;
    is_charged[m] = 1;
    tensors.charge_for_time(m, worth.per_s / worth.per_j);
    tensors.size_bits = way.tensors.size_bits;
  }
  return chains;
}

bool EinsumChains::begins_with(std::size_t index, const ChainSteps& outermost) const {
  const Way& way = *ways_[way_of_[index]];
  const Spread& spread = way.tensors.spreads->all()[index_in_way_[index]];
  const std::vector<SpatialGap>& gaps = way.tensors.spreads->gaps();
  for (std::size_t g = 0; g < spread.gaps.size(); ++g) {
    if (!is_given(gaps[g], outermost)) continue;
    Factors64 factors(way.tensors.sizes.size(), 1);
    for (const auto& step : outermost)
      if (is_in(gaps[g], step)) {
        const auto& loop = std::get<ChainLoop>(step);
        factors[loop.variable] *= loop.trips;
      }
    if (spread.gaps[g]->all != factors) return false;
  }
  Factors64 left = way.tensors.sizes;  // for temporal loops
  for (std::size_t v = 0; v < left.size(); ++v) left[v] /= spread.all[v];
  for (const auto& step : outermost) {
    const auto* loop = std::get_if<ChainLoop>(&step);
    if (loop == nullptr || loop->spatial) continue;
    if (left[loop->variable] % loop->trips != 0) return false;
    left[loop->variable] /= loop->trips;
  }
  return true;
}

double EinsumChains::demanded_use(std::size_t index) const {
  const Way& way = *ways_[way_of_[index]];
  const Spread& spread = way.tensors.spreads->all()[index_in_way_[index]];
  const std::vector<SpatialGap>& gaps = way.tensors.spreads->gaps();
  double use = 1;
  for (std::size_t g = 0; g < spread.gaps.size(); ++g)
    for (std::size_t d = 0; d < gaps[g].dimensions.size(); ++d) {
      const auto [component, dimension] = gaps[g].dimensions[d];
      const BoundSpatial& own = way.bound.components[component.index()].spatial[dimension];
      const double wanted = own.min_usage * static_cast<double>(own.fanout);
      const double used = product_of(spread.gaps[g]->by_dimension[d]);
      if (used < wanted) use *= used / wanted;
    }
  return use;
}

double EinsumChains::instances_of(std::size_t index, ComponentId memory) const {
  const Way& way = *ways_[way_of_[index]];
  const Spread& spread = way.tensors.spreads->all()[index_in_way_[index]];
  const std::vector<SpatialGap>& gaps = way.tensors.spreads->gaps();
  const auto depth = [&](ComponentId component) { return way.compute.depth[component.index()]; };
  double n = 1;
  for (std::size_t g = 0; g < spread.gaps.size(); ++g)
    for (std::size_t d = 0; d < gaps[g].dimensions.size(); ++d)
      if (depth(gaps[g].dimensions[d].first) <= depth(memory))
        n *= product_of(spread.gaps[g]->by_dimension[d]);
  return n;
}

double EinsumChains::n_states_of(std::size_t spread) const {
  const ChainTensors& tensors = ways_[way_of_[spread]]->tensors;
  return tensors.n_states(tensors.spreads->all()[index_in_way_[spread]]);
}

double EinsumChains::n_states(double limit) const {
  double n = 0;
  for (std::size_t s = 0; s < spreads_.size(); ++s)
    if (spreads_[s].energy_j < limit) n += n_states_of(s);
  return n;
}

std::optional<Chain> EinsumChains::chain_of(std::size_t spread) const {
  return chains_[spread] ? std::optional(*chains_[spread]) : std::nullopt;
}

}  // namespace sluice
