// Who sends what to whom: the instances of a maker and of its readers, dealt out by spatial loops
// above the nodes that a forward leads from and to.
#include "triples/forward_kinds.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <utility>

#include "triples/triple.h"

namespace sluice::triples {
namespace {

using Variables = std::set<std::string>;
/// Spatial loops: variable and component.
using Loops = std::set<std::pair<std::string, std::string>>;

/// The variables of each index of `tensor` in `text`, `T[n,P:q+s]`: those of the first access.
std::vector<Variables> indices_of(const std::string& text, const std::string& tensor) {
  std::size_t at = text.find(tensor + "[");
  while (at != std::string::npos && at > 0 &&
         std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0)
    at = text.find(tensor + "[", at + 1);
  if (at == std::string::npos) return {};
  std::vector<Variables> indices(1);
  for (at += tensor.size() + 1; at < text.size() && text[at] != ']'; ++at) {
    if (text[at] == ',') indices.emplace_back();
    if (std::islower(static_cast<unsigned char>(text[at])) != 0)
      indices.back().insert(std::string(1, text[at]));
  }
  return indices;
}

/// What the instances of one Einsum have of a forwarded tensor.
struct Shares {
  std::set<std::size_t> split;  ///< ranks of which each has a part
  Variables same_at;            ///< components of which several instances have the same part
};

Shares shares_of(const std::vector<Variables>& indices, const Loops& loops) {
  Shares shares;
  for (const auto& [variable, component] : loops) {
    bool is_index = false;
    for (std::size_t rank = 0; rank < indices.size(); ++rank)
      if (indices[rank].count(variable) > 0) {
        shares.split.insert(rank);
        is_index = true;
      }
    if (!is_index) shares.same_at.insert(component);
  }
  return shares;
}

class ForwardKinds {
 public:
  ForwardKinds(const Triple& triple, Kinds& kinds) : triple_(triple), kinds_(kinds) {}

  void look_for(const std::vector<NodeSpec>& nodes) {
    for (const NodeSpec& node : nodes) {
      for (const auto& [tensor, memory] : node.forward) look_at(node, tensor, memory);
      for (const auto& child : node.children) look_for(child);
    }
  }

 private:
  void look_at(const NodeSpec& split, const std::string& tensor, const std::string& memory) {
    tensor_ = tensor;
    memory_ = memory;
    makers_.clear();
    readers_.clear();
    for (const auto& child : split.children) find_ends(child, {}, std::nullopt);
    for (const Shares& maker : makers_)
      for (const Shares& reader : readers_) compare(maker, reader);
  }

  void compare(const Shares& maker, const Shares& reader) {
    for (const std::size_t rank : maker.split)
      (reader.split.count(rank) > 0 ? kinds_.forwards_by_rows : kinds_.forwards_by_channels) = true;
    for (const ComponentSpec& network : triple_.components)
      for (const std::string& component : reader.same_at)
        kinds_.forwards_by_trees =
            kinds_.forwards_by_trees || (network.grows_trees && network.name == "Net" + component);
  }

  /// The Einsums below, with the spatial loops above the node that holds the tensor.
  void find_ends(const std::vector<NodeSpec>& nodes, Loops loops, std::optional<Loops> above_node) {
    for (const NodeSpec& node : nodes) {
      if (node.kind == NodeSpec::Kind::kSpatial)
        for (const std::string& variable : node.names) loops.emplace(variable, node.component);
      if (node.kind == NodeSpec::Kind::kStorage && node.component == memory_ && !above_node &&
          std::find(node.names.begin(), node.names.end(), tensor_) != node.names.end())
        above_node = loops;
      if (node.kind == NodeSpec::Kind::kCompute && above_node)
        add_end(node.names.front(), *above_node);
      for (const auto& child : node.children) find_ends(child, loops, above_node);
    }
  }

  void add_end(const std::string& einsum, const Loops& loops) {
    for (const EinsumSpec& candidate : triple_.einsums) {
      if (candidate.name != einsum) continue;
      const std::size_t equals = candidate.text.find('=');
      const auto made = indices_of(candidate.text.substr(0, equals), tensor_);
      const auto read = indices_of(candidate.text.substr(equals), tensor_);
      if (!made.empty()) makers_.push_back(shares_of(made, loops));
      if (!read.empty()) readers_.push_back(shares_of(read, loops));
    }
  }

  const Triple& triple_;
  Kinds& kinds_;
  std::string tensor_, memory_;  ///< of the forward at hand
  std::vector<Shares> makers_, readers_;
};

}  // namespace

void note_forwards(const Triple& triple, Kinds& kinds) {
  ForwardKinds(triple, kinds).look_for(triple.nodes);
}

}  // namespace sluice::triples
