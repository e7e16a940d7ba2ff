#include "polish.h"

#include <algorithm>
#include <map>
#include <utility>

#include "model/bind/divisors.h"
#include "sluice/mapper/mapper.h"

namespace sluice::compound {
namespace {

using Tiles = std::map<RankVariableId, std::int64_t>;

/// A node, and how many steps a loop takes.
struct Step {
  Node node;
  std::int64_t trips = 1;
};

const std::vector<RankVariableId>* variables_of(const Node& node) {
  if (const auto* loop = std::get_if<TemporalNode>(&node.kind)) return &loop->variables;
  if (const auto* loop = std::get_if<SpatialNode>(&node.kind)) return &loop->variables;
  return nullptr;
}

bool is_temporal(const Node& node) { return std::holds_alternative<TemporalNode>(node.kind); }

std::int64_t& tile_shape_of(Node* node) {
  if (auto* loop = std::get_if<TemporalNode>(&node->kind)) return loop->tile_shape;
  return std::get<SpatialNode>(node->kind).tile_shape;
}

bool has_first_tiles(const NodeList& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const Node& node) {
    const auto* temporal = std::get_if<TemporalNode>(&node.kind);
    const auto* spatial = std::get_if<SpatialNode>(&node.kind);
    return (temporal && temporal->initial_tile_shape) || (spatial && spatial->initial_tile_shape);
  });
}

/// A list's nodes with the steps of its loops; `tiles`: what the lists around leave, and then what
/// this one does. Nothing where a loop does not divide.
std::optional<std::vector<Step>> steps_of(const NodeList& nodes, Tiles* tiles) {
  std::vector<Step> steps;
  for (const Node& node : nodes) {
    Step& step = steps.emplace_back(Step{node, 1});
    const auto* variables = variables_of(node);
    if (variables == nullptr) continue;
    const std::int64_t enclosing = tiles->at(variables->front());
    const std::int64_t tile = tile_shape_of(&step.node);
    if (enclosing % tile != 0) return std::nullopt;
    step.trips = enclosing / tile;
    for (RankVariableId variable : *variables) (*tiles)[variable] = tile;
  }
  return steps;
}

/// The nodes again: tile shapes that follow from the steps, loops of one step left out, two over
/// the same that follow each other as one.
NodeList nodes_of(const std::vector<Step>& steps, Tiles tiles) {
  NodeList nodes;
  for (const Step& step : steps) {
    const auto* variables = variables_of(step.node);
    if (variables == nullptr) {
      nodes.push_back(step.node);
      continue;
    }
    if (step.trips == 1) continue;
    const std::int64_t tile = tiles.at(variables->front()) / step.trips;
    for (RankVariableId variable : *variables) tiles[variable] = tile;
    const bool goes_on = is_temporal(step.node) && !nodes.empty() && is_temporal(nodes.back()) &&
                         *variables_of(nodes.back()) == *variables;
    if (!goes_on) nodes.push_back(step.node);
    tile_shape_of(&nodes.back()) = tile;
  }
  return nodes;
}

class Polisher {
 public:
  Polisher(const BoundProblem& problem, const NodeList& nodes,
           const std::function<Worth(const NodeList&)>& worth, double most_priced,
           const std::atomic<bool>* cancel)
      : algorithms_(problem.algorithms.names()),
        worth_(worth),
        most_priced_(most_priced),
        cancel_(cancel),
        best_(nodes) {
    for (const Einsum& einsum : problem.workload.einsums)
      for (const VariableRange& range : einsum.iteration_space)
        sizes_[range.variable] = std::max(sizes_[range.variable], range.size);
    split_storages(&best_);
  }

  Polished run() {
    best_worth_ = worth_(best_);
    while (best_worth_ && !over() && improve_list(&best_, sizes_)) {
    }
    join_storages(&best_);
    return {best_worth_ ? std::move(best_) : NodeList{}, priced_};
  }

 private:
  bool over() const { return priced_ >= most_priced_ || is_cancelled(cancel_); }

  /// One node a tensor.
  static void split_storages(NodeList* nodes) {
    NodeList result;
    for (Node& node : *nodes) {
      if (auto* split = std::get_if<SplitNode>(&node.kind))
        for (NodeList& child : split->children) split_storages(&child);
      const auto* storage = std::get_if<StorageNode>(&node.kind);
      if (storage == nullptr) {
        result.push_back(std::move(node));
        continue;
      }
      for (TensorId tensor : storage->tensors) {
        StorageNode own = *storage;
        own.tensors = {tensor};
        result.push_back({std::move(own)});
      }
    }
    *nodes = std::move(result);
  }

  /// Nodes of one memory that follow each other as one node.
  static void join_storages(NodeList* nodes) {
    NodeList result;
    for (Node& node : *nodes) {
      if (auto* split = std::get_if<SplitNode>(&node.kind))
        for (NodeList& child : split->children) join_storages(&child);
      const auto* storage = std::get_if<StorageNode>(&node.kind);
      auto* last = result.empty() ? nullptr : std::get_if<StorageNode>(&result.back().kind);
      bool joins = false;
      if (storage && last) {
        StorageNode same = *storage;
        same.tensors = last->tensors;
        joins = same == *last;
      }
      if (joins)
        last->tensors.insert(last->tensors.end(), storage->tensors.begin(), storage->tensors.end());
      else
        result.push_back(std::move(node));
    }
    *nodes = std::move(result);
  }

  /// Goes to better neighbours in a list of the best mapping and in those below it; whether there
  /// was one.
  bool improve_list(NodeList* list, Tiles tiles) {
    bool any = false;
    for (bool found = true; found && !over();) {
      found = move_factors(list, tiles) || exchange(list) || keep_tiles(list) ||
              change_algorithms(list);
      any |= found;
    }
    if (!steps_of(*list, &tiles)) return any;
    if (auto* split = list->empty() ? nullptr : std::get_if<SplitNode>(&list->back().kind))
      for (NodeList& child : split->children) any |= improve_list(&child, tiles);
    return any;
  }

  /// Takes `changed` for a list of the best mapping if that makes it better.
  bool take(NodeList* list, NodeList changed) {
    if (over()) return false;
    std::swap(*list, changed);
    ++priced_;
    if (const Worth worth = worth_(best_); worth && *worth < *best_worth_) {
      best_worth_ = worth;
      return true;
    }
    std::swap(*list, changed);
    return false;
  }

  bool move_factors(NodeList* list, const Tiles& tiles) {
    Tiles inner = tiles;
    const auto steps = has_first_tiles(*list) ? std::nullopt : steps_of(*list, &inner);
    if (!steps) return false;
    for (std::size_t from = 0; from < steps->size(); ++from) {
      const auto* variables = variables_of((*steps)[from].node);
      if (variables == nullptr) continue;
      for (const std::int64_t prime : primes_of((*steps)[from].trips))
        for (std::size_t to = 0; to < steps->size(); ++to) {
          if (is_temporal((*steps)[from].node) && (to == from || to == from + 1)) continue;
          std::vector<Step> changed = *steps;
          changed[from].trips /= prime;
          changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(to),
                         Step{{TemporalNode{*variables, 1, std::nullopt}}, prime});
          if (take(list, nodes_of(changed, tiles))) return true;
        }
    }
    return false;
  }

  bool exchange(NodeList* list) {
    for (std::size_t i = 0; i + 2 < list->size(); ++i) {
      const bool both_spatial = variables_of((*list)[i]) && variables_of((*list)[i + 1]) &&
                                !is_temporal((*list)[i]) && !is_temporal((*list)[i + 1]);
      if (both_spatial) continue;
      NodeList changed = *list;
      std::swap(changed[i], changed[i + 1]);
      if (take(list, std::move(changed))) return true;
    }
    return false;
  }

  bool keep_tiles(NodeList* list) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      NodeList changed = *list;
      auto* storage = std::get_if<StorageNode>(&changed[i].kind);
      if (storage == nullptr) continue;
      storage->incremental = !storage->incremental;
      if (take(list, std::move(changed))) return true;
    }
    return false;
  }

  bool change_algorithms(NodeList* list) {
    const auto* split = list->empty() ? nullptr : std::get_if<SplitNode>(&list->back().kind);
    for (std::size_t c = 0; split && c < split->children.size(); ++c) {
      if (!std::holds_alternative<CollectiveNode>(split->children[c].front().kind)) continue;
      for (const std::string& algorithm : algorithms_) {
        NodeList changed = *list;
        NodeList& child = std::get<SplitNode>(changed.back().kind).children[c];
        std::get<CollectiveNode>(child.front().kind).algorithm = algorithm;
        if (take(list, std::move(changed))) return true;
      }
    }
    return false;
  }

  std::vector<std::string> algorithms_;
  const std::function<Worth(const NodeList&)>& worth_;
  double most_priced_;
  const std::atomic<bool>* cancel_;
  Tiles sizes_;
  NodeList best_;
  Worth best_worth_;
  double priced_ = 0;
};

}  // namespace

Polished polish(const BoundProblem& problem, const NodeList& nodes,
                const std::function<Worth(const NodeList&)>& worth, double most_priced,
                const std::atomic<bool>* cancel) {
  return Polisher(problem, nodes, worth, most_priced, cancel).run();
}

}  // namespace sluice::compound
