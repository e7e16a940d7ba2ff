#include "constraint_rules.h"

#include <algorithm>
#include <limits>

namespace sluice::fused {
namespace {

template <class Constraint>
bool concerns(const Constraint& constraint, const EinsumShape& shape) {
  return !constraint.einsum || *constraint.einsum == shape.einsum;
}

std::optional<std::uint32_t> local_variable(const EinsumShape& shape, RankVariableId id) {
  const auto at = std::find(shape.variables.begin(), shape.variables.end(), id);
  if (at == shape.variables.end()) return std::nullopt;
  return static_cast<std::uint32_t>(at - shape.variables.begin());
}

}  // namespace

std::vector<TileRule> tile_rules(const Constraints& constraints, const EinsumShape& shape) {
  std::vector<TileRule> rules;
  for (const TileConstraint& c : constraints.tiles) {
    if (!concerns(c, shape)) continue;
    if (const auto variable = local_variable(shape, c.variable))
      rules.push_back({*variable, c.memory, c.minimum,
                       c.maximum.value_or(std::numeric_limits<std::int64_t>::max())});
  }
  return rules;
}

std::vector<OrderRule> order_rules(const Constraints& constraints, const EinsumShape& shape,
                                   const SlotGroups& groups) {
  std::vector<OrderRule> rules;
  for (const LoopOrderConstraint& c : constraints.loop_orders) {
    if (!concerns(c, shape)) continue;
    OrderRule rule;
    for (RankVariableId id : c.order)
      if (const auto variable = local_variable(shape, id)) rule.variables.push_back(*variable);
    if (rule.variables.size() < 2) continue;
    bool holds = false;
    for (std::size_t s = 0; s < groups.slots.size(); ++s) {
      if (groups.slots[s].component != c.memory) continue;
      rule.first_gap = holds ? std::min(rule.first_gap, groups.group_of[s]) : groups.group_of[s];
      holds = true;
    }
    if (!holds) continue;
    rule.last_gap = groups.count - 1;
    for (std::size_t s = 0; s < groups.slots.size(); ++s)
      if (c.memory < groups.slots[s].component && groups.group_of[s] > rule.first_gap)
        rule.last_gap = std::min(rule.last_gap, groups.group_of[s] - 1);
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace sluice::fused
