#include "overlap_bound.h"

#include <algorithm>
#include <utility>

#include "part_tree.h"
#include "sluice/model/evaluate.h"

namespace sluice::compound {
namespace {

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

}  // namespace

OverlapBound::OverlapBound(const BoundProblem& problem, const Group& group,
                           const std::vector<BoundProblem>& alone, const StorageNode& root)
    : problem_(problem), group_(group), alone_(alone), roots_(group.size(), root) {
  for (std::size_t e = 0; e < group.size(); ++e)
    std::erase_if(roots_[e].tensors, [&](TensorId tensor) { return !uses(e, tensor); });
}

bool OverlapBound::uses(std::size_t e, TensorId tensor) const {
  return problem_[group_.einsum(e)].local_tensor[tensor.index()] >= 0;
}

double OverlapBound::latency_s(const NodeList& nodes, double enough_s) {
  whole_ = &nodes;
  const double known_s = below(nodes, enough_s, false);
  return known_s > enough_s ? known_s : below(nodes, enough_s, true);
}

/// Parts whose price is not known count 0 where they are not to be priced.
double OverlapBound::below(const NodeList& nodes, double enough_s, bool price) {
  const Node& last = nodes.back();
  if (const auto* compute = std::get_if<ComputeNode>(&last.kind))
    return of_einsum(compute->einsum.index(), price);
  const auto& split = std::get<SplitNode>(last.kind);
  double sum_s = 0, longest_s = 0;
  for (const NodeList& child : split.children) {
    if (std::holds_alternative<CollectiveNode>(child.front().kind)) continue;
    const double child_s = below(child, enough_s, price);
    sum_s += child_s;
    longest_s = std::max(longest_s, child_s);
    const double so_far_s = split.kind == SplitKind::kSequential ? sum_s : longest_s;
    if (so_far_s > enough_s) return so_far_s;
  }
  return split.kind == SplitKind::kSequential ? sum_s : longest_s;
}

double OverlapBound::of_einsum(std::size_t e, bool price) {
  Key key = {static_cast<std::int64_t>(e)};
  look(e, *whole_, &key);
  if (!price) {
    const auto at = known_.find(key);
    return at == known_.end() ? 0 : at->second;
  }
  const auto [at, is_new] = known_.try_emplace(std::move(key), 0);
  if (!is_new) return at->second;
  NodeList nodes = seen_by(e, *whole_);
  for_each_compute(&nodes, [](ComputeNode& compute) { compute.einsum = EinsumId(0); });
  at->second =
      unchecked_overlap_s(alone_[group_.first + e], below_root(roots_[e], {std::move(nodes)}));
  return at->second;
}

/// Appends to a key what tells apart the mappings that an Einsum sees.
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
  NodeList seen = nodes_using(nodes, [&](TensorId tensor) { return uses(e, tensor); });
  if (auto* split = seen.empty() ? nullptr : std::get_if<SplitNode>(&seen.back().kind)) {
    const auto [begin, end] = branch_of(*split, EinsumId(e));
    SplitNode own;
    own.children.push_back(seen_by(e, split->children[begin]));
    own.children.insert(own.children.end(),
                        split->children.begin() + static_cast<std::ptrdiff_t>(begin) + 1,
                        split->children.begin() + static_cast<std::ptrdiff_t>(end));
    seen.back().kind = std::move(own);
  }
  return seen;
}

}  // namespace sluice::compound
