#include "exchange_graph.h"

#include <algorithm>
#include <unordered_map>

#include "key_hash.h"
#include "spine_table.h"

namespace sluice::fused {

Spine spine_of(const EinsumShape& shape, const Compatibility& compatibility) {
  Spine spine;
  for (const Backing& backing : compatibility.backings)
    spine.live.push_back({shape.tensors[backing.tensor].id, backing.component, backing.level,
                          backing.bits, backing.persistent});
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
  Connector(const BoundProblem& problem, std::vector<ExchangeLayer> layers, bool drop_dead_ends,
            const std::atomic<bool>* cancel)
      : layers_(std::move(layers)), drop_dead_ends_(drop_dead_ends), cancel_(cancel) {
    graph_.last_use.assign(problem.workload.tensors.size(), 0);
    for (std::size_t e = 0; e < layers_.size(); ++e)
      for (const LocalTensor& tensor : layers_[e].shape->tensors)
        graph_.last_use[tensor.id.index()] = e;
  }

  ExchangeGraph run() {
    for (std::size_t e = 0; e < layers_.size(); ++e) find_spines(e);
    if (drop_dead_ends_) agree_on_tensors();
    std::vector<CompactSpine> spines{table_.compact(Spine{})};
    graph_.n_spines.push_back(1);
    for (std::size_t e = 0; e < layers_.size(); ++e) {
      if (cancel_ != nullptr && cancel_->load()) return std::move(graph_);
      spines = extend(e, spines);
      graph_.n_spines.push_back(spines.size());
      if (spines.empty()) {
        graph_.broken_at = e;
        return std::move(graph_);
      }
    }
    if (drop_dead_ends_) drop_dead_ends();
    return std::move(graph_);
  }

 private:
  void find_spines(std::size_t e) {
    std::vector<CompactSpine>& own = own_.emplace_back();
    for (const PmappingGroup& group : *layers_[e].groups)
      own.push_back(table_.compact(spine_of(*layers_[e].shape, group.compatibility)));
    alive_.emplace_back(own.size(), 1);
    std::vector<TensorId>& shared = shared_.emplace_back();
    for (const LocalTensor& tensor : layers_[e].shape->tensors)
      if (tensor.shared) shared.push_back(tensor.id);
    std::sort(shared.begin(), shared.end());  // as in a spine
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
    CompactSpine joined;
    for (std::uint32_t p = 0; p < before.size(); ++p) {
      key.clear();
      for (const auto& [there, here] : shared)
        key.push_back(static_cast<std::int64_t>(before[p].exchanges[there]));
      const auto candidates = index.find(key);
      if (candidates == index.end()) continue;
      if (cancel_ != nullptr && cancel_->load()) break;
      for (std::uint32_t g : candidates->second) {
        if (!table_.join(before[p], own_[e][g], e, &joined)) continue;
        const auto [at, inserted] =
            nodes.try_emplace(joined, static_cast<std::uint32_t>(after.size()));
        if (inserted) after.push_back(joined);
        edges.push_back({p, g, at->second});
      }
    }
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
  const bool drop_dead_ends_;
  const std::atomic<bool>* cancel_;
  std::vector<std::vector<CompactSpine>> own_;  // per Einsum and group
  std::vector<std::vector<char>> alive_;        // per Einsum and group
  std::vector<std::vector<TensorId>> shared_;   // per Einsum, ascending
  ExchangeGraph graph_;
  SpineTable table_{graph_.last_use};
};

}  // namespace

ExchangeGraph connect_exchanges(const BoundProblem& problem, std::vector<ExchangeLayer> layers,
                                bool drop_dead_ends, const std::atomic<bool>* cancel) {
  return Connector(problem, std::move(layers), drop_dead_ends, cancel).run();
}

}  // namespace sluice::fused
