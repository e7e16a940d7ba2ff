#include "run_fusion.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "classes.h"
#include "mapper/sampling/polish.h"

namespace sluice::chains {

using sampling::Genome;
using sampling::RandomSource;

RunFusion::RunFusion(const sampling::MapSpace& space, ChainChoices* choices)
    : space_(space),
      choices_(*choices),
      runs_(space),
      passing_(runs_),
      cuts_(runs_, passing_, choices) {}

/// Others that exchange something in an inner memory below loops with an Einsum of the run, or with
/// one that does: they cannot stay as they are.
std::vector<std::size_t> RunFusion::tied_to(const Run& run, const Ties& ties) const {
  std::set<std::size_t> of_run;
  for (std::size_t e = run.first; e <= run.last; ++e) of_run.insert(ties.class_of(e));
  std::vector<std::size_t> result;
  for (std::size_t e = 0; e < space_.n_einsums(); ++e)
    if (!run.has(e) && of_run.contains(ties.class_of(e))) result.push_back(e);
  return result;
}

/// A run keeps what it exchanges in the outermost memory now, whatever others give up.
RunFusion::Picks RunFusion::picks(const Ties& ties) const {
  Picks picks;
  double sum = 0;
  for (const Run& run : runs_.all()) {
    for (const TensorId own : run.tensors)
      if (!ties.is_inner(own)) sum += passing_.of(own);
    picks.up_to.push_back(sum);
  }
  return picks;
}

const Run& RunFusion::Picks::pick(const Runs& runs, RandomSource* random) const {
  constexpr double kAny = 0.5;
  if (up_to.back() == 0 || random->chance(kAny)) return random->pick(runs.all());
  const auto at = std::upper_bound(up_to.begin(), up_to.end(), random->unit() * up_to.back());
  return runs.all()[std::min(static_cast<std::size_t>(at - up_to.begin()), up_to.size() - 1)];
}

Exchange RunFusion::exchange_of(const FusedRun& fused, std::size_t e, Exchange exchange) const {
  for (auto& step : fused.steps_of(e, runs_)) {
    if (const auto* node = std::get_if<ChainNode>(&step))
      exchange.backings.emplace_back(node->tensor, node->memory);
    exchange.outermost.push_back(std::move(step));
  }
  return exchange;
}

/// Whether the run exchanges its tensors so already.
bool RunFusion::is_so(const Genome& now, const FusedRun& fused) const {
  for (std::size_t e = fused.run->first; e <= fused.run->last; ++e) {
    const fused::Compatibility& own = now[e]->compatibility;
    std::size_t n_loops = 0;
    for (const auto& step : fused.steps_of(e, runs_)) {
      if (const auto* node = std::get_if<ChainNode>(&step)) {
        const std::size_t tensor = *runs_.local_number(e, node->tensor);
        const auto is_there = [&](const fused::Backing& backing) {
          return backing.tensor == tensor && backing.component == node->memory &&
                 backing.level == n_loops;
        };
        if (std::none_of(own.backings.begin(), own.backings.end(), is_there)) return false;
        continue;
      }
      const auto& loop = std::get<ChainLoop>(step);
      if (std::none_of(own.loops.begin(), own.loops.end(),
                       [&](const fused::FusedLoop& shared) { return is_same(loop, shared); }))
        return false;
      ++n_loops;
    }
    if (own.loops.size() != n_loops) return false;
  }
  return true;
}

/// How many bits fewer pass the outermost memory.
double RunFusion::gain(const Genome& now, const FusedRun& fused, const Ties& ties,
                       const std::vector<std::size_t>& tied) const {
  const Run& run = *fused.run;
  const auto gained = [&](std::size_t e, const Exchange& exchange,
                          const std::optional<PassingBits::Inside>& inside) {
    return passing_.of(e, now[e]->compatibility) - passing_.of(e, exchange.outermost, inside);
  };
  const double left = runs_.room(run, fused.memory) - fused.held_bits(runs_);
  double sum = 0;
  for (std::size_t e = run.first; e <= run.last; ++e)
    sum += gained(e, exchange_of(fused, e, ties.stays(e, &run)), {{fused.memory, left}});
  for (const std::size_t e : tied) sum += gained(e, ties.stays(e, &run), std::nullopt);
  return sum;
}

/// Of several that were not drawn yet, of more and more as draws go on.
std::optional<FusedRun> RunFusion::draw_best(const Genome& now, const Ties& ties,
                                             RandomSource* random) {
  constexpr std::size_t kFew = 32, kEach = 2, kMany = 256;
  constexpr double kLittle = 1e-4, kInVain = 0.25;  // share of all bits; how often to try it
  const Picks runs = picks(ties);
  std::optional<FusedRun> best;
  double most = 0;
  const std::size_t n_drawn = std::min(kMany, kFew + kEach * drawn_.size());
  for (std::size_t i = 0; i < n_drawn; ++i) {
    const Run& run = runs.pick(runs_, random);
    const std::vector<std::size_t> tied = tied_to(run, ties);
    const std::size_t n = run.size() + tied.size();
    if (n > Runs::kLongest) continue;
    auto fused = draw_fused(runs_, run, random->pick(run.memories), random);
    if (!fused || drawn_.contains(fused->key()) || is_so(now, *fused)) continue;
    const double own = gain(now, *fused, ties, tied) / static_cast<double>(n);
    if (best && own <= most) continue;
    most = own;
    best = std::move(fused);
  }
  if (!best) return std::nullopt;
  double all = 0;
  for (std::size_t e = 0; e < now.size(); ++e) all += passing_.of(e, now[e]->compatibility);
  if (most <= kLittle * all && !random->chance(kInVain)) return std::nullopt;
  drawn_.insert(best->key());
  return best;
}

/// What Einsums cost alone; nothing where one of them has no price.
std::optional<CostTotals> RunFusion::cost_of(const Genome& genome, std::size_t first,
                                             std::size_t last) const {
  CostTotals sum;
  for (std::size_t e = first; e <= last; ++e) {
    const auto own = space_.price_alone(e, *genome[e]);
    if (!own) return std::nullopt;
    sum.energy_j += own->energy_j;
    sum.latency_s += own->latency_s;
  }
  return sum;
}

/// A part of the best cut.
std::optional<Genome> RunFusion::draw_cut(const Genome& now, const Ties& ties,
                                          const CostTotals& whole, RandomSource* random) {
  const auto part = cuts_.draw(now, ties, whole, random);
  if (!part) return std::nullopt;
  Exchanges exchanges;
  for (std::size_t e = part->first; e <= part->last; ++e) {
    const auto fused = std::find_if(part->runs.begin(), part->runs.end(),
                                    [&](const FusedRun& own) { return own.run->has(e); });
    if (fused == part->runs.end())
      exchanges.push_back({e, ties.stays(e, nullptr), false});
    else
      exchanges.push_back({e, exchange_of(*fused, e, ties.stays(e, fused->run)), true});
  }
  std::size_t failed = part->last + 1;
  auto changed = exchanged(exchanges, now, whole, &failed);
  for (const FusedRun& fused : part->runs)
    if (changed)
      cuts_.tell(fused, cost_of(*changed, fused.run->first, fused.run->last));
    else if (fused.run->has(failed) || failed > part->last)
      cuts_.tell(fused, std::nullopt);
  if (!changed) return std::nullopt;
  last_cut_ = DrawnPart{part->first, {}};
  for (std::size_t e = part->first; e <= part->last; ++e)
    last_cut_->exchanged.push_back((*changed)[e]->compatibility);
  return changed;
}

/// As often as cuts were taken.
bool RunFusion::trusts_cuts(const Genome& now, RandomSource* random) {
  constexpr double kLeast = 0.1;
  if (last_cut_) {
    ++n_cuts_;
    bool is_taken = true;
    for (std::size_t i = 0; i < last_cut_->exchanged.size(); ++i)
      is_taken = is_taken && now[last_cut_->first + i]->compatibility == last_cut_->exchanged[i];
    if (is_taken) ++n_taken_;
    last_cut_.reset();
  }
  return random->chance(std::max(kLeast, (n_taken_ + 2.0) / (n_cuts_ + 2.0)));
}

std::optional<Genome> RunFusion::draw(const Genome& now, const CostTotals& whole,
                                      RandomSource* random) {
  if (empty()) return std::nullopt;
  const Ties ties(space_.problem(), runs_.outermost(), now);
  if (trusts_cuts(now, random))
    if (auto changed = draw_cut(now, ties, whole, random)) return changed;
  const auto fused = draw_best(now, ties, random);
  if (!fused) return std::nullopt;
  const Run& run = *fused->run;
  Exchanges exchanges;
  for (std::size_t e = run.first; e <= run.last; ++e)
    exchanges.push_back({e, exchange_of(*fused, e, ties.stays(e, &run)), true});
  for (const std::size_t e : tied_to(run, ties))
    exchanges.push_back({e, ties.stays(e, &run), false});
  return exchanged(exchanges, now, whole);
}

/// What all of them hold at the same time has to fit: the room of those that are fused is halved
/// until it does.
std::optional<Genome> RunFusion::exchanged(const Exchanges& exchanges, const Genome& now,
                                           const CostTotals& whole, std::size_t* failed) {
  for (int halvings = 0; halvings <= sampling::kMostHalvings; ++halvings) {
    Genome changed = now;
    for (auto [e, exchange, is_fused] : exchanges) {
      if (is_fused) exchange.halvings = halvings;
      changed[e] = choices_.of(e, exchange, whole);
      if (changed[e]) continue;
      if (failed != nullptr) *failed = e;
      return std::nullopt;
    }
    if (!space_.joins(changed)) return std::nullopt;
    if (space_.price(changed)) return changed;
  }
  return std::nullopt;
}

}  // namespace sluice::chains
