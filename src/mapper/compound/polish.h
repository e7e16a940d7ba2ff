#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <vector>

#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"

namespace sluice::compound {

/// Less is better, the first number first; nothing: illegal.
using Worth = std::optional<std::vector<double>>;

struct Polished {
  NodeList nodes;
  double priced = 0;
};

/// Looks at the neighbours of a mapping and goes to any that is better, until none is, or
/// `most_priced` have been tried. Neighbours have one prime factor of a loop as a temporal loop at
/// another place of its list, two nodes that follow each other exchanged, a storage node's tile
/// kept for the next visit (`incremental`) or not, or another algorithm of a collective. What each
/// memory holds stays.
Polished polish(const BoundProblem& problem, const NodeList& nodes,
                const std::function<Worth(const NodeList&)>& worth, double most_priced,
                const std::atomic<bool>* cancel);

}  // namespace sluice::compound
