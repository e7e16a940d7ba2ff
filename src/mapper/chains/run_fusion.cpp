#include "run_fusion.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "mapper/sampling/polish.h"
#include "model/bind/divisors.h"
#include "model/bind/fanout_use.h"
#include "sluice/arch/outermost_memory.h"

namespace sluice::chains {
namespace {

using sampling::Genome;
using sampling::RandomSource;

constexpr std::size_t kLongest = 8;  // Einsums that change, as many as walks take at once

/// Sets of things that are the same, by pairs of them.
class Classes {
 public:
  explicit Classes(std::size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t of(std::size_t item) const {
    while (parent_[item] != item) item = parent_[item];
    return item;
  }
  void join(std::size_t a, std::size_t b) { parent_[of(a)] = of(b); }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace

/// Factors of each common loop: spatial ones by dimension, and temporal ones; outermost first.
struct RunFusion::SharedLoops {
  struct Spatial {
    std::size_t loop = 0;
    std::int64_t trips = 1;
    std::pair<ComponentId, std::uint32_t> dimension;
  };
  struct Temporal {
    std::size_t loop = 0;
    std::int64_t trips = 1;
  };
  std::vector<Spatial> spatial;
  std::vector<Temporal> temporal;
};

RunFusion::RunFusion(const sampling::MapSpace& space, ChainChoices* choices)
    : space_(space), choices_(*choices), outermost_(outermost_memory(space.problem().arch)) {
  for (std::size_t first = 0; first < space.n_einsums(); ++first)
    for (std::size_t last = first + 1; last < std::min(space.n_einsums(), first + kLongest); ++last)
      if (auto run = run_of(first, last)) runs_.push_back(*std::move(run));
}

/// Among the Einsum's; none where it does not use the tensor.
std::optional<std::size_t> RunFusion::local_number(std::size_t e, TensorId tensor) const {
  const int number = space_.problem()[EinsumId(e)].local_tensor[tensor.index()];
  return number < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(number));
}

std::optional<RunFusion::Run> RunFusion::run_of(std::size_t first, std::size_t last) const {
  const BoundProblem& problem = space_.problem();
  Run run{first, last, {}, {}, {}};
  for (std::size_t e = first; e <= last; ++e) {
    if (space_.shape(e).is_copy) return std::nullopt;
    for (const TensorId id : problem[EinsumId(e)].tensors) {
      const std::vector<EinsumId> users = problem.roles.users(id);
      const auto maker = problem.roles.sole_maker(id);
      const bool is_inside = std::all_of(users.begin(), users.end(), [&](EinsumId user) {
        return first <= user.index() && user.index() <= last;
      });
      if (maker && maker->index() == e && users.size() > 1 && is_inside &&
          !problem.workload[id].persistent)
        run.tensors.push_back(id);
    }
  }
  // Each with the next one: all hang together.
  for (std::size_t e = first; e < last; ++e) {
    const bool is_tied =
        std::any_of(run.tensors.begin(), run.tensors.end(), [&](const TensorId own) {
          const std::vector<EinsumId> users = problem.roles.users(own);
          const auto is_before = [&](EinsumId user) { return user.index() <= e; };
          return std::any_of(users.begin(), users.end(), is_before) &&
                 !std::all_of(users.begin(), users.end(), is_before);
        });
    if (!is_tied) return std::nullopt;
  }
  for (std::size_t e = first; e <= last; ++e)
    if (std::none_of(run.tensors.begin(), run.tensors.end(),
                     [&](const TensorId own) { return local_number(e, own).has_value(); }))
      return std::nullopt;
  run.loops = common_loops(run);
  const BoundCompute& compute = problem[EinsumId(first)].computes.front();
  for (const ComponentId component : compute.path)
    if (may_hold(run, component) && has_room(run, component)) run.memories.push_back(component);
  if (run.memories.empty()) return std::nullopt;
  return run;
}

/// An inner memory, on the way of all the Einsums, that may back what they exchange.
bool RunFusion::may_hold(const Run& run, ComponentId memory) const {
  if (!space_.problem().arch[memory].is_memory() || memory == outermost_) return false;
  for (std::size_t e = run.first; e <= run.last; ++e) {
    const auto& path = space_.problem()[EinsumId(e)].computes.front().path;
    if (std::find(path.begin(), path.end(), memory) == path.end()) return false;
    const std::vector<std::uint32_t>& shared = space_.shared_tensors(e);
    for (std::size_t i = 0; i < shared.size(); ++i) {
      const TensorId id = space_.shape(e).tensors[shared[i]].id;
      const bool is_inner = std::any_of(run.tensors.begin(), run.tensors.end(),
                                        [&](const TensorId own) { return own == id; });
      const auto has_place = [&](const sampling::BackingGroup& group) {
        return group.places[i] == sampling::BackingGroup::Place{memory, false};
      };
      const auto& backings = space_.backings(e);
      if (is_inner && std::none_of(backings.begin(), backings.end(), has_place)) return false;
    }
  }
  return true;
}

/// Bits of a tensor that one Einsum makes, all of it in a memory.
double RunFusion::bits_of(TensorId tensor, ComponentId memory) const {
  const std::size_t e = space_.problem().roles.sole_maker(tensor)->index();
  const std::size_t t = *local_number(e, tensor);
  double bits = space_.problem()[EinsumId(e)].components[memory.index()].bits_per_value[t];
  for (std::size_t v = 0; v < space_.shape(e).sizes.size(); ++v)
    if (space_.shape(e).tensors[t].relevance[v] != Relevance::kIrrelevant)
      bits *= static_cast<double>(space_.shape(e).sizes[v]);
  return bits;
}

/// Written there and read, where the tensor has its first node in the outermost memory.
double RunFusion::passing_bits(TensorId tensor) const {
  const TensorRoles& roles = space_.problem().roles;
  if (!outermost_ || !roles.sole_maker(tensor)) return 0;
  return bits_of(tensor, *outermost_) * static_cast<double>(roles.users(tensor).size());
}

double RunFusion::bits_of(const Run& run, ComponentId memory) const {
  double bits = 0;
  for (const TensorId own : run.tensors) bits += bits_of(own, memory);
  return bits;
}

/// Below all steps of all common loops.
bool RunFusion::has_room(const Run& run, ComponentId memory) const {
  double steps = 1;
  for (const CommonLoop& loop : run.loops) steps *= static_cast<double>(loop.size);
  return bits_of(run, memory) / steps <=
         space_.problem()[EinsumId(run.first)].components[memory.index()].size_bits;
}

std::vector<RunFusion::CommonLoop> RunFusion::common_loops(const Run& run) const {
  // Numbers of variables, Einsum by Einsum, then of ranks, tensor by tensor.
  std::vector<std::size_t> first_variable;
  std::size_t size = 0;
  for (std::size_t e = run.first; e <= run.last; ++e) {
    first_variable.push_back(size);
    size += space_.shape(e).sizes.size();
  }
  std::vector<std::size_t> first_rank;
  for (const TensorId own : run.tensors) {
    first_rank.push_back(size);
    size += space_.problem().workload[own].ranks.size();
  }
  Classes classes(size);
  for (std::size_t e = run.first; e <= run.last; ++e)
    for (std::size_t k = 0; k < run.tensors.size(); ++k) {
      const auto t = local_number(e, run.tensors[k]);
      for (std::size_t v = 0; t && v < space_.shape(e).sizes.size(); ++v)
        if (const std::int32_t rank = space_.shape(e).shared_rank(*t, v, false); rank >= 0)
          classes.join(first_variable[e - run.first] + v,
                       first_rank[k] + static_cast<std::size_t>(rank));
    }
  std::vector<CommonLoop> loops;
  for (std::size_t v = 0; v < space_.shape(run.first).sizes.size(); ++v) {
    const std::size_t wanted = classes.of(v);
    CommonLoop loop{{}, space_.shape(run.first).sizes[v]};
    bool is_common = loop.size > 1;
    for (std::size_t e = run.first; e <= run.last && is_common; ++e) {
      std::size_t n = 0;
      for (std::size_t own = 0; own < space_.shape(e).sizes.size(); ++own) {
        if (classes.of(first_variable[e - run.first] + own) != wanted) continue;
        ++n;
        loop.variables.push_back(own);
      }
      is_common = n == 1 && space_.shape(e).sizes[loop.variables.back()] == loop.size;
      for (std::size_t k = 0; k < run.tensors.size() && is_common; ++k)
        if (const auto t = local_number(e, run.tensors[k])) {
          const auto is_shared = [&](bool spatial) {
            return space_.shape(e).shared_rank(*t, loop.variables.back(), spatial) >= 0;
          };
          is_common = is_shared(false);
          loop.may_spread = loop.may_spread && is_shared(true);
        }
    }
    if (is_common) loops.push_back(std::move(loop));
  }
  return loops;
}

/// How many uses of tensors that others use as well a loop indexes: outside of those that do not
/// index them, these stay for longer.
std::size_t RunFusion::n_indexed(const Run& run, const CommonLoop& loop) const {
  std::size_t n = 0;
  for (std::size_t e = run.first; e <= run.last; ++e)
    for (const fused::LocalTensor& tensor : space_.shape(e).tensors)
      if (std::find(run.tensors.begin(), run.tensors.end(), tensor.id) == run.tensors.end() &&
          tensor.relevance[loop.variables[e - run.first]] != Relevance::kIrrelevant)
        ++n;
  return n;
}

std::optional<RunFusion::SharedLoops> RunFusion::draw_loops(const Run& run, ComponentId memory,
                                                            RandomSource* random) const {
  constexpr double kAllOfIt = 0.7, kOneMore = 0.25, kIndexingFirst = 0.7;
  const BoundProblem& problem = space_.problem();
  SharedLoops result;
  std::vector<std::int64_t> steps(run.loops.size(), 1);  // in time
  std::vector<std::int64_t> left;                        // per common loop
  for (const CommonLoop& loop : run.loops) left.push_back(loop.size);
  std::vector<std::int64_t> n_loops(run.loops.size(), 0);
  const auto may_have_more = [&](std::size_t c) {
    return n_loops[c] < space_.options().max_fused_loops_per_rank;
  };
  const auto may_all_spread = [&](std::size_t c, ComponentId component, std::uint32_t d) {
    if (!run.loops[c].may_spread) return false;
    for (std::size_t e = run.first; e <= run.last; ++e) {
      const BoundEinsum& bound = problem[EinsumId(e)];
      const auto& spatial = bound.components[component.index()].spatial;
      if (d >= spatial.size() ||
          !may_spread(bound, spatial[d], run.loops[c].variables[e - run.first]))
        return false;
    }
    return true;
  };
  const BoundEinsum& first = problem[EinsumId(run.first)];
  std::vector<std::size_t> order(run.loops.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (const ComponentId component : first.computes.front().path) {
    if (component == memory) break;
    const auto& spatial = first.components[component.index()].spatial;
    for (std::uint32_t d = 0; d < spatial.size(); ++d) {
      std::int64_t room = spatial[d].fanout;
      random->shuffle(&order);
      for (const std::size_t c : order) {
        if (room < 2 || !may_have_more(c) || !may_all_spread(c, component, d)) continue;
        std::vector<std::int64_t> factors = divisors_of(left[c]);
        std::erase_if(factors, [&](std::int64_t factor) { return factor > room; });
        const std::int64_t trips =
            random->chance(kAllOfIt) ? factors.back() : random->pick(factors);
        if (trips == 1) continue;
        result.spatial.push_back({c, trips, {component, d}});
        left[c] /= trips;
        room /= trips;
        ++n_loops[c];
      }
    }
  }
  // In time: until what is exchanged has room.
  const double all_bits = bits_of(run, memory);
  const auto held_bits = [&] {
    double bits = all_bits;
    for (std::size_t c = 0; c < run.loops.size(); ++c)
      bits *= static_cast<double>(left[c]) / static_cast<double>(run.loops[c].size);
    return bits;
  };
  const double room =
      first.components[memory.index()].size_bits * (random->chance(0.5) ? 0.9 : random->unit());
  bool is_one_more = random->chance(kOneMore);
  while (true) {
    const double bits = held_bits();
    if (bits <= room && !is_one_more) break;
    if (bits <= room) is_one_more = false;
    std::vector<std::size_t> open;
    for (std::size_t c = 0; c < left.size(); ++c)
      if (left[c] > 1 && (steps[c] > 1 || may_have_more(c))) open.push_back(c);
    if (open.empty()) {
      if (bits > room) return std::nullopt;
      break;
    }
    const std::size_t c = random->pick(open);
    const std::int64_t prime = random->pick(primes_of(left[c]));
    if (steps[c] == 1) ++n_loops[c];
    steps[c] *= prime;
    left[c] /= prime;
  }
  random->shuffle(&order);
  if (random->chance(kIndexingFirst))
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return n_indexed(run, run.loops[a]) > n_indexed(run, run.loops[b]);
    });
  for (const std::size_t c : order)
    if (steps[c] > 1) result.temporal.push_back({c, steps[c]});
  return result;
}

Exchange RunFusion::exchange_of(const Run& run, std::size_t e, ComponentId memory,
                                const SharedLoops& loops, Exchange exchange) const {
  const auto variable = [&](std::size_t c) { return run.loops[c].variables[e - run.first]; };
  for (const SharedLoops::Spatial& own : loops.spatial)
    exchange.outermost.emplace_back(ChainLoop{variable(own.loop), own.trips, own.dimension});
  for (const SharedLoops::Temporal& own : loops.temporal)
    exchange.outermost.emplace_back(ChainLoop{variable(own.loop), own.trips});
  for (const TensorId own : run.tensors) {
    if (!local_number(e, own)) continue;
    exchange.backings.emplace_back(own, memory);
    exchange.outermost.emplace_back(ChainNode{own, memory});
  }
  return exchange;
}

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
      if (std::find(run.tensors.begin(), run.tensors.end(), tensor) != run.tensors.end()) continue;
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
    if ((e < run.first || run.last < e) && of_run.contains(ties.class_of(e))) result.push_back(e);
  return result;
}

/// How many bits less pass the outermost memory if a run is fused, but for what others give up.
double RunFusion::saves(const Run& run, const Ties& ties) const {
  double bits = 0;
  for (const TensorId own : run.tensors)
    if (!ties.is_inner(own)) bits += passing_bits(own);
  return bits;
}

/// One of those that save something, those that save most more often, or any.
const RunFusion::Run& RunFusion::pick_run(const Ties& ties, RandomSource* random) const {
  constexpr double kAny = 0.5;
  if (random->chance(kAny)) return random->pick(runs_);
  std::vector<double> up_to;
  double sum = 0;
  for (const Run& run : runs_) up_to.push_back(sum += saves(run, ties));
  if (sum == 0) return random->pick(runs_);
  const auto at = std::upper_bound(up_to.begin(), up_to.end(), random->unit() * sum);
  return runs_[std::min(static_cast<std::size_t>(at - up_to.begin()), runs_.size() - 1)];
}

/// Whether nothing like it was drawn before; some are drawn again, as all else changes.
bool RunFusion::is_new(const Run& run, ComponentId memory, const SharedLoops& loops,
                       RandomSource* random) {
  constexpr double kAgain = 0.1;
  std::vector<std::int64_t> key = {static_cast<std::int64_t>(run.first),
                                   static_cast<std::int64_t>(run.last),
                                   static_cast<std::int64_t>(memory.index())};
  for (const SharedLoops::Spatial& own : loops.spatial)
    key.insert(key.end(),
               {static_cast<std::int64_t>(own.loop), own.trips,
                static_cast<std::int64_t>(own.dimension.first.index()), own.dimension.second});
  key.push_back(-1);
  for (const SharedLoops::Temporal& own : loops.temporal)
    key.insert(key.end(), {static_cast<std::int64_t>(own.loop), own.trips});
  return drawn_.insert(std::move(key)).second || random->chance(kAgain);
}

std::optional<Genome> RunFusion::draw(const Genome& now, const CostTotals& whole,
                                      RandomSource* random) {
  if (runs_.empty()) return std::nullopt;
  const Ties ties(space_.problem(), outermost_, now);
  const Run& run = pick_run(ties, random);
  const std::vector<std::size_t> tied = tied_to(run, ties);
  if (run.last - run.first + 1 + tied.size() > kLongest) return std::nullopt;
  const ComponentId memory = random->pick(run.memories);
  const auto loops = draw_loops(run, memory, random);
  if (!loops || !is_new(run, memory, *loops, random)) return std::nullopt;
  Exchanges exchanges;
  for (std::size_t e = run.first; e <= run.last; ++e)
    exchanges.emplace_back(e, exchange_of(run, e, memory, *loops, ties.stays(e, run)));
  const std::size_t n_run = exchanges.size();
  for (const std::size_t e : tied) exchanges.emplace_back(e, ties.stays(e, run));
  // What all of them hold at the same time has to fit.
  for (int halvings = 0; halvings <= sampling::kMostHalvings; ++halvings) {
    for (std::size_t i = 0; i < n_run; ++i) exchanges[i].second.halvings = halvings;
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
