#include "oracle/canonical_nest.h"

#include <algorithm>
#include <set>

namespace sluice::oracle {
namespace {

const NestStorage* storage_at(const std::vector<NestNode>& nodes, std::size_t i) {
  return i < nodes.size() ? std::get_if<NestStorage>(&nodes[i]) : nullptr;
}

const NestLoop* loop_at(const std::vector<NestNode>& nodes, std::size_t i) {
  return i < nodes.size() ? std::get_if<NestLoop>(&nodes[i]) : nullptr;
}

bool passes(const Einsum& einsum, const NestStorage& storage, const NestLoop& loop) {
  if (storage.backing || loop.spatial) return false;
  return held_relevance(einsum, storage.tensor, loop.variable) == Relevance::kRelevant;
}

int loops_before(const std::vector<NestNode>& nodes, std::size_t end) {
  return static_cast<int>(std::count_if(nodes.begin(),
                                        nodes.begin() + static_cast<std::ptrdiff_t>(end),
                                        [](const NestNode& n) { return n.index() == 0; }));
}

/// Whether one of the adjacent nodes from here on slides.
bool slides_at(const std::vector<NestNode>& nodes, std::size_t i) {
  for (; storage_at(nodes, i); ++i)
    if (storage_at(nodes, i)->sliding) return true;
  return false;
}

/// Moves one node down as far as it goes: a sliding one through its sliding window's loop, to right
/// below it; another one through a loop that a later node has slid over, to between the two. False
/// where the same nest is written elsewhere: it sank through an unfused loop, or a sliding node
/// meets no window.
bool sink(const Einsum& einsum, int n_fused, std::vector<NestNode>& nodes, std::size_t at) {
  for (;; ++at) {
    const NestStorage& storage = *storage_at(nodes, at);
    const NestLoop* below = loop_at(nodes, at + 1);
    const bool slides =
        below && storage.sliding && !below->spatial &&
        held_relevance(einsum, storage.tensor, below->variable) == Relevance::kPartial;
    if (slides) std::swap(nodes[at], nodes[at + 1]);
    if (slides) return true;
    if (!below || !passes(einsum, storage, *below)) return !storage.sliding;
    if (slides_at(nodes, at + 2)) {
      if (storage.sliding) return false;
      std::swap(nodes[at], nodes[at + 1]);
      return true;
    }
    if (loops_before(nodes, at + 1) >= n_fused) return false;
    std::swap(nodes[at], nodes[at + 1]);
  }
}

/// Innermost nodes first: a node that moves down frees the one above it.
bool sink_all(const Einsum& einsum, int n_fused, std::vector<NestNode>& nodes) {
  for (std::size_t i = nodes.size(); i-- > 0;)
    if (storage_at(nodes, i) && !sink(einsum, n_fused, nodes, i)) return false;
  return true;
}

/// Adjacent nodes of one memory and the temporal loops directly under them, whose order is free: a
/// loop that a node has slid over, and so stands right below, is not one of them.
struct Run {
  std::size_t begin = 0, end = 0, loops_end = 0;
};

Run run_at(const std::vector<NestNode>& nodes, std::size_t begin) {
  Run run{begin, begin + 1, 0};
  const ComponentId memory = storage_at(nodes, begin)->component;
  while (storage_at(nodes, run.end) && storage_at(nodes, run.end)->component == memory) ++run.end;
  run.loops_end = run.end;
  while (loop_at(nodes, run.loops_end) && !loop_at(nodes, run.loops_end)->spatial) ++run.loops_end;
  if (run.loops_end > run.end && slides_at(nodes, run.loops_end)) --run.loops_end;
  return run;
}

/// Whether a window may slide here, or below the loop right under the run, which the last of its
/// nodes then sinks through: the order says something, and stays as it is.
bool may_slide(const Einsum& einsum, const std::vector<NestNode>& nodes, const Run& run) {
  if (loop_at(nodes, run.end) && slides_at(nodes, run.end + 1)) return true;
  for (std::size_t i = run.begin; i < run.end; ++i) {
    const NestStorage& node = *storage_at(nodes, i);
    if (node.sliding) return true;
    for (std::size_t l = run.end; l < run.loops_end; ++l)
      if (held_relevance(einsum, node.tensor, loop_at(nodes, l)->variable) == Relevance::kPartial)
        return true;
  }
  return false;
}

auto at(std::vector<NestNode>& nodes, std::size_t i) {
  return nodes.begin() + static_cast<std::ptrdiff_t>(i);
}

/// Ascending loops, except that the first one stops a node of the run.
void sort_loops(const Einsum& einsum, std::vector<NestNode>& nodes, const Run& run) {
  const auto blocks = [&](std::size_t l) {
    for (std::size_t i = run.begin; i < run.end; ++i)
      if (!sinks_through(einsum, *storage_at(nodes, i), *loop_at(nodes, l))) return true;
    return false;
  };
  std::sort(at(nodes, run.end), at(nodes, run.loops_end), [](const NestNode& a, const NestNode& b) {
    return std::get<NestLoop>(a).variable < std::get<NestLoop>(b).variable;
  });
  for (std::size_t l = run.end; l < run.loops_end; ++l) {
    if (!blocks(l)) continue;
    std::rotate(at(nodes, run.end), at(nodes, l), at(nodes, l + 1));
    return;
  }
}

/// Ascending tensors, except that those that could sink stand above those that cannot.
void sort_nodes(const Einsum& einsum, std::vector<NestNode>& nodes, const Run& run) {
  const NestLoop* below = loop_at(nodes, run.end);
  const auto key = [&](const NestNode& node) {
    const NestStorage& storage = std::get<NestStorage>(node);
    return std::pair(!below || !sinks_through(einsum, storage, *below), storage.tensor);
  };
  std::sort(at(nodes, run.begin), at(nodes, run.end),
            [&](const NestNode& a, const NestNode& b) { return key(a) < key(b); });
}

/// Whether two temporal loops over one variable have no node between them: a node that stood there
/// sank. A gap has one at most. What slides over the second one stands between them.
bool repeats_a_loop(const std::vector<NestNode>& nodes) {
  std::set<RankVariableId> since_node;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NestLoop* loop = loop_at(nodes, i);
    if (!loop || slides_at(nodes, i + 1)) since_node.clear();
    if (loop && !loop->spatial && !since_node.insert(loop->variable).second) return true;
  }
  return false;
}

}  // namespace

bool sinks_through(const Einsum& einsum, const NestStorage& storage, const NestLoop& loop) {
  return !storage.sliding && passes(einsum, storage, loop);
}

std::optional<std::vector<NestNode>> canonical_nest(const Einsum& einsum, int n_fused,
                                                    std::vector<NestNode> nodes) {
  if (!sink_all(einsum, n_fused, nodes) || repeats_a_loop(nodes)) return std::nullopt;
  for (std::size_t i = 0; i < nodes.size();) {
    const NestStorage* first = storage_at(nodes, i);
    if (!first || first->top) {
      ++i;
      continue;
    }
    const Run run = run_at(nodes, i);
    if (!may_slide(einsum, nodes, run)) {
      if (loops_before(nodes, run.end) >= n_fused) sort_loops(einsum, nodes, run);
      sort_nodes(einsum, nodes, run);
    }
    i = run.end;
  }
  return nodes;
}

void NestCollector::add(std::vector<NestNode> nodes) {
  std::string key = nest_key(nodes, compute_);
  const auto [entry, is_new] = index_of_.try_emplace(std::move(key), nests_.size());
  if (is_new) {
    Pmapping nest;
    nest.einsum = einsum_;
    nest.compute = compute_;
    nest.nodes = std::move(nodes);
    nests_.push_back(std::move(nest));
  }
  nests_[entry->second].templates.insert(template_);
}

NestList NestCollector::take() {
  NestList list;
  list.exceeded = exceeded();
  list.nests = std::move(nests_);
  return list;
}

}  // namespace sluice::oracle
