#include "overlap_bound.h"

#include <algorithm>
#include <utility>

#include "part_tree.h"

namespace sluice::compound {
namespace {

constexpr std::size_t kKeySize = 96;  // longer ones grow

bool computes(const NodeList& nodes, EinsumId einsum) {
  if (const auto* compute = std::get_if<ComputeNode>(&nodes.back().kind))
    return compute->einsum == einsum;
  const auto* split = std::get_if<SplitNode>(&nodes.back().kind);
  return split && std::any_of(split->children.begin(), split->children.end(),
                              [&](const NodeList& child) { return computes(child, einsum); });
}

/// First and end of an Einsum's child and the collectives that follow it.
std::pair<std::size_t, std::size_t> branch_of(const SplitNode& split, EinsumId einsum) {
  std::size_t begin = 0;
  while (!computes(split.children[begin], einsum)) ++begin;
  std::size_t end = begin + 1;
  while (end < split.children.size() &&
         std::holds_alternative<CollectiveNode>(split.children[end].front().kind))
    ++end;
  return {begin, end};
}

void add(const std::vector<double>& seconds, std::vector<double>* sums) {
  sums->resize(std::max(sums->size(), seconds.size()), 0);
  for (std::size_t c = 0; c < seconds.size(); ++c) (*sums)[c] += seconds[c];
}

}  // namespace

OverlapBound::OverlapBound(const BoundProblem& problem, const Group& group,
                           const std::vector<BoundProblem>& alone, const StorageNode& root)
    : problem_(problem),
      group_(group),
      alone_(alone),
      roots_(group.size(), root),
      now_(group.size(), nullptr),
      last_s_(group.size(), 0) {
  for (std::size_t e = 0; e < group.size(); ++e)
    std::erase_if(roots_[e].tensors, [&](TensorId tensor) { return !uses(e, tensor); });
}

bool OverlapBound::uses(std::size_t e, TensorId tensor) const {
  return problem_[group_.einsum(e)].local_tensor[tensor.index()] >= 0;
}

double OverlapBound::latency_s(const NodeList& nodes, std::size_t n_einsums, double enough_s) {
  std::vector<Known::value_type*> unknown;
  for (std::size_t e = 0; e < n_einsums; ++e) {
    Key key;
    key.reserve(kKeySize);
    key.push_back(static_cast<std::int64_t>(e));
    look(e, nodes, &key);
    const auto [at, is_new] = known_.try_emplace(std::move(key), std::nullopt);
    now_[e] = at->second ? &*at->second : nullptr;
    if (!now_[e]) unknown.push_back(&*at);
  }
  // First what took longest last time: it may be enough.
  const auto einsum_of = [](const Known::value_type* at) {
    return static_cast<std::size_t>(at->first.front());
  };
  std::sort(unknown.begin(), unknown.end(), [&](const auto& a, const auto& b) {
    return last_s_[einsum_of(a)] > last_s_[einsum_of(b)];
  });
  std::vector<double> busy_s;
  double latency_s = below(nodes, &busy_s);
  for (Known::value_type* at : unknown) {
    if (latency_s > enough_s) break;
    const std::size_t e = einsum_of(at);
    at->second = price(e, nodes);
    now_[e] = &*at->second;
    last_s_[e] = now_[e]->latency_s;
    busy_s.clear();
    latency_s = below(nodes, &busy_s);
  }
  return latency_s;
}

double OverlapBound::below(const NodeList& nodes, std::vector<double>* busy_s) const {
  if (const auto* compute = std::get_if<ComputeNode>(&nodes.back().kind)) {
    const PartTime* now = now_[compute->einsum.index()];
    if (now) add(now->busy_s, busy_s);
    return now ? now->latency_s : 0;
  }
  const auto& split = std::get<SplitNode>(nodes.back().kind);
  const bool is_sequential = split.kind == SplitKind::kSequential;
  std::vector<double> together;  // of the children that run side by side
  double latency_s = 0;
  for (const NodeList& child : split.children) {
    if (std::holds_alternative<CollectiveNode>(child.front().kind)) continue;
    const double part_s = below(child, is_sequential ? busy_s : &together);
    latency_s = is_sequential ? latency_s + part_s : std::max(latency_s, part_s);
  }
  for (const double component_s : together) latency_s = std::max(latency_s, component_s);
  add(together, busy_s);
  return latency_s;
}

PartTime OverlapBound::price(std::size_t e, const NodeList& nodes) {
  ++priced_;
  Mapping mapping = list_below_root(roots_[e], seen_by(e, nodes));
  write_alone(&mapping.nodes);
  return unchecked_overlap(alone_[group_.first + e], mapping);
}

/// Appends to a key what tells apart the mappings of one search that an Einsum sees (collectives
/// follow from loops and home there).
void OverlapBound::look(std::size_t e, const NodeList& nodes, Key* key) const {
  const auto add = [key](auto... values) {
    (key->push_back(static_cast<std::int64_t>(values)), ...);
  };
  for (const Node& node : nodes) {
    if (const auto* storage = std::get_if<StorageNode>(&node.kind)) {
      add(-1, storage->component.index(), storage->incremental);
      for (TensorId tensor : storage->tensors)
        if (uses(e, tensor)) add(tensor.index());
    } else if (const auto* loop = std::get_if<TemporalNode>(&node.kind)) {
      add(-2, loop->variables.front().index(), loop->tile_shape);
    } else if (const auto* spread = std::get_if<SpatialNode>(&node.kind)) {
      add(-3, spread->variables.front().index(), spread->tile_shape, spread->component.index(),
          spread->dimension);
    } else if (const auto* compute = std::get_if<ComputeNode>(&node.kind)) {
      add(-4, compute->component.index());
    } else if (const auto* split = std::get_if<SplitNode>(&node.kind)) {
      const auto [begin, end] = branch_of(*split, EinsumId(e));
      add(-5, end - begin);
      look(e, split->children[begin], key);
    }
  }
}

NodeList OverlapBound::seen_by(std::size_t e, const NodeList& nodes) const {
  const auto* split = std::get_if<SplitNode>(&nodes.back().kind);
  NodeList seen = nodes_using(nodes.begin(), nodes.end() - (split ? 1 : 0),
                              [&](TensorId tensor) { return uses(e, tensor); });
  if (!split) return seen;
  const auto [begin, end] = branch_of(*split, EinsumId(e));
  SplitNode own;
  own.kind = SplitKind::kParallel;  // the same latency, and busy times
  own.children.reserve(end - begin);
  own.children.push_back(seen_by(e, split->children[begin]));
  own.children.insert(own.children.end(),
                      split->children.begin() + static_cast<std::ptrdiff_t>(begin) + 1,
                      split->children.begin() + static_cast<std::ptrdiff_t>(end));
  seen.push_back({std::move(own)});
  return seen;
}

}  // namespace sluice::compound
