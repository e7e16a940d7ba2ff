#include "chain_start.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "chain_choice.h"
#include "mapper/common/part_of_problem.h"
#include "mapper/request/constrained_problem.h"
#include "mapper/request/constraint_check.h"
#include "model/bind/operand_costs.h"
#include "sluice/model/cost_bounds.h"
#include "sluice/model/einsum_chains.h"
#include "sluice/model/keep_rules.h"

namespace sluice::chains {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

/// What a part's energy and latency are worth beside those of the whole, to first order.
class Worth {
 public:
  Worth(Objective objective, const CostTotals& whole) {
    // A little of the other one, so that of equals it is the better one.
    constexpr double kLittle = 1e-6;
    per_j_ = whole.latency_s;
    per_s_ = whole.energy_j;
    if (objective == Objective::kEnergy) per_s_ *= kLittle;
    if (objective == Objective::kLatency) per_j_ *= kLittle;
  }
  double operator()(double energy_j, double seconds) const {
    return per_j_ * energy_j + per_s_ * seconds;
  }

 private:
  double per_j_, per_s_;
};

/// An Einsum by itself, all of whose tensors the outermost memory holds, as far as it may. A double
/// buffer has half of its room: chains do not know of the other half.
BoundProblem plain_problem(const BoundProblem& problem, EinsumId einsum) {
  BoundProblem one = one_as_bound(problem, einsum);
  BoundEinsum& bound = one.einsums.front();
  for (const BoundCompute& compute : bound.computes) {
    const auto outermost = std::find_if(
        compute.path.begin(), compute.path.end(), [&](ComponentId component) {
          return one.arch[component].is_memory() && bound.components[component.index()].enabled;
        });
    if (outermost == compute.path.end()) continue;
    const BoundComponent& own = bound.components[outermost->index()];
    TensorMask asked = 0;
    for (std::size_t t = 0; t < bound.tensors.size(); ++t)
      if (hold_of(one, EinsumId(0), *outermost, bound.tensors[t]).may) asked |= TensorMask{1} << t;
    bound.components[outermost->index()].asked = own.asked | asked;
  }
  for (std::size_t c = 0; c < bound.components.size(); ++c)
    if (const Component& own = one.arch[ComponentId(c)];
        own.is_memory() && std::get<Memory>(own.kind).buffering == Buffering::kDouble)
      bound.components[c].size_bits /= 2;
  return one;
}

}  // namespace

struct ChainStart::Part {
  Part(const BoundProblem& whole, EinsumId id)
      : einsum(id),
        problem(plain_problem(whole, id)),
        chains(problem, EinsumId(0)),
        traffic(outer_traffic_bounds(problem)),
        tried(chains.spreads().size(), 0) {}

  CostTotals least(std::size_t spread) const {
    const SpreadBound& bound = chains.spreads()[spread];
    CostTotals totals;
    totals.energy_j = bound.energy_j + traffic.energy_floor_j;
    totals.latency_s = std::max(bound.seconds, traffic.memory_s);
    return totals;
  }

  EinsumId einsum;  ///< the first one
  double count = 0;
  BoundProblem problem;
  EinsumChains chains;
  CostBounds traffic;
  std::vector<char> tried;  ///< per spread
  std::optional<PricedChoice> best;
};

ChainStart::ChainStart(const BoundProblem& problem, const MapperOptions& options,
                       const std::atomic<bool>* cancel)
    : problem_(problem), options_(options), cancel_(cancel) {}

ChainStart::~ChainStart() = default;

void ChainStart::add_parts(const sampling::MapSpace& space) {
  const BoundProblem bounded = constrained(problem_, options_.constraints);
  std::vector<std::pair<std::uint32_t, std::size_t>> known;  // list, part
  for (std::size_t e = 0; e < space.n_einsums(); ++e) {
    const std::uint32_t list = space.list_of(e);
    auto at = std::find_if(known.begin(), known.end(),
                           [&](const auto& own) { return own.first == list; });
    if (at == known.end() || !options_.constraints.tiles.empty()) {
      at = known.insert(known.end(), {list, parts_.size()});
      parts_.push_back(std::make_unique<Part>(bounded, EinsumId(e)));
    }
    part_of_.push_back(at->second);
    parts_[at->second]->count += 1;
  }
}

/// Where energy and time are what the spreads say at least, each Einsum the better of the two by
/// what the others cost.
CostTotals ChainStart::least_totals() const {
  constexpr int kRounds = 3;
  CostTotals whole;
  whole.energy_j = whole.latency_s = 1;
  for (int round = 0; round < kRounds; ++round) {
    const Worth worth(options_.objectives.front(), whole);
    CostTotals sum;
    for (const auto& part : parts_) {
      std::optional<CostTotals> best;
      for (std::size_t s = 0; s < part->tried.size(); ++s) {
        const CostTotals own = part->least(s);
        if (!best || worth(own.energy_j, own.latency_s) < worth(best->energy_j, best->latency_s))
          best = own;
      }
      if (!best) continue;
      sum.energy_j += part->count * best->energy_j;
      sum.latency_s += part->count * best->latency_s;
    }
    whole = sum;
  }
  return whole;
}

bool ChainStart::search(std::size_t most_ways, bool goes_on, const CostTotals* known,
                        sampling::MapSpace* space, sampling::FanoutUse* use) {
  if (part_of_.empty()) add_parts(*space);
  const Worth worth(options_.objectives.front(), known != nullptr ? *known : least_totals());
  const EinsumChains::Price price = [&](double energy_j, double seconds) {
    return worth(energy_j, seconds);
  };
  bool has_all = true;
  for (const auto& part : parts_) {
    double least = kUnknown;
    const auto take = [&](std::optional<PricedChoice> found) {
      if (!found) return;
      const double own = price(found->totals.energy_j, found->totals.latency_s);
      if (!(own < least)) return;
      least = own;
      part->best = std::move(found);
    };
    take(part->best);
    for (std::size_t n = 0; n < most_ways && !is_cancelled(cancel_); ++n) {
      if (part->best && !goes_on) break;
      std::optional<std::size_t> next;
      double lowest = least;
      for (std::size_t s = 0; s < part->tried.size(); ++s) {
        if (part->tried[s] != 0) continue;
        const CostTotals own = part->least(s);
        if (const double at_least = price(own.energy_j, own.latency_s); at_least < lowest) {
          lowest = at_least;
          next = s;
        }
      }
      if (!next) break;
      part->tried[*next] = 1;
      if (const auto chain = part->chains.good_chain(*next, price, cancel_))
        take(choice_of(*chain, part->einsum.index(), price, space, use));
    }
    has_all = has_all && part->best.has_value();
  }
  return has_all;
}

std::optional<sampling::Genome> ChainStart::genome(const sampling::MapSpace& space,
                                                   const sampling::Genome* others) const {
  sampling::Genome whole;
  for (std::size_t e = 0; e < part_of_.size(); ++e) {
    const auto& best = parts_[part_of_[e]]->best;
    if (best && space.is_choice(e, best->choice->templ, best->choice->trips))
      whole.push_back(space.make_choice(e, best->choice->templ, best->choice->trips));
    else if (others != nullptr)
      whole.push_back((*others)[e]);
    else
      return std::nullopt;
  }
  if (whole.empty() || !space.joins(whole)) return std::nullopt;
  const Mapping mapping = space.build(whole);
  if (!keep_violations(problem_, mapping).empty() ||
      !constraint_violations(options_.constraints, problem_, mapping).empty())
    return std::nullopt;
  return whole;
}

}  // namespace sluice::chains
