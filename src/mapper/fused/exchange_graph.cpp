#include "exchange_graph.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "key_hash.h"

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

using Key = std::vector<std::int64_t>;

std::int32_t rank_in(const SpineLoop& loop, TensorId id) {
  for (const auto& [tensor, rank] : loop.ranks)
    if (tensor == id) return rank;
  return -1;
}

std::uint64_t exchange_of(const Spine& spine, const LiveTensor& tensor) {
  ExchangeHash hash;
  for (std::size_t l = 0; l < tensor.level; ++l) {
    const SpineLoop& loop = spine.loops[l];
    hash.add_loop(rank_in(loop, tensor.id), loop.tile, loop.trips, loop.spatial, loop.component,
                  loop.dimension);
  }
  return hash.at(tensor.component, tensor.persistent);
}

Key spine_key(const Spine& spine) {
  Key key;
  for (std::size_t l = 0; l < spine.loops.size(); ++l) {
    const Key loop = sort_key(spine.loops[l]);
    key.insert(key.end(), loop.begin(), loop.end());
    key.push_back(spine.stop_before[l]);
  }
  for (const LiveTensor& tensor : spine.live) {
    key.push_back(static_cast<std::int64_t>(tensor.id.index()));
    key.push_back(static_cast<std::int64_t>(tensor.component.index()));
    key.push_back(tensor.persistent ? -1 : static_cast<std::int64_t>(tensor.level));
  }
  return key;
}

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
    for (std::size_t e = 0; e < layers_.size(); ++e) hash_exchanges(e);
    if (drop_dead_ends_) agree_on_tensors();
    graph_.spines.push_back({Spine{}});
    for (std::size_t e = 0; e < layers_.size(); ++e) {
      if (cancel_ != nullptr && cancel_->load()) return std::move(graph_);
      extend(e);
      if (graph_.spines.back().empty()) {
        graph_.broken_at = e;
        return std::move(graph_);
      }
    }
    if (drop_dead_ends_) drop_dead_ends();
    return std::move(graph_);
  }

 private:
  /// One shared tensor's exchange in each group of an Einsum.
  struct Exchange {
    TensorId tensor;
    std::vector<std::uint64_t> hash;  // per group
  };

  void hash_exchanges(std::size_t e) {
    std::vector<Exchange>& own = exchanges_.emplace_back();
    const std::vector<PmappingGroup>& groups = *layers_[e].groups;
    std::vector<Spine>& spines = own_.emplace_back();
    alive_.emplace_back(groups.size(), 1);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const Spine& spine =
          spines.emplace_back(spine_of(*layers_[e].shape, groups[g].compatibility));
      if (g == 0)
        for (const LiveTensor& tensor : spine.live)
          own.push_back({tensor.id, std::vector<std::uint64_t>(groups.size())});
      for (std::size_t t = 0; t < own.size(); ++t)
        own[t].hash[g] = exchange_of(spine, spine.live[t]);
    }
  }

  const Exchange* find_exchange(std::size_t e, TensorId id) const {
    for (const Exchange& exchange : exchanges_[e])
      if (exchange.tensor == id) return &exchange;
    return nullptr;
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
    std::vector<std::size_t> users;
    for (std::size_t e = 0; e < layers_.size(); ++e)
      if (find_exchange(e, id) != nullptr) users.push_back(e);
    if (users.size() < 2) return false;
    std::unordered_map<std::uint64_t, std::size_t> known;  // by so many users in a row
    for (std::size_t u = 0; u < users.size(); ++u) {
      const Exchange& exchange = *find_exchange(users[u], id);
      for (std::size_t c = 0; c < exchange.hash.size(); ++c) {
        if (!alive_[users[u]][c]) continue;
        if (u == 0) {
          known[exchange.hash[c]] = 1;
        } else if (const auto at = known.find(exchange.hash[c]);
                   at != known.end() && at->second >= u) {
          at->second = u + 1;
        }
      }
    }
    bool changed = false;
    for (std::size_t e : users) {
      const Exchange& exchange = *find_exchange(e, id);
      for (std::size_t c = 0; c < exchange.hash.size(); ++c) {
        if (!alive_[e][c]) continue;
        const auto at = known.find(exchange.hash[c]);
        if (at != known.end() && at->second == users.size()) continue;
        alive_[e][c] = 0;
        changed = true;
      }
    }
    return changed;
  }

  /// Joins every spine to every compatibility of Einsum e that agrees with it.
  void extend(std::size_t e) {
    const std::vector<Spine>& before = graph_.spines.back();
    std::vector<const Exchange*> shared;  // with the spines before
    for (const LiveTensor& tensor : before.front().live)
      if (const Exchange* exchange = find_exchange(e, tensor.id)) shared.push_back(exchange);
    std::unordered_map<Key, std::vector<std::uint32_t>, KeyHash> index;
    const std::vector<Spine>& own = own_[e];
    for (std::uint32_t c = 0; c < own.size(); ++c) {
      if (!alive_[e][c]) continue;
      Key key;
      for (const Exchange* exchange : shared)
        key.push_back(static_cast<std::int64_t>(exchange->hash[c]));
      index[key].push_back(c);
    }
    std::unordered_map<Key, std::uint32_t, KeyHash> nodes;
    std::vector<Spine> after;
    std::vector<ExchangeEdge> edges;
    for (std::uint32_t p = 0; p < before.size(); ++p) {
      Key key;
      for (const Exchange* exchange : shared)
        key.push_back(static_cast<std::int64_t>(
            exchange_of(before[p], *find_live(before[p], exchange->tensor))));
      const auto candidates = index.find(key);
      if (candidates == index.end()) continue;
      if (cancel_ != nullptr && cancel_->load()) break;
      for (std::uint32_t c : candidates->second) {
        const std::optional<Match> match = match_spines(before[p], own[c]);
        if (!match) continue;
        JoinedSpine joined = join_spines(before[p], own[c], *match, graph_.last_use, e);
        if (!joined.connected) continue;
        const auto [at, inserted] =
            nodes.try_emplace(spine_key(joined.spine), static_cast<std::uint32_t>(after.size()));
        if (inserted) after.push_back(std::move(joined.spine));
        edges.push_back({p, c, at->second});
      }
    }
    graph_.spines.push_back(std::move(after));
    graph_.edges.push_back(std::move(edges));
  }

  /// Keeps the spines from which the last Einsum can be reached.
  void drop_dead_ends() {
    std::vector<char> reaches(graph_.spines.back().size(), 1);
    for (std::size_t e = layers_.size(); e-- > 0;) {
      std::vector<ExchangeEdge>& edges = graph_.edges[e];
      std::vector<char> before(graph_.spines[e].size(), 0);
      std::erase_if(edges, [&](const ExchangeEdge& edge) { return reaches[edge.to] == 0; });
      for (const ExchangeEdge& edge : edges) before[edge.from] = 1;
      reaches = std::move(before);
    }
  }

  std::vector<ExchangeLayer> layers_;
  const bool drop_dead_ends_;
  const std::atomic<bool>* cancel_;
  std::vector<std::vector<Exchange>> exchanges_;  // per Einsum, ascending by tensor
  std::vector<std::vector<Spine>> own_;           // per Einsum and group
  std::vector<std::vector<char>> alive_;          // per Einsum and group
  ExchangeGraph graph_;
};

}  // namespace

ExchangeGraph connect_exchanges(const BoundProblem& problem, std::vector<ExchangeLayer> layers,
                                bool drop_dead_ends, const std::atomic<bool>* cancel) {
  return Connector(problem, std::move(layers), drop_dead_ends, cancel).run();
}

}  // namespace sluice::fused
