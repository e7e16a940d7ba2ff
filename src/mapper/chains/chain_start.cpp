#include "chain_start.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "einsum_search.h"
#include "mapper/request/constrained_problem.h"
#include "mapper/request/constraint_check.h"
#include "sluice/model/keep_rules.h"
#include "support/seconds_since.h"
#include "worth_while.h"

namespace sluice::chains {

struct ChainStart::Part {
  Part(const BoundProblem& bounded, EinsumId einsum) : search(bounded, einsum, {}, {}) {}

  EinsumSearch search;
  double count = 0;
  double seconds = 0;   ///< that improve() took
  bool is_open = true;  ///< other ways may be better
};

ChainStart::ChainStart(const BoundProblem& problem, const MapperOptions& options,
                       const std::atomic<bool>* cancel)
    : problem_(problem), options_(options), cancel_(cancel) {}

ChainStart::~ChainStart() = default;

void ChainStart::add_parts(const sampling::MapSpace& space) {
  const BoundProblem bounded = constrained_as_held(problem_, options_.constraints);
  const bool are_alike = options_.constraints.tiles.empty();
  std::vector<std::pair<std::uint32_t, std::size_t>> known;  // list, part
  for (std::size_t e = 0; e < space.n_einsums(); ++e) {
    const std::uint32_t list = space.list_of(e);
    auto at = std::find_if(known.begin(), known.end(),
                           [&](const auto& own) { return are_alike && own.first == list; });
    if (at == known.end()) {
      at = known.insert(known.end(), {list, parts_.size()});
      parts_.push_back(std::make_unique<Part>(bounded, EinsumId(e)));
    }
    part_of_.push_back(at->second);
    parts_[at->second]->count += 1;
  }
}

/// Where energy and time are what the ways to spread points say at least, each Einsum the better of
/// the two by what the others cost.
CostTotals ChainStart::least_totals() const {
  constexpr int kRounds = 3;
  CostTotals whole;
  whole.energy_j = whole.latency_s = 1;
  for (int round = 0; round < kRounds; ++round) {
    const EinsumChains::Worth price = worth(options_.objectives.front(), whole);
    CostTotals sum;
    for (const auto& part : parts_) {
      std::optional<CostTotals> best;
      for (std::size_t w = 0; w < part->search.n_ways(); ++w) {
        const CostTotals own = part->search.least(w);
        if (!best || price(own.energy_j, own.latency_s) < price(best->energy_j, best->latency_s))
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

bool ChainStart::search(std::size_t most_ways, const CostTotals* known, sampling::MapSpace* space,
                        sampling::FanoutUse* use) {
  if (part_of_.empty()) add_parts(*space);
  const EinsumChains::Worth price =
      worth(options_.objectives.front(), known != nullptr ? *known : least_totals());
  bool has_all = true;
  for (const auto& part : parts_) {
    part->search.search(most_ways, false, price, nullptr, space, use, cancel_);
    has_all = has_all && part->search.best().has_value();
  }
  return has_all;
}

bool ChainStart::improve(double seconds, const CostTotals& known, sampling::MapSpace* space,
                         sampling::FanoutUse* use) {
  constexpr std::size_t kWays = 2;
  using Clock = std::chrono::steady_clock;
  const EinsumChains::Worth price = worth(options_.objectives.front(), known);
  const double whole = price(known.energy_j, known.latency_s);
  const auto cost_of = [&](const Part& part) {
    const CostTotals& own = part.search.best()->totals;
    return price(own.energy_j, own.latency_s);
  };
  const auto turn = [&](const Part& part) {
    return turn_of(part.seconds, part.count * cost_of(part) / whole, parts_.size());
  };
  bool is_better = false;
  WorthWhile worth_while(seconds);
  while (worth_while.goes_on() && !is_cancelled(cancel_)) {
    Part* next = nullptr;
    for (const auto& part : parts_)
      if (part->is_open && part->search.best() && (!next || turn(*part) < turn(*next)))
        next = part.get();
    if (next == nullptr) break;
    const double before = cost_of(*next);
    const Clock::time_point start = Clock::now();
    const sampling::ChoicePtr like = next->search.best()->choice;  // joins the others
    next->is_open =
        next->search.search(kWays, true, price, &like->compatibility, space, use, cancel_);
    next->seconds += seconds_since(start);
    is_better = is_better || cost_of(*next) < before;
    worth_while.gain(next->count * (before - cost_of(*next)) / whole);
  }
  return is_better;
}

void ChainStart::move(const sampling::MapSpace& from, sampling::MapSpace* to) {
  for (const auto& part : parts_) part->search.move(from, to);
}

std::optional<sampling::Genome> ChainStart::genome(const sampling::MapSpace& space,
                                                   const sampling::Genome* others) const {
  sampling::Genome whole;
  for (std::size_t e = 0; e < part_of_.size(); ++e) {
    const auto& best = parts_[part_of_[e]]->search.best();
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
