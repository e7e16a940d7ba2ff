#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "board.h"

namespace sluice::referee {

/// What every participant knows of a collective.
struct Task {
  const CollectiveRequest& request;
  std::vector<int> owner;  ///< per index: the rank whose block it is in

  CollectiveType type() const { return request.type; }
  int root() const { return static_cast<int>(request.root); }
};

/// Whether one of the participants is the root, who has everything before or after.
inline bool is_rooted(CollectiveType type) {
  return type == CollectiveType::kBroadcast || type == CollectiveType::kScatter ||
         type == CollectiveType::kGather;
}

/// Whose of `participants` blocks each of `values` indices is in: dealt out in runs, the first ones
/// longer by one value.
std::vector<int> owners(std::int64_t values, int participants);

/// An algorithm: how it is performed, and on which networks it can be.
struct Performer {
  const char* algorithm;
  bool (*perform)(Board&, const Task&);
  bool (*fits)(const TopologyFacts&);
  bool is_automatic = true;  ///< `auto` tries it
};
/// In the order in which `auto` prefers equals.
std::span<const Performer> performers();

/// Each performs the whole collective; false where the algorithm has none of this type.
bool perform_recursive_doubling(Board& board, const Task& task);
bool perform_halving_doubling(Board& board, const Task& task);
bool perform_ring(Board& board, const Task& task);
bool perform_tree(Board& board, const Task& task);
bool perform_direct(Board& board, const Task& task);
bool perform_per_dimension(Board& board, const Task& task);
bool perform_greedy_tree(Board& board, const Task& task);

}  // namespace sluice::referee
