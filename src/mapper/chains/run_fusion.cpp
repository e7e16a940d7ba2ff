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
    : space_(space), choices_(*choices), runs_(space), passing_(runs_) {}

/// What Einsums exchange in inner memories now: those that hang together below loops have one
/// class. What stays there for the whole run does not change with them.
class RunFusion::Ties {
 public:
  Ties(const BoundProblem& problem, std::optional<ComponentId> outermost, const Genome& now)
      : classes_(now.size()), is_inner_(problem.workload.tensors.size(), 0), stay_(now.size()) {
    for (std::size_t e = 0; e < now.size(); ++e)
      for (const fused::Backing& backing : now[e]->compatibility.backings) {
        if (backing.component == outermost) continue;
        const TensorId tensor = problem[EinsumId(e)].tensors[backing.tensor];
        is_inner_[tensor.index()] = 1;
        if (backing.level == 0 && !backing.persistent) {
          stay_[e].emplace_back(tensor, backing.component);
          continue;
        }
        for (const EinsumId user : problem.roles.users(tensor)) classes_.join(e, user.index());
      }
  }

  std::size_t class_of(std::size_t einsum) const { return classes_.of(einsum); }
  bool is_inner(TensorId tensor) const { return is_inner_[tensor.index()] != 0; }
  /// What an Einsum exchanges outside of all loops in inner memories, but for the run's tensors.
  Exchange stays(std::size_t einsum, const Run& run) const {
    Exchange exchange;
    for (const auto& [tensor, memory] : stay_[einsum]) {
      if (run.exchanges(tensor)) continue;
      exchange.backings.emplace_back(tensor, memory);
      exchange.outermost.emplace_back(ChainNode{tensor, memory});
    }
    return exchange;
  }

 private:
  Classes classes_;
  std::vector<char> is_inner_;                ///< by TensorId
  std::vector<EinsumSearch::Backings> stay_;  ///< per Einsum
};

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
  const double room = runs_.room(run, fused.memory);
  const auto gained = [&](std::size_t e, const Exchange& exchange, double left) {
    std::vector<TensorId> inner;
    for (const auto& [tensor, memory] : exchange.backings) inner.push_back(tensor);
    PassingBits::Loops loops;
    for (const auto& step : exchange.outermost)
      if (const auto* loop = std::get_if<ChainLoop>(&step); loop != nullptr && !loop->spatial)
        loops.emplace_back(loop->variable, loop->trips);
    return passing_.of(e, now[e]->compatibility, room) - passing_.of(e, inner, loops, left);
  };
  const double left = room - fused.held_bits(runs_);
  double sum = 0;
  for (std::size_t e = run.first; e <= run.last; ++e)
    sum += gained(e, exchange_of(fused, e, ties.stays(e, run)), left);
  for (const std::size_t e : tied) sum += gained(e, ties.stays(e, run), room);
  return sum;
}

/// Of several that were not drawn yet, of more and more as draws go on.
std::optional<FusedRun> RunFusion::draw_best(const Genome& now, const Ties& ties,
                                             RandomSource* random) {
  constexpr std::size_t kFew = 32, kEach = 2, kMany = 256, kVaried = 64;
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
  const std::vector<std::size_t> tied = tied_to(*best->run, ties);
  const auto n = static_cast<double>(best->run->size() + tied.size());
  for (std::size_t i = 0; i < kVaried; ++i) {
    auto fused = vary_fused(runs_, *best, random);
    if (!fused || drawn_.contains(fused->key()) || is_so(now, *fused)) continue;
    const double own = gain(now, *fused, ties, tied) / n;
    if (own <= most) continue;
    most = own;
    best = std::move(fused);
  }
  double all = 0;
  for (std::size_t e = 0; e < now.size(); ++e)
    all += passing_.of(e, now[e]->compatibility, runs_.room(*best->run, best->memory));
  if (most <= kLittle * all && !random->chance(kInVain)) return std::nullopt;
  drawn_.insert(best->key());
  return best;
}

std::optional<Genome> RunFusion::draw(const Genome& now, const CostTotals& whole,
                                      RandomSource* random) {
  if (empty()) return std::nullopt;
  const Ties ties(space_.problem(), runs_.outermost(), now);
  const auto fused = draw_best(now, ties, random);
  if (!fused) return std::nullopt;
  const Run& run = *fused->run;
  Exchanges exchanges;
  for (std::size_t e = run.first; e <= run.last; ++e)
    exchanges.emplace_back(e, exchange_of(*fused, e, ties.stays(e, run)));
  for (const std::size_t e : tied_to(run, ties)) exchanges.emplace_back(e, ties.stays(e, run));
  // What all of them hold at the same time has to fit.
  for (int halvings = 0; halvings <= sampling::kMostHalvings; ++halvings) {
    for (std::size_t i = 0; i < run.size(); ++i) exchanges[i].second.halvings = halvings;
    auto changed = exchanged(exchanges, now, whole);
    if (!changed || space_.price(*changed)) return changed;
  }
  return std::nullopt;
}

std::optional<Genome> RunFusion::exchanged(const Exchanges& exchanges, Genome now,
                                           const CostTotals& whole) {
  for (const auto& [e, exchange] : exchanges) {
    now[e] = choices_.of(e, exchange, whole);
    if (!now[e]) return std::nullopt;
  }
  if (!space_.joins(now)) return std::nullopt;
  return now;
}

}  // namespace sluice::chains
