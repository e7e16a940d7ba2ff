#include "polish.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "chains.h"
#include "moves.h"
#include "sluice/mapper/objective_value.h"

namespace sluice::sampling {
namespace {

constexpr int kFirstTries = 32;  ///< neighbours of each Einsum; twice as many in each later pass

class Polish {
 public:
  Polish(SamplingRun* run, const std::vector<Genome>& starts)
      : run_(*run), space_(run->space()), drawer_(run->drawer()) {
    for (const Genome& start : starts) {
      const auto totals = space_.price(start);
      if (!totals) continue;
      now_ = start;
      totals_ = *totals;
      break;
    }
  }

  void run(const Progress& progress) {
    const auto over = [&] { return run_.record().over() || progress() >= 1; };
    for (int tries = kFirstTries; !now_.empty() && !over(); tries *= 2)
      for (const Alike& alike : by_share()) {
        if (over()) return;
        improve(alike, tries, progress);
      }
  }

 private:
  /// Einsums of one list with the same choice, and the price of one of them alone.
  struct Alike {
    std::vector<std::size_t> einsums;
    CostTotals own;
  };

  double objective(double energy, double latency) const {
    return objective_value(space_.options().objectives.front(), energy, latency);
  }

  double without(const Alike& alike) const {
    const auto n = static_cast<double>(alike.einsums.size());
    return objective(totals_.energy_j - n * alike.own.energy_j,
                     totals_.latency_s - n * alike.own.latency_s);
  }

  /// All Einsums that can be priced alone, the most expensive ones first.
  std::vector<Alike> by_share() const {
    std::map<std::tuple<std::uint32_t, std::uint32_t, Trips>, std::vector<std::size_t>> groups;
    for (std::size_t e = 0; e < now_.size(); ++e)
      groups[{space_.list_of(e), now_[e]->templ, now_[e]->trips}].push_back(e);
    std::vector<Alike> result;
    for (auto& [choice, einsums] : groups)
      if (auto own = space_.price_alone(einsums.front(), *now_[einsums.front()]))
        result.push_back({std::move(einsums), *std::move(own)});
    std::sort(result.begin(), result.end(), [&](const Alike& a, const Alike& b) {
      return std::tuple(without(a), a.einsums.front()) < std::tuple(without(b), b.einsums.front());
    });
    return result;
  }

  ChoicePtr neighbour(std::size_t e, const EinsumChoice& choice) {
    const double kind = drawer_.random().unit();
    if (kind < 0.6) return shift_factor(e, choice, space_, &run_.use(), &drawer_.random());
    return kind < 0.8 ? drawer_.redraw_unfused(e, choice) : drawer_.redraw_alike(e, choice);
  }

  void improve(const Alike& alike, int tries, const Progress& progress) {
    const std::size_t e = alike.einsums.front();
    const auto n = static_cast<double>(alike.einsums.size());
    const CostTotals& own = alike.own;
    const Acceptance accept = annealing();
    ChoicePtr choice = now_[e], best;
    const double others = without(alike);
    double share = objective(totals_.energy_j, totals_.latency_s) - others, least = share;
    for (int i = 0; i < tries && !run_.record().cancelled() && progress() < 1; ++i) {
      ChoicePtr next = neighbour(e, *choice);
      if (!next) continue;
      const auto price = space_.price_alone(e, *next);
      if (!price) continue;
      const double value = objective(totals_.energy_j + n * (price->energy_j - own.energy_j),
                                     totals_.latency_s + n * (price->latency_s - own.latency_s)) -
                           others;
      if (!accept(share, value, static_cast<double>(i) / tries, drawer_.random())) continue;
      choice = std::move(next);
      share = value;
      if (share < least) {
        least = share;
        best = choice;
      }
    }
    if (best && !take(alike.einsums, *best) && alike.einsums.size() > 1) take({e}, *best);
  }

  /// Gives some Einsums a choice, if the whole is better with it.
  bool take(const std::vector<std::size_t>& einsums, const EinsumChoice& choice) {
    Genome changed = now_;
    for (const std::size_t e : einsums) {
      if (!space_.keeps_limits(e, choice.templ, choice.trips)) return false;
      changed[e] = space_.make_choice(e, choice.templ, choice.trips);
    }
    const auto totals = space_.price(changed);
    run_.record().add(changed, totals);
    if (!totals || objective(totals->energy_j, totals->latency_s) >=
                       objective(totals_.energy_j, totals_.latency_s))
      return false;
    now_ = std::move(changed);
    totals_ = *totals;
    return true;
  }

  SamplingRun& run_;
  const MapSpace& space_;
  Drawer drawer_;
  Genome now_;
  CostTotals totals_;
};

}  // namespace

void polish(SamplingRun* run, const Progress& progress, const std::vector<Genome>& starts) {
  Polish(run, starts).run(progress);
}

}  // namespace sluice::sampling
