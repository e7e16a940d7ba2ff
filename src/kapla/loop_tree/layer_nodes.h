#pragma once

#include <set>
#include <string>
#include <vector>

#include "sluice/kapla/directives.h"
#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"

namespace sluice::kapla {

/// What is wrong with a directive.
struct LayerMistake {
  DirectivePlace place;
  std::string message;
  std::string hint;
};

/// A node, and the directive that it is from.
struct PlacedNode {
  sluice::Node node;
  DirectivePlace place;
};
using PlacedNodes = std::vector<PlacedNode>;

/// The nodes that a layer's directives say, outermost first. `backed`: tensors that stand in the
/// outermost memory. Throws LayerMistake.
PlacedNodes layer_nodes(const BoundProblem& problem, EinsumId einsum, const LayerDirectives& layer,
                        std::set<TensorId> backed);

/// The name that may be meant, or all there are.
std::string near(const std::string& word, const std::vector<std::string>& words);

}  // namespace sluice::kapla
