#include "chain_choices.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "mapper/common/first_memory.h"
#include "mapper/request/constrained_problem.h"
#include "mapper/sampling/polish.h"
#include "sluice/mapper/objective_value.h"
#include "support/seconds_since.h"
#include "worth_while.h"

namespace sluice::chains {
namespace {

/// Nothing where chains cannot begin so.
std::optional<Exchange> exchange_of(const sampling::MapSpace& space, std::size_t e,
                                    const sampling::EinsumChoice& like) {
  if (space.shape(e).is_copy) return std::nullopt;
  Exchange result;
  const fused::Template& templ = space.templates(e)[like.templ];
  const BoundEinsum& bound = space.problem()[EinsumId(e)];
  const auto outermost = first_memory(space.problem(), bound, bound.computes[templ.compute]);
  if (!outermost) return std::nullopt;
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
      bounded_(constrained_as_held(space->problem(), space->options().constraints)) {}

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

ChainChoices::Key ChainChoices::key_of(std::size_t e, const Exchange& exchange,
                                       bool is_alike) const {
  Key key = {static_cast<std::int64_t>(space_.list_of(e)), is_alike, exchange.halvings};
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
  return key;
}

sampling::ChoicePtr ChainChoices::find(std::size_t e, const Exchange& exchange,
                                       const fused::Compatibility* like, const CostTotals& whole) {
  constexpr std::size_t kFewWays = 3;
  Known& known = known_[key_of(e, exchange, like != nullptr)];
  if (!std::exchange(known.is_asked, true) && !known.choice) {
    EinsumSearch search(bounded_, EinsumId(e), exchange.backings, exchange.outermost,
                        exchange.halvings);
    search.search(kFewWays, false, worth(space_.options().objectives.front(), whole), like, &space_,
                  &use_, cancel_);
    if (search.best()) known.choice = search.best()->choice;
    if (known.choice && like == nullptr) know(e, known.choice, exchange.halvings);
  }
  const sampling::ChoicePtr& found = known.choice;
  if (!found || !space_.is_choice(e, found->templ, found->trips)) return nullptr;
  return space_.make_choice(e, found->templ, found->trips);
}

/// It is what chains have for all that exchange their tensors as it does.
void ChainChoices::know(std::size_t e, const sampling::ChoicePtr& choice, int halvings) {
  auto exchange = exchange_of(space_, e, *choice);
  if (!exchange) return;
  exchange->halvings = halvings;
  Known& alike = known_[key_of(e, *exchange, true)];
  if (!std::exchange(alike.is_asked, true) && !alike.choice) alike.choice = choice;
}

std::vector<ChainChoices::Alike> ChainChoices::alike_in(const sampling::Genome& now,
                                                        const EinsumChains::Worth& worth) {
  std::map<const Known*, std::size_t> numbers;
  std::vector<Alike> all;
  for (std::size_t e = 0; e < now.size(); ++e) {
    auto exchange = exchange_of(space_, e, *now[e]);
    const auto own = space_.price_alone(e, *now[e]);
    if (!exchange || !own) continue;
    Known& whole_room = known_[key_of(e, *exchange, true)];
    exchange->halvings = whole_room.halvings;
    Known& known = known_[key_of(e, *exchange, true)];
    const auto [at, is_new] = numbers.try_emplace(&known, all.size());
    const double cost = worth(own->energy_j, own->latency_s);
    if (is_new) all.push_back({&known, &whole_room.halvings, *std::move(exchange), {}, cost, cost});
    all[at->second].einsums.push_back(e);
  }
  for (auto& [key, known] : known_)
    if (!numbers.contains(&known)) known.search.reset();
  return all;
}

/// Each has its share of the time since it is known.
void ChainChoices::look(const sampling::Genome& now, const EinsumChains::Worth& worth,
                        double seconds, std::vector<Alike>* all) {
  constexpr std::size_t kWays = 2;
  const auto cost_of = [](const Alike& alike) {
    return alike.cost * static_cast<double>(alike.einsums.size());
  };
  const double whole =
      std::accumulate(all->begin(), all->end(), 0.0,
                      [&](double sum, const Alike& alike) { return sum + cost_of(alike); });
  const auto turn = [&](const Alike& alike) {
    return turn_of(alike.known->seconds, cost_of(alike) / whole, all->size());
  };
  WorthWhile worth_while(seconds);
  while (worth_while.goes_on() && !is_cancelled(cancel_)) {
    const auto next =
        std::min_element(all->begin(), all->end(), [&](const Alike& a, const Alike& b) {
          return std::pair(!a.known->is_open, turn(a)) < std::pair(!b.known->is_open, turn(b));
        });
    if (next == all->end() || !next->known->is_open) return;
    const auto start = std::chrono::steady_clock::now();
    Known& known = *next->known;
    const std::size_t e = next->einsums.front();
    if (!known.search)
      known.search =
          std::make_unique<EinsumSearch>(bounded_, EinsumId(e), next->exchange.backings,
                                         next->exchange.outermost, next->exchange.halvings);
    known.is_open =
        known.search->search(kWays, true, worth, &now[e]->compatibility, &space_, &use_, cancel_);
    if (const auto& best = known.search->best()) {
      known.choice = best->choice;
      const double cost = worth(best->totals.energy_j, best->totals.latency_s);
      const auto n = static_cast<double>(next->einsums.size());
      if (cost < next->least) worth_while.gain(n * (next->least - cost) / whole);
      next->least = std::min(next->least, cost);
    }
    known.seconds += seconds_since(start);
  }
}

bool ChainChoices::take(const Alike& alike, const EinsumChains::Worth& worth, sampling::Genome* now,
                        double* objective) const {
  const sampling::ChoicePtr& found = alike.known->choice;
  if (!found) return true;
  const auto own = space_.price_alone(alike.einsums.front(), *found);
  if (!own || worth(own->energy_j, own->latency_s) >= alike.cost) return true;
  sampling::Genome changed = *now;
  for (const std::size_t e : alike.einsums) {
    if (!space_.is_choice(e, found->templ, found->trips)) continue;
    auto choice = space_.make_choice(e, found->templ, found->trips);
    if (choice->compatibility == changed[e]->compatibility) changed[e] = std::move(choice);
  }
  const auto totals = space_.price(changed);
  if (!totals) return false;
  const double value =
      objective_value(space_.options().objectives.front(), totals->energy_j, totals->latency_s);
  if (value >= *objective) return true;
  *objective = value;
  *now = std::move(changed);
  return true;
}

std::optional<sampling::Genome> ChainChoices::refine(const sampling::Genome& now,
                                                     const CostTotals& whole, double seconds) {
  const Objective objective = space_.options().objectives.front();
  const EinsumChains::Worth price = worth(objective, whole);
  std::vector<Alike> all = alike_in(now, price);
  if (all.empty()) return std::nullopt;
  look(now, price, seconds, &all);
  sampling::Genome best = now;
  const double before = objective_value(objective, whole.energy_j, whole.latency_s);
  double value = before;
  for (const Alike& alike : all) {
    if (!take(alike, price, &best, &value))
      *alike.halvings = std::min(*alike.halvings + 1, sampling::kMostHalvings);
  }
  return value < before ? std::optional(std::move(best)) : std::nullopt;
}

}  // namespace sluice::chains
