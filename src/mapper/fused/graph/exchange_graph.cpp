#include "exchange_graph.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include "exchange_bound.h"
#include "group_index.h"
#include "mapper/common/parallel.h"
#include "mapper/common/pool.h"
#include "sluice/mapper/leftovers.h"
#include "spine_list.h"

namespace sluice::fused {
namespace {

class Connector {
 public:
  Connector(const BoundProblem& problem, std::vector<ExchangeLayer> layers,
            const GraphOptions& options)
      : layers_(std::move(layers)), options_(options) {
    TensorUses& uses = graph_.uses;
    uses.last.assign(problem.workload.tensors.size(), 0);
    uses.last_copied = uses.last;
    uses.roles = &problem.roles;
    for (std::size_t e = 0; e < layers_.size(); ++e) {
      const std::vector<LocalTensor>& tensors = layers_[e].shape->tensors;
      for (const LocalTensor& tensor : tensors) {
        uses.last[tensor.id.index()] = e;
        if (tensor.copy_of >= 0)
          uses.last_copied[tensors[static_cast<std::size_t>(tensor.copy_of)].id.index()] = e;
      }
    }
  }

  ExchangeGraph run() {
    for (std::size_t e = 0; e < layers_.size(); ++e) find_spines(e);
    if (is_cancelled(options_.cancel)) return std::move(graph_);
    if (options_.drop_dead_ends) agree_on_tensors();
    if (options_.least) tell_least();
    SpineList spines;
    spines.add(table_.compact(Spine{}));
    least_ = {{0, 0}};
    graph_.n_spines.push_back(1);
    for (std::size_t e = 0; e < layers_.size(); ++e) {
      spines = extend(e, spines);
      if (is_cancelled(options_.cancel)) return std::move(graph_);
      graph_.n_spines.push_back(spines.size());
      if (spines.size() == 0) {
        graph_.broken_at = e;
        return std::move(graph_);
      }
    }
    if (options_.drop_dead_ends) drop_dead_ends();
    return std::move(graph_);
  }

 private:
  void find_spines(std::size_t e) {
    constexpr std::size_t kChunk = 256;
    const std::vector<PmappingGroup>& groups = *layers_[e].groups;
    std::vector<SpineList> parts((groups.size() + kChunk - 1) / kChunk);
    parallel_chunks(options_.threads, groups.size(), kChunk,
                    [&](std::size_t first, std::size_t last) {
                      if (is_cancelled(options_.cancel)) return;
                      for (std::size_t g = first; g < last; ++g)
                        parts[first / kChunk].add(
                            table_.compact(spine_of(*layers_[e].shape, *groups[g].compatibility)));
                    });
    if (is_cancelled(options_.cancel)) return;
    SpineList& own = own_.emplace_back();
    for (const SpineList& part : parts)
      for (std::size_t i = 0; i < part.size(); ++i) own.add(part[i]);
    alive_.emplace_back(own.size(), 1);
    find_least(e);
    std::vector<TensorId>& shared = shared_.emplace_back();
    for (const LocalTensor& tensor : layers_[e].shape->tensors)
      if (tensor.shared) shared.push_back(tensor.id);
    std::sort(shared.begin(), shared.end());  // as in a spine
  }

  /// What each group costs and holds for itself at least.
  void find_least(std::size_t e) {
    const double infinite = std::numeric_limits<double>::infinity();
    const std::size_t n_tracked = options_.tracked->size();
    std::vector<EnergyLatency>& costs = group_least_.emplace_back();
    std::vector<double>& held = group_held_.emplace_back();
    EnergyLatency all{infinite, infinite};
    for (const PmappingGroup& group : *layers_[e].groups) {
      EnergyLatency& cost = costs.emplace_back(EnergyLatency{infinite, infinite});
      const std::size_t levels = group.compatibility->loops.size() + 1;
      std::vector<double> least(n_tracked, infinite);
      for (std::size_t i = 0; i < group.size(); ++i) {
        const double* value = group.value(i);
        cost.energy = std::min(cost.energy, value[0]);
        cost.latency = std::min(cost.latency, value[1]);
        for (std::size_t m = 0; m < n_tracked; ++m) {
          double bits = value[group.stride - n_tracked + m];
          for (std::size_t l = 0; l < levels; ++l) bits += value[2 + m * levels + l];
          least[m] = std::min(least[m], bits);
        }
      }
      held.insert(held.end(), least.begin(), least.end());
      all.energy = std::min(all.energy, cost.energy);
      all.latency = std::min(all.latency, cost.latency);
    }
    einsum_least_.push_back(all);
  }

  /// What the Einsums after e cost at least, whatever they exchange.
  EnergyLatency rest_after(std::size_t e) const {
    EnergyLatency rest;
    for (std::size_t later = e + 1; later < layers_.size(); ++later) {
      rest.energy += einsum_least_[later].energy;
      rest.latency += einsum_least_[later].latency;
    }
    return rest;
  }

  /// Drops the groups with an exchange that some other user of the tensor does not know.
  void agree_on_tensors() {
    ExchangeAgreement agreement(graph_.uses.last.size());
    for (std::size_t e = 0; e < layers_.size(); ++e) {
      std::vector<std::uint64_t> exchanges;
      for (std::size_t g = 0; g < own_[e].size(); ++g) {
        const auto own = own_[e][g].exchanges;
        exchanges.insert(exchanges.end(), own.begin(), own.end());
      }
      agreement.add(layers_[e].shape->einsum, shared_[e], std::move(exchanges));
    }
    agreement.settle();
    for (std::size_t e = 0; e < layers_.size(); ++e)
      for (std::size_t g = 0; g < own_[e].size(); ++g)
        for (std::size_t t = 0; t < shared_[e].size(); ++t)
          if (!agreement.allows(shared_[e][t], own_[e][g].exchanges[t])) alive_[e][g] = 0;
  }

  void tell_least() const {
    ExchangeBound bound(shared_);
    for (std::size_t e = 0; e < layers_.size(); ++e) {
      if (is_cancelled(options_.cancel)) return;
      const std::size_t n = shared_[e].size();
      std::vector<std::uint64_t> memories(own_[e].size() * n);
      std::vector<ExchangeChoice> choices;
      for (std::size_t g = 0; g < own_[e].size(); ++g) {
        if (alive_[e][g] == 0) continue;
        const std::vector<LiveTensor>& live = table_.live(own_[e][g]);
        for (std::size_t t = 0; t < n; ++t)
          memories[g * n + t] = 2 * live[t].component.index() + (live[t].persistent ? 1 : 0);
        choices.push_back(
            {own_[e][g].exchanges.data(), memories.data() + g * n, group_least_[e][g]});
      }
      bound.add(choices);
    }
    options_.least(bound.least(options_.bound.objective));
  }

  /// The groups of Einsum e by what they exchange with the Einsums before it, for spines of up to
  /// `depth` open loops.
  GroupIndex index_of(std::size_t e, std::size_t depth) const {
    std::set<TensorId> live;
    for (std::size_t before = 0; before < e; ++before)
      for (TensorId tensor : shared_[before])
        if (graph_.uses.last[tensor.index()] >= e) live.insert(tensor);
    std::vector<std::pair<std::size_t, std::size_t>> shared;  // positions: before, own
    for (std::size_t t = 0; t < shared_[e].size(); ++t)
      if (const auto at = live.find(shared_[e][t]); at != live.end())
        shared.emplace_back(std::distance(live.begin(), at), t);
    return {table_, own_[e],          alive_[e],      std::move(shared),
            depth,  options_.threads, options_.cancel};
  }

  /// The most open loops that there can be after Einsum e.
  std::size_t depth_after(std::size_t e) const {
    std::size_t depth = 0;
    for (std::size_t g = 0; g < own_[e].size(); ++g)
      depth = std::max(depth, own_[e][g].extents.size());
    return depth;
  }

  /// Joins every spine to every group of Einsum e that agrees with it. Spines that no group of the
  /// next Einsum can be joined to are dropped.
  SpineList extend(std::size_t e, const SpineList& before) {
    if (e == 0) index_ = index_of(0, 0);
    last_index_ = std::move(index_);
    const GroupIndex& index = *last_index_;
    index_.reset();
    if (e + 1 < layers_.size()) index_ = index_of(e + 1, depth_after(e));
    SearchBound bound = options_.bound;
    bound.others = {rest_after(e)};
    // Chunks of spines on several threads; what they find is numbered in their order.
    constexpr std::size_t kFewest = 512, kChunks = 64;
    const std::size_t chunk = std::max(kFewest, (before.size() + kChunks - 1) / kChunks);
    std::vector<Extension> parts((before.size() + chunk - 1) / chunk);
    parallel_chunks(options_.threads, before.size(), chunk,
                    [&](std::size_t first, std::size_t last) {
                      const auto worker = workers_.borrow();
                      Extension& part = parts[first / chunk];
                      for (std::size_t p = first; p < last; ++p) {
                        if (is_cancelled(options_.cancel)) break;
                        extend_spine(e, before[p], static_cast<std::uint32_t>(p), index, bound,
                                     &*worker, &part);
                      }
                    });
    if (is_cancelled(options_.cancel)) {
      leftovers_ = std::move(parts);
      return {};
    }
    Extension all = united(&parts);
    least_ = std::move(all.least);
    SpineList spines = all.after.take();
    if (options_.beam > 0 && spines.size() > options_.beam)
      spines = keep_cheapest(bound, spines, &all.edges);
    graph_.edges.push_back(std::move(all.edges));
    return spines;
  }

  /// What spines become with the groups of the next Einsum.
  struct Extension {
    NumberedSpines after;
    std::vector<EnergyLatency> least;  // per spine after
    std::vector<ExchangeEdge> edges;

    std::uint32_t add(const SpineView& spine, const EnergyLatency& cost) {
      const std::uint32_t to = after.number(spine);
      if (to == least.size()) least.push_back(cost);
      least[to].energy = std::min(least[to].energy, cost.energy);
      least[to].latency = std::min(least[to].latency, cost.latency);
      return to;
    }
  };

  static Extension united(std::vector<Extension>* parts) {
    if (parts->size() == 1) return std::move(parts->front());
    Extension all;
    std::size_t n_edges = 0;
    for (const Extension& part : *parts) n_edges += part.edges.size();
    all.edges.reserve(n_edges);
    std::vector<std::uint32_t> number;
    for (Extension& part : *parts) {
      number.clear();
      const SpineList& spines = part.after.spines();
      for (std::uint32_t s = 0; s < spines.size(); ++s)
        number.push_back(all.add(spines[s], part.least[s]));
      for (ExchangeEdge edge : part.edges) {
        edge.to = number[edge.to];
        all.edges.push_back(edge);
      }
      part = {};
    }
    return all;
  }

  /// What one thread needs to extend spines.
  struct Worker {
    Worker(SpineTable* table, const TensorUses* uses) : joiner(table, uses) {}
    SpineJoiner joiner;
    GroupIndex::Blocks blocks;
    std::vector<std::uint32_t> candidates;
    CompactSpine joined;
  };

  void extend_spine(std::size_t e, const SpineView& before, std::uint32_t p,
                    const GroupIndex& index, const SearchBound& bound, Worker* worker,
                    Extension* result) const {
    index.find(before, &worker->blocks, &worker->candidates);
    for (std::uint32_t g : worker->candidates) {
      const EnergyLatency cost{least_[p].energy + group_least_[e][g].energy,
                               least_[p].latency + group_least_[e][g].latency};
      if (bound.hopeless(cost.energy, cost.latency)) continue;
      const SpineView own = own_[e][g];
      SpineJoiner::Case* const match = worker->joiner.match(before, own, e);
      if (match == nullptr || !fits(e, *match, before, g)) continue;
      CompactSpine& joined = worker->joined;
      SpineJoiner::join(*match, before, own, &joined);
      if (options_.drop_dead_ends && index_ && !index_->finds(joined)) continue;
      worker->joiner.settle(match, &joined);
      result->edges.push_back({p, g, result->add(joined, cost)});
    }
  }

  /// Whether all that is alive while a group of Einsum e runs leaves it the room that it needs.
  bool fits(std::size_t e, const SpineJoiner::Case& match, const SpineView& before,
            std::uint32_t g) const {
    const std::size_t n_tracked = options_.tracked->size();
    const SpineView own = own_[e][g];
    for (std::size_t m = 0; m < n_tracked; ++m) {
      const TrackedMemory& memory = (*options_.tracked)[m];
      double bits = group_held_[e][g * n_tracked + m];
      for (const AliveTensor& tensor : match.alive)
        if (tensor.component == memory.component)
          bits += own_bits(match, tensor, false, before, own);
      if (bits > memory.size_bits) return false;
    }
    return true;
  }

  /// Of the newest spines those that may end in the cheapest mappings, in their order.
  SpineList keep_cheapest(const SearchBound& bound, const SpineList& spines,
                          std::vector<ExchangeEdge>* edges) {
    std::vector<std::pair<double, std::uint32_t>> order;
    for (std::uint32_t s = 0; s < spines.size(); ++s)
      order.emplace_back(bound.value(least_[s].energy, least_[s].latency), s);
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(options_.beam),
                     order.end());
    order.resize(options_.beam);
    std::vector<char> kept(spines.size(), 0);
    for (const auto& [value, s] : order) kept[s] = 1;
    std::vector<std::uint32_t> number(spines.size(), 0);
    SpineList cheapest;
    for (std::uint32_t s = 0; s < spines.size(); ++s) {
      if (kept[s] == 0) continue;
      number[s] = static_cast<std::uint32_t>(cheapest.size());
      least_[cheapest.size()] = least_[s];
      cheapest.add(spines[s]);
    }
    least_.resize(cheapest.size());
    std::erase_if(*edges, [&](const ExchangeEdge& edge) { return kept[edge.to] == 0; });
    for (ExchangeEdge& edge : *edges) edge.to = number[edge.to];
    return cheapest;
  }

  /// Keeps the spines from which the last Einsum can be reached.
  void drop_dead_ends() {
    std::vector<char> reaches(graph_.n_spines.back(), 1);
    for (std::size_t e = layers_.size(); e-- > 0;) {
      std::vector<ExchangeEdge>& edges = graph_.edges[e];
      std::vector<char> before(graph_.n_spines[e], 0);
      std::erase_if(edges, [&](const ExchangeEdge& edge) { return reaches[edge.to] == 0; });
      for (const ExchangeEdge& edge : edges) before[edge.from] = 1;
      reaches = std::move(before);
    }
  }

  std::vector<ExchangeLayer> layers_;
  const GraphOptions& options_;
  std::vector<SpineList> own_;                           // per Einsum: its groups
  std::vector<std::vector<char>> alive_;                 // per Einsum and group
  std::vector<std::vector<TensorId>> shared_;            // per Einsum, ascending
  std::vector<std::vector<EnergyLatency>> group_least_;  // per Einsum and group
  std::vector<std::vector<double>> group_held_;  // per Einsum, group and tracked memory: bits
  std::vector<EnergyLatency> einsum_least_;      // per Einsum
  std::vector<EnergyLatency> least_;             // per spine of the newest layer
  std::optional<GroupIndex> index_;              // of the Einsum that comes next
  std::optional<GroupIndex> last_index_;         // of the newest one
  std::vector<Extension> leftovers_;             // of one that was cancelled
  ExchangeGraph graph_;
  SpineTable table_;
  Pool<Worker> workers_{[this] { return std::make_unique<Worker>(&table_, &graph_.uses); }};
};

}  // namespace

ExchangeGraph connect_exchanges(const BoundProblem& problem, std::vector<ExchangeLayer> layers,
                                const GraphOptions& options) {
  const auto connector = std::make_shared<Connector>(problem, std::move(layers), options);
  ExchangeGraph graph = connector->run();
  if (options.leftovers != nullptr && is_cancelled(options.cancel))
    options.leftovers->add(connector);
  return graph;
}

}  // namespace sluice::fused
