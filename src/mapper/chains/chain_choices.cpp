#include "chain_choices.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "einsum_search.h"
#include "mapper/request/constrained_problem.h"

namespace sluice::chains {
namespace {

/// Nothing where chains cannot begin so.
std::optional<Exchange> exchange_of(const sampling::MapSpace& space, std::size_t e,
                                    const sampling::EinsumChoice& like) {
  if (space.shape(e).is_copy) return std::nullopt;
  Exchange result;
  const fused::Template& templ = space.templates(e)[like.templ];
  const BoundEinsum& bound = space.problem()[EinsumId(e)];
  const std::vector<ComponentId>& path = bound.computes[templ.compute].path;
  const auto outermost = std::find_if(path.begin(), path.end(), [&](ComponentId component) {
    return space.problem().arch[component].is_memory() &&
           bound.components[component.index()].enabled;
  });
  if (outermost == path.end()) return std::nullopt;
  for (const fused::Item& item : templ.items) {
    if (item.is_loop) {
      const fused::LoopPlace& loop = templ.loops[item.index];
      const std::int64_t trips = like.trips[item.index];
      if (!loop.fused || trips == 1) continue;
      if (loop.steps) return std::nullopt;
      ChainLoop step{loop.variable, trips};
      if (loop.spatial) step.spatial = {loop.component, loop.dimension};
      result.outermost.emplace_back(step);
      continue;
    }
    const fused::Slot& slot = templ.slots[item.index];
    if (!slot.shared) continue;
    if (slot.persistent) return std::nullopt;
    const TensorId tensor = space.shape(e).tensors[slot.tensor].id;
    result.backings.emplace_back(tensor, slot.component);
    if (slot.component != *outermost)
      result.outermost.emplace_back(ChainNode{tensor, slot.component});
  }
  return result;
}

}  // namespace

ChainChoices::ChainChoices(sampling::MapSpace* space, sampling::FanoutUse* use,
                           const std::atomic<bool>* cancel)
    : space_(*space),
      use_(*use),
      cancel_(cancel),
      bounded_(constrained(space->problem(), space->options().constraints)) {}

sampling::ChoicePtr ChainChoices::of(std::size_t e, const sampling::EinsumChoice& like,
                                     const CostTotals& whole, int halvings) {
  auto exchange = exchange_of(space_, e, like);
  if (!exchange) return nullptr;
  exchange->halvings = halvings;
  sampling::ChoicePtr choice = find(e, *exchange, &like.compatibility, whole);
  return choice && choice->compatibility == like.compatibility ? choice : nullptr;
}

sampling::ChoicePtr ChainChoices::of(std::size_t e, const Exchange& exchange,
                                     const CostTotals& whole) {
  return find(e, exchange, nullptr, whole);
}

sampling::ChoicePtr ChainChoices::find(std::size_t e, const Exchange& exchange,
                                       const fused::Compatibility* like, const CostTotals& whole) {
  constexpr std::size_t kFewWays = 3;
  Key key = {static_cast<std::int64_t>(space_.list_of(e)), like != nullptr, exchange.halvings};
  if (!space_.options().constraints.tiles.empty()) key.push_back(static_cast<std::int64_t>(e));
  const auto tensor_number = [&](TensorId tensor) {
    return static_cast<std::int64_t>(space_.problem()[EinsumId(e)].local_tensor[tensor.index()]);
  };
  for (const auto& [tensor, memory] : exchange.backings)
    key.insert(key.end(), {tensor_number(tensor), static_cast<std::int64_t>(memory.index())});
  for (const auto& step : exchange.outermost) {
    if (const auto* loop = std::get_if<ChainLoop>(&step)) {
      key.insert(key.end(), {-1, static_cast<std::int64_t>(loop->variable), loop->trips});
      if (loop->spatial)
        key.insert(key.end(), {-2, static_cast<std::int64_t>(loop->spatial->first.index()),
                               static_cast<std::int64_t>(loop->spatial->second)});
    } else
      key.push_back(tensor_number(std::get<ChainNode>(step).tensor));
  }
  const auto [at, is_new] = known_.try_emplace(std::move(key));
  if (is_new) {
    EinsumSearch search(bounded_, EinsumId(e), exchange.backings, exchange.outermost,
                        exchange.halvings);
    search.search(kFewWays, false, worth(space_.options().objectives.front(), whole), like, &space_,
                  &use_, cancel_);
    if (search.best()) at->second = search.best()->choice;
  }
  const sampling::ChoicePtr& found = at->second;
  if (!found || !space_.is_choice(e, found->templ, found->trips)) return nullptr;
  return space_.make_choice(e, found->templ, found->trips);
}

}  // namespace sluice::chains
