#include "order_rules.h"

#include <algorithm>

namespace sluice::fused {
namespace {

/// Items in the order of the blocks, once all are chosen; false where that separates a sliding node
/// from its loop.
bool sort_blocks(Template* templ) {
  for (const Slot& slot : templ->slots)
    if (const std::int32_t loop = slot.loop_above_node();
        loop >= 0 && templ->loops[static_cast<std::size_t>(loop)].block > 0)
      return false;
  for (auto first = templ->items.begin(); first != templ->items.end();) {
    auto last = first + 1;
    while (first->is_loop && last != templ->items.end() && last->is_loop) ++last;
    if (first->is_loop)
      std::stable_sort(first, last, [&](const Item& a, const Item& b) {
        const LoopPlace &x = templ->loops[a.index], &y = templ->loops[b.index];
        return x.gap != y.gap ? x.gap < y.gap : x.block < y.block;
      });
    first = last;
  }
  return true;
}

/// The block of the temporal loop over the variable of a spatial one in its gap, which it stands
/// below; 0: there is none.
std::uint32_t block_above(const Template& templ, const LoopPlace& spatial) {
  for (const LoopPlace& other : templ.loops)
    if (!other.spatial && other.gap == spatial.gap && other.variable == spatial.variable)
      return other.block;
  return 0;
}

}  // namespace

void OrderRules::put_first(std::uint32_t variable, std::uint32_t gap,
                           std::vector<OrderRule>* above) {
  for (OrderRule& rule : rules_) {
    const auto at = std::find(rule.variables.begin(), rule.variables.end(), variable);
    if (at == rule.variables.end()) continue;
    if (rule.covers(gap)) above->push_back({{rule.variables.begin(), at}, gap, rule.last_gap});
    rule.variables.erase(at);
  }
}

void OrderRules::end_with(std::uint32_t variable, std::uint32_t gap,
                          std::vector<Variables>* temporal) const {
  for (const OrderRule& rule : rules_) {
    if (rule.last_gap + 1 != gap) continue;
    auto below = std::find(rule.variables.begin(), rule.variables.end(), variable);
    if (below == rule.variables.end()) continue;
    while (++below != rule.variables.end())
      for (std::uint32_t g = rule.first_gap; g <= rule.last_gap; ++g)
        (*temporal)[g] &= ~(Variables{1} << *below);
  }
}

bool OrderRules::cover(std::uint32_t gap) const {
  return std::any_of(rules_.begin(), rules_.end(),
                     [&](const OrderRule& rule) { return rule.covers(gap); });
}

bool OrderRules::is_ruled(std::uint32_t gap, std::size_t variable) const {
  return std::any_of(rules_.begin(), rules_.end(), [&](const OrderRule& rule) {
    return rule.covers(gap) && std::find(rule.variables.begin(), rule.variables.end(), variable) !=
                                   rule.variables.end();
  });
}

bool OrderRules::may_come_first(std::uint32_t gap, std::size_t variable, Variables temporal) const {
  for (const OrderRule& rule : rules_) {
    if (!rule.covers(gap)) continue;
    const auto at = std::find(rule.variables.begin(), rule.variables.end(), variable);
    if (at == rule.variables.end()) continue;
    for (auto v = rule.variables.begin(); v != at; ++v)
      if (temporal >> *v & 1) return false;
  }
  return true;
}

/// How many loops of the gap the rules put above one over `variable`, one above the other.
std::uint32_t OrderRules::depth_in(std::uint32_t gap, std::size_t variable, Variables temporal,
                                   std::size_t guard) const {
  std::uint32_t depth = 0;
  for (const OrderRule& rule : rules_) {
    const auto at = std::find(rule.variables.begin(), rule.variables.end(), variable);
    if (!rule.covers(gap) || at == rule.variables.end() || guard == 0) continue;
    for (auto above = rule.variables.begin(); above != at; ++above)
      if (temporal >> *above & 1)
        depth = std::max(depth, 1 + depth_in(gap, *above, temporal, guard - 1));
  }
  return depth;
}

bool OrderRules::sort(std::uint32_t gap, Variables temporal, std::vector<LoopPlace>* places) const {
  if (rules_.empty()) return true;
  std::stable_sort(places->begin(), places->end(), [&](const LoopPlace& a, const LoopPlace& b) {
    return depth_in(gap, a.variable, temporal) < depth_in(gap, b.variable, temporal);
  });
  for (const OrderRule& rule : rules_) {
    if (!rule.covers(gap)) continue;
    std::vector<std::size_t> ranks;
    for (const LoopPlace& place : *places) {
      const auto at = std::find(rule.variables.begin(), rule.variables.end(), place.variable);
      if (at != rule.variables.end())
        ranks.push_back(static_cast<std::size_t>(at - rule.variables.begin()));
    }
    if (!std::is_sorted(ranks.begin(), ranks.end())) return false;
  }
  return true;
}

void OrderRules::append_blocks(const std::vector<Variables>& temporal, Template templ,
                               std::vector<Template>* templates) const {
  if (rules_.empty()) {
    if (sort_blocks(&templ)) templates->push_back(std::move(templ));
    return;
  }
  std::vector<Template> variants;
  choose_blocks(0, temporal, templ, &variants);
  for (Template& variant : variants)
    if (sort_blocks(&variant)) templates->push_back(std::move(variant));
}

void OrderRules::choose_blocks(std::size_t place, const std::vector<Variables>& temporal,
                               const Template& templ, std::vector<Template>* templates) const {
  if (place == templ.loops.size()) {
    templates->push_back(templ);
    return;
  }
  const LoopPlace& loop = templ.loops[place];
  std::uint32_t deepest = 0;
  if (loop.fused && !loop.steps)
    for (const LoopPlace& other : templ.loops)
      if (other.gap == loop.gap && !other.spatial)
        deepest = std::max(deepest, depth_in(loop.gap, other.variable, temporal[loop.gap]));
  if (deepest == 0) {
    choose_blocks(place + 1, temporal, templ, templates);
    return;
  }
  std::uint32_t first = 0, end = deepest + 1;
  if (loop.spatial) {
    first = block_above(templ, loop);
    for (const OrderRule& rule : rules_)
      if (rule.binds_spatial && rule.covers(loop.gap) && rule.variables.back() == loop.variable)
        first = std::max(first, depth_in(loop.gap, loop.variable, temporal[loop.gap]));
  } else if (is_ruled(loop.gap, loop.variable)) {
    first = depth_in(loop.gap, loop.variable, temporal[loop.gap]);
    end = first + 1;
  }
  for (std::uint32_t block = first; block < end; ++block) {
    Template variant = templ;
    variant.loops[place].block = block;
    choose_blocks(place + 1, temporal, variant, templates);
  }
}

}  // namespace sluice::fused
