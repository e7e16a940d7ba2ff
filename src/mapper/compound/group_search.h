#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "frame_walker.h"
#include "part_cost.h"
#include "sluice/mapper/mapper.h"

namespace sluice::compound {

/// One way of mapping a group: what follows the root's node of the outermost memory.
struct GroupMapping {
  PartCost cost;
  std::shared_ptr<const NodeList> nodes;  ///< Einsum ids count from the group's first
  double inside_s = 0;  ///< policy `staged`: what the children of its outermost split take
};

/// Adds to a front, unless one that is there is no worse in any way.
void add_mapping(std::vector<GroupMapping>* front, GroupMapping mapping);

struct GroupResult {
  std::vector<GroupMapping> front;  ///< none of them is worse than another in every way
  /// The best one by the first objective of each way of spreading the frame over instances: the
  /// spatial dimensions, as (component, dimension).
  std::map<std::vector<std::pair<ComponentId, std::uint32_t>>, GroupMapping> by_spread;
  bool is_complete = true;  ///< the whole space of the group has been looked at
  double priced = 0;
};

/// How far a search of one group goes.
struct GroupLimits {
  Effort effort = Effort::kLikely;
  double most_priced = 1e300;                 ///< mappings; then the search is not complete
  bool count_only = false;                    ///< prices nothing
  const std::atomic<bool>* cancel = nullptr;  ///< may be null
  /// Called with each mapping that is the best so far by the first objective; may be empty.
  std::function<void(const GroupMapping&)> better = nullptr;
};

/// What the search of a group is given.
struct GroupProblem {
  const BoundProblem& whole;
  const Group& group;
  const BoundProblem& slice;               ///< slice() of the group
  const std::vector<BoundProblem>& alone;  ///< per Einsum of the whole: slice() of it alone
  /// Effort::kLikely: an Einsum alone is searched like a group with a home among these memories.
  const std::vector<ComponentId>& homes;
};

/// The best mappings of a group under a policy.
GroupResult search_group(const GroupProblem& problem, const MapperOptions& options,
                         const GroupLimits& limits);

}  // namespace sluice::compound
