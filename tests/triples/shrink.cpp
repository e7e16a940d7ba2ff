#include <algorithm>
#include <functional>

#include "triples/triple.h"

namespace sluice::triples {
namespace {

using Edit = std::function<bool(Triple&)>;  ///< false: nothing to simplify here

/// Every list of nodes of a tree, outermost first.
void lists_of(std::vector<NodeSpec>& nodes, std::vector<std::vector<NodeSpec>*>& lists) {
  lists.push_back(&nodes);
  for (NodeSpec& node : nodes)
    for (std::vector<NodeSpec>& child : node.children) lists_of(child, lists);
}

std::vector<NodeSpec>* list_number(Triple& triple, std::size_t number) {
  std::vector<std::vector<NodeSpec>*> lists;
  lists_of(triple.nodes, lists);
  return number < lists.size() ? lists[number] : nullptr;
}

bool is_collective(const std::vector<NodeSpec>& child) {
  return child.size() == 1 && child[0].kind == NodeSpec::Kind::kCollective;
}

/// And its share.
void remove_child(NodeSpec& split, std::size_t child) {
  if (!is_collective(split.children[child])) {
    const auto share =
        std::count_if(split.children.begin(), split.children.begin() + static_cast<long>(child),
                      [](const auto& other) { return !is_collective(other); });
    if (share < static_cast<long>(split.shares.size()))
      split.shares.erase(split.shares.begin() + share);
  }
  split.children.erase(split.children.begin() + static_cast<long>(child));
}

void remove_computes(std::vector<NodeSpec>& nodes, const std::string& einsum) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].kind == NodeSpec::Kind::kSequential) {
      for (std::size_t c = nodes[i].children.size(); c-- > 0;) {
        remove_computes(nodes[i].children[c], einsum);
        const auto& child = nodes[i].children[c];
        const bool works = !child.empty() && (child.back().kind == NodeSpec::Kind::kCompute ||
                                              child.back().kind == NodeSpec::Kind::kSequential);
        if (!works) remove_child(nodes[i], c);
      }
      if (nodes[i].children.size() == 1) {
        const std::vector<NodeSpec> only = nodes[i].children[0];
        nodes.erase(nodes.begin() + static_cast<long>(i));
        nodes.insert(nodes.begin() + static_cast<long>(i), only.begin(), only.end());
      } else if (nodes[i].children.empty()) {
        nodes.erase(nodes.begin() + static_cast<long>(i));
      }
      return;
    }
    if (nodes[i].kind == NodeSpec::Kind::kCompute && nodes[i].names[0] == einsum) {
      nodes.erase(nodes.begin() + static_cast<long>(i));
      return;
    }
  }
}

/// Tensor names of storages that no Einsum mentions any more.
void remove_unknown_tensors(Triple& triple) {
  std::vector<std::vector<NodeSpec>*> lists;
  lists_of(triple.nodes, lists);
  const auto is_known = [&](const std::string& tensor) {
    for (const EinsumSpec& einsum : triple.einsums)
      if ((" " + einsum.text).find(" " + tensor + "[") != std::string::npos ||
          einsum.text.find("(" + tensor + "[") != std::string::npos)
        return true;
    return false;
  };
  for (std::vector<NodeSpec>* list : lists) {
    for (NodeSpec& node : *list)
      if (node.kind == NodeSpec::Kind::kStorage)
        std::erase_if(node.names, [&](const std::string& t) { return !is_known(t); });
    for (NodeSpec& node : *list)
      std::erase_if(node.forward, [&](const auto& forward) { return !is_known(forward.first); });
    std::erase_if(*list, [](const NodeSpec& node) {
      return node.kind == NodeSpec::Kind::kStorage && node.names.empty();
    });
  }
}

bool remove_einsum(Triple& triple, std::size_t e) {
  if (triple.einsums.size() < 2) return false;
  remove_computes(triple.nodes, triple.einsums[e].name);
  triple.einsums.erase(triple.einsums.begin() + static_cast<long>(e));
  remove_unknown_tensors(triple);
  return true;
}

void add_split_edits(const NodeSpec& split, std::size_t l, std::size_t i,
                     std::vector<Edit>& edits) {
  if (!split.shared_out.empty())
    edits.emplace_back([l, i](Triple& t) {
      NodeSpec& plain = (*list_number(t, l))[i];
      plain.shared_out.clear();
      plain.shares.clear();
      return true;
    });
  for (std::size_t f = 0; f < split.forward.size(); ++f)
    edits.emplace_back([l, i, f](Triple& t) {
      auto& forward = (*list_number(t, l))[i].forward;
      forward.erase(forward.begin() + static_cast<long>(f));
      return true;
    });
  for (std::size_t s = 0; s < split.shares.size(); ++s)
    if (split.shares[s] > 1)
      edits.emplace_back([l, i, s](Triple& t) {
        --(*list_number(t, l))[i].shares[s];
        return true;
      });
}

void add_node_edits(const Triple& triple, std::vector<Edit>& edits) {
  Triple copy = triple;
  std::vector<std::vector<NodeSpec>*> lists;
  lists_of(copy.nodes, lists);
  for (std::size_t l = 0; l < lists.size(); ++l)
    for (std::size_t i = 0; i < lists[l]->size(); ++i) {
      const NodeSpec& node = (*lists[l])[i];
      if (node.kind == NodeSpec::Kind::kSequential) add_split_edits(node, l, i, edits);
      if (node.kind == NodeSpec::Kind::kCompute || node.kind == NodeSpec::Kind::kSequential)
        continue;
      edits.emplace_back([l, i](Triple& t) {
        auto* list = list_number(t, l);
        list->erase(list->begin() + static_cast<long>(i));
        return true;
      });
      for (std::size_t n = 0; node.names.size() > 1 && n < node.names.size(); ++n)
        edits.emplace_back([l, i, n](Triple& t) {
          auto& names = (*list_number(t, l))[i].names;
          names.erase(names.begin() + static_cast<long>(n));
          return true;
        });
      for (const std::int64_t tile : {std::int64_t{1}, node.tile - 1})
        if (node.kind != NodeSpec::Kind::kStorage && tile > 0 && tile < node.tile)
          edits.emplace_back([l, i, tile](Triple& t) {
            (*list_number(t, l))[i].tile = tile;
            return true;
          });
      if (node.shared_by > 1)
        edits.emplace_back([l, i](Triple& t) {
          NodeSpec& plain = (*list_number(t, l))[i];
          plain.shared_by = 1;
          plain.over_peers.clear();
          plain.along.clear();
          return true;
        });
      if (node.incremental)
        edits.emplace_back([l, i](Triple& t) {
          (*list_number(t, l))[i].incremental = false;
          return true;
        });
      if (node.sliding || node.persistent || node.resident || node.first_tile ||
          !node.einsums.empty())
        edits.emplace_back([l, i](Triple& t) {
          NodeSpec& plain = (*list_number(t, l))[i];
          plain.sliding = plain.persistent = plain.resident = false;
          plain.first_tile = 0;
          plain.einsums.clear();
          return true;
        });
    }
}

template <class T>
bool reset(T& field, const T& value) {
  if (field == value) return false;
  field = value;
  return true;
}

void add_arch_edits(const Triple& triple, std::vector<Edit>& edits) {
  for (std::size_t c = 0; c < triple.components.size(); ++c) {
    edits.emplace_back([c](Triple& t) {
      if (t.components[c].kind == ComponentSpec::Kind::kCompute && !t.components[c].in_fork)
        return false;
      t.components.erase(t.components.begin() + static_cast<long>(c));
      return true;
    });
    edits.emplace_back([c](Triple& t) { return reset(t.components[c].size, std::string("inf")); });
    edits.emplace_back(
        [c](Triple& t) { return reset(t.components[c].bits_per_value, std::string()); });
    edits.emplace_back([c](Triple& t) { return reset(t.components[c].is_double, false); });
    edits.emplace_back([c](Triple& t) { return reset(t.components[c].counts_merging, false); });
    edits.emplace_back([c](Triple& t) { return reset(t.components[c].frees_drains, false); });
    edits.emplace_back([c](Triple& t) { return reset(t.components[c].whole_actions, false); });
    edits.emplace_back([c](Triple& t) { return reset(t.components[c].bits_per_action, 1); });
    edits.emplace_back([c](Triple& t) { return reset(t.components[c].by_kind, false); });
    edits.emplace_back([c](Triple& t) { return reset(t.components[c].enters_at_edge, false); });
    edits.emplace_back([c](Triple& t) { return reset(t.components[c].is_packed, false); });
    edits.emplace_back([c](Triple& t) { return reset(t.components[c].ports, std::string()); });
    edits.emplace_back([c](Triple& t) { return reset(t.components[c].grows_trees, false); });
    edits.emplace_back(
        [c](Triple& t) { return reset(t.components[c].frees_returning_sums, false); });
    edits.emplace_back([c](Triple& t) { return reset(t.components[c].frees_repeats, false); });
    edits.emplace_back([c](Triple& t) { return reset(t.components[c].leak_power, 0); });
    edits.emplace_back([c](Triple& t) { return reset(t.components[c].is_gated, false); });
    for (std::size_t d = 0; d < triple.components[c].spatial.size(); ++d) {
      edits.emplace_back([c, d](Triple& t) {
        auto& spatial = t.components[c].spatial;
        spatial.erase(spatial.begin() + static_cast<long>(d));
        return true;
      });
      edits.emplace_back([c, d](Triple& t) {
        return reset(t.components[c].spatial[d].may_reuse, std::string("All"));
      });
      edits.emplace_back(
          [c, d](Triple& t) { return reset(t.components[c].spatial[d].reuse, std::string()); });
    }
  }
}

std::vector<Edit> edits_of(const Triple& triple) {
  std::vector<Edit> edits;
  for (std::size_t e = triple.einsums.size(); e-- > 0;)
    edits.emplace_back([e](Triple& t) { return remove_einsum(t, e); });
  add_node_edits(triple, edits);
  for (std::size_t r = 0; r < triple.rank_sizes.size(); ++r)
    for (std::int64_t size = 1; size < triple.rank_sizes[r].second; ++size)
      edits.emplace_back([r, size](Triple& t) {
        t.rank_sizes[r].second = size;
        return true;
      });
  add_arch_edits(triple, edits);
  edits.emplace_back([](Triple& t) { return reset(t.persistent, std::string()); });
  edits.emplace_back([](Triple& t) { return reset(t.n_instances, 1); });
  edits.emplace_back([](Triple& t) { return reset(t.bits_per_value, std::string("All: 8")); });
  for (std::size_t e = 0; e < triple.einsums.size(); ++e) {
    edits.emplace_back([e](Triple& t) { return reset(t.einsums[e].n_instances, 1); });
    edits.emplace_back([e](Triple& t) { return reset(t.einsums[e].is_copy, false); });
  }
  return edits;
}

/// What sort of difference it is, so that shrinking does not slip from one into another.
std::string sort_of(const std::string& difference) {
  for (const char* sort : {"only the model", "only the executor", "peak", "padding", "merging"})
    if (difference.starts_with(sort)) return sort;
  return "counts";
}

bool shows(const Triple& triple, const std::string& sort) {
  const auto loaded = load(triple, nullptr);
  if (!loaded) return false;
  for (const std::string& difference : differences(*loaded))
    if (sort_of(difference) == sort) return true;
  return false;
}

}  // namespace

Triple shrink(const Triple& start) {
  Triple simplest = start;
  const auto loaded_start = load(start, nullptr);
  if (!loaded_start) return start;
  const std::string sort = sort_of(differences(*loaded_start).at(0));
  for (bool simpler = true; simpler;) {
    simpler = false;
    for (const Edit& edit : edits_of(simplest)) {
      Triple variant = simplest;
      if (!edit(variant)) continue;
      if (!shows(variant, sort)) continue;
      simplest = std::move(variant);
      simpler = true;
      break;
    }
  }
  return simplest;
}

}  // namespace sluice::triples
