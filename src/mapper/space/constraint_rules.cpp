#include "constraint_rules.h"

#include <algorithm>
#include <limits>

#include "mapper/common/contains.h"

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

std::uint64_t local_tensors(const EinsumShape& shape, const std::vector<TensorId>& ids) {
  std::uint64_t local = 0;
  for (std::size_t t = 0; t < shape.tensors.size(); ++t)
    if (contains(ids, shape.tensors[t].id)) local |= std::uint64_t{1} << t;
  return local;
}

/// Of a memory's slots; nothing: it has none.
std::optional<std::uint32_t> innermost_group(const SlotGroups& groups, ComponentId memory) {
  std::optional<std::uint32_t> innermost;
  for (std::size_t s = 0; s < groups.slots.size(); ++s)
    if (groups.slots[s].component == memory)
      innermost = std::max(innermost.value_or(0), groups.group_of[s]);
  return innermost;
}

/// The next one further in that has slots.
std::optional<ComponentId> next_memory(const SlotGroups& groups, ComponentId memory) {
  std::optional<ComponentId> next;
  for (const Slot& slot : groups.slots)
    if (memory < slot.component && (!next || slot.component < *next)) next = slot.component;
  return next;
}

}  // namespace

std::vector<TileRule> tile_rules(const Constraints& constraints, const EinsumShape& shape) {
  std::vector<TileRule> rules;
  for (const TileConstraint& c : constraints.tiles) {
    if (!concerns(c, shape)) continue;
    const auto variable = local_variable(shape, c.variable);
    if (!variable) continue;
    TileRule& rule = rules.emplace_back();
    rule.variable = *variable;
    rule.memory = c.memory;
    if (!c.tensors.empty()) rule.tensors = local_tensors(shape, c.tensors);
    rule.minimum = c.minimum;
    rule.maximum = c.maximum.value_or(std::numeric_limits<std::int64_t>::max());
  }
  return rules;
}

std::vector<std::vector<bool>> above_ruled_nodes(const Template& templ, const TileRule& rule) {
  std::vector<std::vector<bool>> nodes;
  for (const Slot& slot : templ.slots) {
    if (slot.component != rule.memory || (rule.tensors && (*rule.tensors >> slot.tensor & 1) == 0))
      continue;
    if (rule.tensors || nodes.empty()) nodes.emplace_back(templ.loops.size(), false);
    const std::int32_t own = slot.loop_above_node();
    const std::uint32_t gap = own < 0 ? slot.gap : templ.loops[static_cast<std::size_t>(own)].gap;
    for (std::size_t l = 0; l < templ.loops.size(); ++l)
      if (templ.loops[l].gap < gap || static_cast<std::int32_t>(l) == own) nodes.back()[l] = true;
  }
  return nodes;
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
    const auto first = innermost_group(groups, c.memory);
    if (!first) continue;
    const auto inside = next_memory(groups, c.memory);
    // Where hierarchy forces no order, a node further in may stand above the memory's.
    const std::uint32_t end = inside ? *innermost_group(groups, *inside) : groups.count;
    if (end <= *first) continue;
    rule.first_gap = *first;
    rule.last_gap = end - 1;
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace sluice::fused
