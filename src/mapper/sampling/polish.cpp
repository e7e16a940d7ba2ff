#include "polish.h"

#include <algorithm>

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
    for (int tries = kFirstTries; !now_.empty(); tries *= 2)
      for (const std::size_t e : by_share()) {
        if (run_.record().over() || progress() >= 1) return;
        improve(e, tries, progress);
      }
  }

 private:
  double objective(double energy, double latency) const {
    return objective_value(space_.options().objectives.front(), energy, latency);
  }

  /// One Einsum of those that are alike, the most expensive ones first.
  std::vector<std::size_t> by_share() const {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t e = 0; e < now_.size(); ++e) {
      const std::vector<std::size_t> alike = alike_to(e);
      if (alike.front() != e) continue;
      const auto own = space_.price_alone(e, *now_[e]);
      if (!own) continue;
      const auto n = static_cast<double>(alike.size());
      const double others =
          objective(totals_.energy_j - n * own->energy_j, totals_.latency_s - n * own->latency_s);
      order.emplace_back(others, e);
    }
    std::sort(order.begin(), order.end());
    std::vector<std::size_t> result;
    for (const auto& [others, e] : order) result.push_back(e);
    return result;
  }

  std::vector<std::size_t> alike_to(std::size_t e) const {
    std::vector<std::size_t> result;
    for (std::size_t other = 0; other < now_.size(); ++other)
      if (space_.list_of(other) == space_.list_of(e) && now_[other]->templ == now_[e]->templ &&
          now_[other]->trips == now_[e]->trips)
        result.push_back(other);
    return result;
  }

  ChoicePtr neighbour(std::size_t e, const EinsumChoice& choice) {
    const double kind = drawer_.random().unit();
    if (kind < 0.6) return shift_factor(e, choice, space_, &run_.use(), &drawer_.random());
    return kind < 0.8 ? drawer_.redraw_unfused(e, choice) : drawer_.redraw_alike(e, choice);
  }

  void improve(std::size_t e, int tries, const Progress& progress) {
    const std::vector<std::size_t> alike = alike_to(e);
    const auto n = static_cast<double>(alike.size());
    const auto own = space_.price_alone(e, *now_[e]);
    if (!own) return;
    const Acceptance accept = annealing();
    ChoicePtr choice = now_[e], best;
    const double others =
        objective(totals_.energy_j - n * own->energy_j, totals_.latency_s - n * own->latency_s);
    double share = objective(totals_.energy_j, totals_.latency_s) - others, least = share;
    for (int i = 0; i < tries && !run_.record().cancelled() && progress() < 1; ++i) {
      ChoicePtr next = neighbour(e, *choice);
      if (!next) continue;
      const auto price = space_.price_alone(e, *next);
      if (!price) continue;
      const double value = objective(totals_.energy_j + n * (price->energy_j - own->energy_j),
                                     totals_.latency_s + n * (price->latency_s - own->latency_s)) -
                           others;
      if (!accept(share, value, static_cast<double>(i) / tries, drawer_.random())) continue;
      choice = std::move(next);
      share = value;
      if (share < least) {
        least = share;
        best = choice;
      }
    }
    if (best && !take(alike, *best) && alike.size() > 1) take({e}, *best);
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
