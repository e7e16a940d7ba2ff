#include "exchange_graph.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "key_hash.h"
#include "spine_table.h"

namespace sluice::fused {

namespace {

/// What the Einsum copies into a tensor, if it is a copy.
std::optional<TensorId> copied_tensor(const EinsumShape& shape, const LocalTensor& tensor) {
  if (!shape.is_copy || !tensor.is_output) return std::nullopt;
  for (const LocalTensor& other : shape.tensors)
    if (!other.is_output) return other.id;
  return std::nullopt;
}

}  // namespace

Spine spine_of(const EinsumShape& shape, const Compatibility& compatibility) {
  Spine spine;
  for (const Backing& backing : compatibility.backings)
    spine.live.push_back({shape.tensors[backing.tensor].id, backing.component, backing.level,
                          backing.bits, backing.persistent,
                          copied_tensor(shape, shape.tensors[backing.tensor])});
  std::sort(spine.live.begin(), spine.live.end(),
            [](const LiveTensor& a, const LiveTensor& b) { return a.id < b.id; });
  for (const FusedLoop& loop : compatibility.loops) {
    SpineLoop& own = spine.loops.emplace_back();
    own.spatial = loop.spatial;
    own.component = loop.component;
    own.dimension = loop.dimension;
    own.trips = loop.trips;
    own.tile = loop.tile;
    for (const LiveTensor& tensor : spine.live) {
      for (const LocalTensor& local : shape.tensors) {
        if (local.id != tensor.id) continue;
        const auto index = static_cast<std::size_t>(&local - shape.tensors.data());
        own.ranks.emplace_back(tensor.id, shape.shared_rank(index, loop.variable, loop.spatial));
        own.written_below.push_back(local.is_output);
      }
    }
  }
  spine.stop_before = compatibility.stop_before;
  spine.continues_recurrence = shape.recurrence.continues;
  return spine;
}

namespace {

struct CompactHash {
  std::size_t operator()(const CompactSpine& spine) const {
    std::uint64_t hash = KeyHash::mix(spine.structure + 1);
    for (std::uint32_t extent : spine.extents) hash = KeyHash::mix(hash ^ (extent + 1));
    return hash;
  }
};

class Connector {
 public:
  Connector(const BoundProblem& problem, std::vector<ExchangeLayer> layers,
            const GraphOptions& options)
      : layers_(std::move(layers)), options_(options) {
    graph_.last_use.assign(problem.workload.tensors.size(), 0);
    for (std::size_t e = 0; e < layers_.size(); ++e)
      for (const LocalTensor& tensor : layers_[e].shape->tensors)
        graph_.last_use[tensor.id.index()] = e;
  }

  ExchangeGraph run() {
    for (std::size_t e = 0; e < layers_.size(); ++e) find_spines(e);
    if (options_.drop_dead_ends) agree_on_tensors();
    std::vector<CompactSpine> spines{table_.compact(Spine{})};
    least_ = {{0, 0}};
    graph_.n_spines.push_back(1);
    for (std::size_t e = 0; e < layers_.size(); ++e) {
      if (options_.cancel != nullptr && options_.cancel->load()) return std::move(graph_);
      spines = extend(e, spines);
      graph_.n_spines.push_back(spines.size());
      if (spines.empty()) {
        graph_.broken_at = e;
        return std::move(graph_);
      }
    }
    if (options_.drop_dead_ends) drop_dead_ends();
    return std::move(graph_);
  }

 private:
  void find_spines(std::size_t e) {
    std::vector<CompactSpine>& own = own_.emplace_back();
    for (const PmappingGroup& group : *layers_[e].groups)
      own.push_back(table_.compact(spine_of(*layers_[e].shape, group.compatibility)));
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
      const std::size_t levels = group.compatibility.loops.size() + 1;
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

  /// Whether all that is alive while a group of Einsum e runs leaves it the room that it needs.
  bool fits(std::size_t e, const CompactSpine& before, std::uint32_t g) const {
    if (layers_[e].shape->is_copy) return true;  // its two tensors may be one
    const std::vector<LiveTensor>& theirs = table_.live(before);
    const std::vector<LiveTensor>& mine = table_.live(own_[e][g]);
    for (std::size_t m = 0; m < options_.tracked->size(); ++m) {
      const TrackedMemory& memory = (*options_.tracked)[m];
      double bits = group_held_[e][g * options_.tracked->size() + m];
      for (std::size_t t = 0; t < mine.size(); ++t)
        if (mine[t].component == memory.component) bits += own_[e][g].bits[t];
      for (std::size_t t = 0; t < theirs.size(); ++t)
        if (theirs[t].component == memory.component &&
            std::find(shared_[e].begin(), shared_[e].end(), theirs[t].id) == shared_[e].end())
          bits += before.bits[t];
      if (bits > memory.size_bits) return false;
    }
    return true;
  }

  /// Position of a shared tensor in an Einsum's spines, or -1.
  std::int64_t position(std::size_t e, TensorId id) const {
    const auto at = std::find(shared_[e].begin(), shared_[e].end(), id);
    return at == shared_[e].end() ? -1 : at - shared_[e].begin();
  }

  /// Drops compatibilities with an exchange that some other user of the tensor does not know, until
  /// nothing changes.
  void agree_on_tensors() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t t = 0; t < graph_.last_use.size(); ++t)
        changed = agree_on(TensorId(t)) || changed;
    }
  }

  bool agree_on(TensorId id) {
    std::vector<std::pair<std::size_t, std::size_t>> users;  // Einsum, position
    for (std::size_t e = 0; e < layers_.size(); ++e)
      if (const std::int64_t at = position(e, id); at >= 0)
        users.emplace_back(e, static_cast<std::size_t>(at));
    if (users.size() < 2) return false;
    std::unordered_map<std::uint64_t, std::size_t> known;  // by so many users in a row
    for (std::size_t u = 0; u < users.size(); ++u) {
      const auto [e, at] = users[u];
      for (std::size_t g = 0; g < own_[e].size(); ++g) {
        if (!alive_[e][g]) continue;
        if (u == 0) {
          known[own_[e][g].exchanges[at]] = 1;
        } else if (const auto found = known.find(own_[e][g].exchanges[at]);
                   found != known.end() && found->second >= u) {
          found->second = u + 1;
        }
      }
    }
    bool changed = false;
    for (const auto& [e, at] : users) {
      for (std::size_t g = 0; g < own_[e].size(); ++g) {
        if (!alive_[e][g]) continue;
        const auto found = known.find(own_[e][g].exchanges[at]);
        if (found != known.end() && found->second == users.size()) continue;
        alive_[e][g] = 0;
        changed = true;
      }
    }
    return changed;
  }

  /// Joins every spine to every group of Einsum e that agrees with it.
  std::vector<CompactSpine> extend(std::size_t e, const std::vector<CompactSpine>& before) {
    std::vector<std::pair<std::size_t, std::size_t>> shared;  // positions: before, own
    for (std::size_t t = 0; t < shared_[e].size(); ++t)
      if (const std::int64_t at = table_.find_live(before.front(), shared_[e][t]); at >= 0)
        shared.emplace_back(static_cast<std::size_t>(at), t);
    std::unordered_map<std::vector<std::int64_t>, std::vector<std::uint32_t>, KeyHash> index;
    std::vector<std::int64_t> key;
    for (std::uint32_t g = 0; g < own_[e].size(); ++g) {
      if (!alive_[e][g]) continue;
      key.clear();
      for (const auto& [there, here] : shared)
        key.push_back(static_cast<std::int64_t>(own_[e][g].exchanges[here]));
      index[key].push_back(g);
    }
    std::unordered_map<CompactSpine, std::uint32_t, CompactHash> nodes;
    std::vector<CompactSpine> after;
    std::vector<ExchangeEdge> edges;
    std::vector<EnergyLatency> least;  // per spine after
    SearchBound bound = options_.bound;
    bound.others = {rest_after(e)};
    CompactSpine joined;
    for (std::uint32_t p = 0; p < before.size(); ++p) {
      key.clear();
      for (const auto& [there, here] : shared)
        key.push_back(static_cast<std::int64_t>(before[p].exchanges[there]));
      const auto candidates = index.find(key);
      if (candidates == index.end()) continue;
      if (options_.cancel != nullptr && options_.cancel->load()) break;
      for (std::uint32_t g : candidates->second) {
        const EnergyLatency cost{least_[p].energy + group_least_[e][g].energy,
                                 least_[p].latency + group_least_[e][g].latency};
        if (bound.hopeless(cost.energy, cost.latency) || !fits(e, before[p], g)) continue;
        if (!table_.join(before[p], own_[e][g], e, &joined)) continue;
        const auto [at, inserted] =
            nodes.try_emplace(joined, static_cast<std::uint32_t>(after.size()));
        if (inserted) {
          after.push_back(joined);
          least.push_back(cost);
        }
        EnergyLatency& reached = least[at->second];
        reached.energy = std::min(reached.energy, cost.energy);
        reached.latency = std::min(reached.latency, cost.latency);
        edges.push_back({p, g, at->second});
      }
    }
    least_ = std::move(least);
    graph_.edges.push_back(std::move(edges));
    return after;
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
  std::vector<std::vector<CompactSpine>> own_;           // per Einsum and group
  std::vector<std::vector<char>> alive_;                 // per Einsum and group
  std::vector<std::vector<TensorId>> shared_;            // per Einsum, ascending
  std::vector<std::vector<EnergyLatency>> group_least_;  // per Einsum and group
  std::vector<std::vector<double>> group_held_;  // per Einsum, group and tracked memory: bits
  std::vector<EnergyLatency> einsum_least_;      // per Einsum
  std::vector<EnergyLatency> least_;             // per spine of the newest layer
  ExchangeGraph graph_;
  SpineTable table_{graph_.last_use};
};

}  // namespace

ExchangeGraph connect_exchanges(const BoundProblem& problem, std::vector<ExchangeLayer> layers,
                                const GraphOptions& options) {
  return Connector(problem, std::move(layers), options).run();
}

}  // namespace sluice::fused
