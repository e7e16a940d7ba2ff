#pragma once

#include <string>
#include <vector>

#include "sluice/kapla/directives.h"
#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"

namespace sluice::kapla {

/// The mapping that directives say, a layer for each Einsum (docs/networks.md, "Directives and
/// mappings"). Levels are components, from the inside; above the outermost of them all tensors are
/// in the outermost memory, unless some level is that memory. A level's stacks and updates are the
/// loops above its nodes; loops inside the innermost level go through what is left. Mistakes have
/// the line and column of the directive: names, boxes that overlap or leave gaps, stacks without
/// room, shares that do not go round as the loops around them tell. Legality and cost are
/// evaluate()'s. `places`: the directive that each node of the mapping is from, in the order of its
/// text (a node before those below it).
Result<Mapping> to_loop_tree(const std::vector<LayerDirectives>& layers,
                             const BoundProblem& problem, const std::string& file,
                             std::vector<DirectivePlace>* places = nullptr);

/// A mapping as directives: what to_loop_tree makes the mapping of again, with spatial loops as far
/// in as their tiles let them. What directives cannot say is a mistake without a place: loops above
/// several Einsums, splits that are not sequential, collectives, first tiles of another size, nodes
/// for some of the Einsums below.
Result<std::vector<LayerDirectives>> to_directives(const Mapping& mapping,
                                                   const BoundProblem& problem);

}  // namespace sluice::kapla
