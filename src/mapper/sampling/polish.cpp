#include "polish.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "chains.h"
#include "moves.h"
#include "quick_prices.h"
#include "shape_walk.h"
#include "sluice/mapper/objective_value.h"

namespace sluice::sampling {
namespace {

using fused::Spine;

constexpr double kWarm = 0.1;  ///< of a step from a choice that is good already
constexpr int kStepsOfShapes = 100;
constexpr int kTriesPerWalk = 4;  ///< that take as long as so many steps
constexpr double kNear = 1.3;     ///< times the cost of the best mapping: may become better
constexpr double kNearer = 1.1;   ///< where few tries make an Einsum good

/// Einsums of one list with the same choice, and the price of one of them alone.
struct Alike {
  std::vector<std::size_t> einsums;
  CostTotals own;
};

/// A choice for an Einsum, and its price alone.
struct Priced {
  ChoicePtr choice;
  CostTotals own;
};

/// An Einsum that uses a shared tensor, and which of its shared tensors that is.
struct Use {
  std::size_t einsum = 0, shared = 0;
};

class Polish {
 public:
  Polish(SamplingRun* run, const std::vector<Genome>& starts, const Advice& advice)
      : run_(*run),
        space_(run->space()),
        improve_(advice.improve),
        fuse_(advice.fuse),
        drawer_(run->drawer()),
        prices_(space_),
        shapes_(space_, &run->use(), &drawer_.random()) {
    for (const Genome& start : starts) {
      const auto totals = space_.price(start);
      if (!totals) continue;
      now_ = start;
      totals_ = *totals;
      break;
    }
    std::map<std::size_t, std::size_t> number_of;  // tensors in the order of their first use
    for (std::size_t e = 0; e < space_.n_einsums(); ++e)
      for (std::size_t i = 0; i < space_.shared_tensors(e).size(); ++i) {
        const TensorId tensor = space_.shape(e).tensors[space_.shared_tensors(e)[i]].id;
        const std::size_t number = number_of.emplace(tensor.index(), uses_.size()).first->second;
        if (number == uses_.size()) uses_.emplace_back();
        uses_[number].push_back({e, i});
      }
  }

  const Genome& now() const { return now_; }

  int run(const Progress& progress, int tries) {
    constexpr int kMostTries = 1 << 20;
    const auto over = [&] { return run_.record().over() || progress() >= 1; };
    if (now_.empty()) return tries;
    make_alike();
    constexpr int kMoves = 8;  // where few tries make an Einsum good
    fuse(tries / 4, progress);
    if (improve_)
      for (const Alike& alike : by_share())
        if (!over()) improve(alike, kTriesPerWalk, progress);
    fuse(tries / 4, progress);
    for (; !over(); tries = std::min(2 * tries, kMostTries)) {
      for (int i = 0; i < (improve_ ? kMoves : 1); ++i)
        for (const std::vector<Use>& uses : uses_) {
          if (over()) return tries;
          move(uses, tries / 4, progress);
        }
      fuse(tries / 4, progress);
      for (const Alike& alike : by_share()) {
        if (over()) return tries;
        improve(alike, tries, progress);
      }
      for (std::size_t i = 0; i < now_.size(); ++i) {
        if (over()) return tries;
        rescale(i, tries / 4, progress);
      }
      for (const Alike& alike : by_share()) {
        if (over()) return tries;
        exchange(drawer_.random().pick(alike.einsums), tries, progress);
      }
    }
    return tries;
  }

 private:
  double objective(const CostTotals& totals) const {
    return objective_value(space_.options().objectives.front(), totals.energy_j, totals.latency_s);
  }

  static CostTotals with(const CostTotals& totals, double n, const CostTotals& part) {
    CostTotals sum;
    sum.energy_j = totals.energy_j + n * part.energy_j;
    sum.latency_s = totals.latency_s + n * part.latency_s;
    return sum;
  }

  double without(const Alike& alike) const {
    return objective(with(totals_, -static_cast<double>(alike.einsums.size()), alike.own));
  }

  /// Of an Einsum alone; nothing where its choice is illegal.
  std::optional<CostTotals> price_of(std::size_t e, const EinsumChoice& choice) {
    fused::TemplatePrice* const known = prices_.are_exact() ? prices_.of(e, choice.templ) : nullptr;
    if (known) {
      const auto price = known->of(choice.trips);
      if (!price) return std::nullopt;
      return totals_of(*price);
    }
    return space_.price_alone(e, choice);
  }

  /// All Einsums that can be priced alone, the most expensive ones first.
  std::vector<Alike> by_share() {
    std::map<std::tuple<std::uint32_t, std::uint32_t, Trips>, std::vector<std::size_t>> groups;
    for (std::size_t e = 0; e < now_.size(); ++e)
      groups[{space_.list_of(e), now_[e]->templ, now_[e]->trips}].push_back(e);
    std::vector<Alike> result;
    for (auto& [choice, einsums] : groups)
      if (auto own = price_of(einsums.front(), *now_[einsums.front()]))
        result.push_back({std::move(einsums), *std::move(own)});
    std::sort(result.begin(), result.end(), [&](const Alike& a, const Alike& b) {
      return std::tuple(without(a), a.einsums.front()) < std::tuple(without(b), b.einsums.front());
    });
    return result;
  }

  /// Einsums of one list take the best choice of any of them, if the whole is better with it.
  void make_alike() {
    std::map<std::uint32_t, std::vector<std::size_t>> lists;
    for (std::size_t e = 0; e < now_.size(); ++e) lists[space_.list_of(e)].push_back(e);
    std::map<std::uint32_t, Priced> best;
    for (const Alike& alike : by_share()) {
      Priced& known = best[space_.list_of(alike.einsums.front())];
      if (!known.choice || objective(alike.own) < objective(known.own))
        known = {now_[alike.einsums.front()], alike.own};
    }
    for (const auto& [list, known] : best)
      if (lists[list].size() > 1) take(lists[list], *known.choice);
  }

  /// A choice with its price; nothing where it has none.
  std::optional<Priced> priced(std::size_t e, ChoicePtr choice) {
    if (!choice) return std::nullopt;
    auto own = price_of(e, *choice);
    if (!own) return std::nullopt;
    return Priced{std::move(choice), *std::move(own)};
  }

  std::optional<Priced> neighbour(std::size_t e, const EinsumChoice& choice) {
    const double kind = drawer_.random().unit();
    if (kind < 0.6)
      return priced(e, shift_factor(e, choice, space_, &run_.use(), &drawer_.random()));
    return priced(e,
                  kind < 0.8 ? drawer_.redraw_unfused(e, choice) : drawer_.redraw_alike(e, choice));
  }

  /// The same, where shapes of one template have a quick price: a good shape of its template.
  std::optional<Priced> good_neighbour(std::size_t e, const Priced& now, const Share& share_of) {
    constexpr double kHot = 0.3;
    const double kind = drawer_.random().unit();
    if (kind < 0.4) return walked(e, now, share_of, kHot);
    auto next = priced(e, kind < 0.6 ? drawer_.redraw_unfused(e, *now.choice)
                                     : drawer_.redraw_alike(e, *now.choice));
    if (next) next = walked(e, *std::move(next), share_of, kWarm);
    return next;
  }

  Priced walked(std::size_t e, Priced from, const Share& share_of, double heat) {
    auto [choice, own] = shapes_.best(e, *from.choice, prices_.of(e, from.choice->templ), share_of,
                                      kStepsOfShapes, heat);
    if (choice && !prices_.are_exact()) {
      auto whole = space_.price_alone(e, *choice);
      if (!whole) return from;
      own = *std::move(whole);
    }
    return choice ? Priced{std::move(choice), std::move(own)} : from;
  }

  /// What improve() knows, if it is better and fits beside the others of `all`.
  Priced improved(std::size_t e, Priced now, const Share& share_of, const CostTotals& others,
                  double n, const Genome& all) {
    if (!improve_) return now;
    Genome changed = all;
    for (int halvings = 0; halvings <= kMostHalvings; ++halvings) {
      const ChoicePtr other = improve_(e, *now.choice, with(others, n, now.own), halvings);
      if (!other) return now;
      const auto own = price_of(e, *other);
      if (!own || share_of(*own) >= share_of(now.own)) return now;
      changed[e] = other;
      if (space_.price(changed)) return Priced{other, *own};
    }
    return now;
  }

  /// The best that annealing finds for `n` equal Einsums of a mapping, from one choice on, beside
  /// what all others cost.
  Priced anneal(std::size_t e, Priced now, double n, const CostTotals& others, const Genome& all,
                int tries, const Progress& progress) {
    const Acceptance accept = annealing(kWarm);
    const double base = objective(others);
    const Share share_of = [&](const CostTotals& own) {
      return objective(with(others, n, own)) - base;
    };
    now = improved(e, std::move(now), share_of, others, n, all);
    const bool is_quick = prices_.of(e, now.choice->templ) != nullptr;
    if (is_quick) now = walked(e, std::move(now), share_of, kWarm);
    Priced best = now;
    double share = share_of(now.own), least = share;
    const int step = is_quick ? kTriesPerWalk : 1;
    for (int i = is_quick ? step : 0; i < tries && !run_.record().cancelled() && progress() < 1;
         i += step) {
      auto next = is_quick ? good_neighbour(e, now, share_of) : neighbour(e, *now.choice);
      if (!next) continue;
      const double value = share_of(next->own);
      if (!accept(share, value, static_cast<double>(i) / tries, drawer_.random())) continue;
      now = *std::move(next);
      share = value;
      if (share >= least) continue;
      least = share;
      best = now;
    }
    return best;
  }

  void improve(const Alike& alike, int tries, const Progress& progress) {
    const std::size_t e = alike.einsums.front();
    const auto n = static_cast<double>(alike.einsums.size());
    const Priced best =
        anneal(e, {now_[e], alike.own}, n, with(totals_, -n, alike.own), now_, tries, progress);
    if (best.choice != now_[e] && !take(alike.einsums, *best.choice) && n > 1)
      take({e}, *best.choice);
  }

  /// Draws an Einsum anew, with all that then exchange tensors otherwise, and anneals these.
  void exchange(std::size_t first, int tries, const Progress& progress) {
    Spine joined;
    Genome changed = now_;
    changed[first] = drawer_.draw(before(first), first, &joined);
    if (!changed[first] || !drawer_.mend(&changed, first + 1)) return;
    settle(std::move(changed), tries, progress);
  }

  /// Other exchanges of neighbours, for as long as some of them help.
  void fuse(int tries, const Progress& progress) {
    constexpr int kDraws = 16;  // in vain, of which half come to nothing, soon
    for (int left = kDraws; fuse_ && left > 0 && !run_.record().over() && progress() < 1; --left) {
      auto changed = fuse_(now_, totals_, &drawer_.random());
      if (changed && settle(*std::move(changed), tries, progress, now_.size())) left = kDraws;
    }
  }

  /// Another trip count of a loop that Einsums share: these are annealed.
  void rescale(std::size_t e, int tries, const Progress& progress) {
    if (auto changed = rescale_shared(now_, e, space_, &run_.use(), &drawer_))
      settle(*std::move(changed), tries, progress);
  }

  static std::vector<std::size_t> differing(const Genome& a, const Genome& b) {
    std::vector<std::size_t> einsums;
    for (std::size_t e = 0; e < a.size(); ++e)
      if (a[e] != b[e]) einsums.push_back(e);
    return einsums;
  }

  /// Tries a shared tensor in another memory: all that use it change, and are annealed.
  void move(const std::vector<Use>& uses, int tries, const Progress& progress) {
    const auto [first, shared] = uses.front();
    const BackingGroup* now = space_.backing_of(first, now_[first]->templ);
    if (now == nullptr) return;
    std::vector<BackingGroup::Place> places;
    for (const BackingGroup& group : space_.backings(first)) {
      const BackingGroup::Place place = group.places[shared];
      if (place == now->places[shared] || place.persistent != now->places[shared].persistent ||
          std::find(places.begin(), places.end(), place) != places.end())
        continue;
      places.push_back(place);
    }
    if (places.empty()) return;
    const BackingGroup::Place place = drawer_.random().pick(places);
    move_to(place, uses, tries, progress);
    fuse_in(place, uses, tries, progress);
  }

  /// The same below other loops: all that use the tensor are drawn anew, and what stands in between
  /// where it no longer joins.
  void fuse_in(BackingGroup::Place place, const std::vector<Use>& uses, int tries,
               const Progress& progress) {
    Genome changed = now_;
    Spine spine = before(uses.front().einsum);
    for (std::size_t e = uses.front().einsum; e <= uses.back().einsum; ++e) {
      const auto use =
          std::find_if(uses.begin(), uses.end(), [&](const Use& own) { return own.einsum == e; });
      if (use == uses.end())
        if (auto joined = space_.join(spine, e, *changed[e])) {
          spine = std::move(*joined);
          continue;
        }
      const std::uint32_t templ = now_[e]->templ;
      const BackingGroup* group = use == uses.end()
                                      ? space_.backing_of(e, templ)
                                      : space_.moved_backing(e, templ, use->shared, place);
      Spine joined;
      if (group != nullptr) changed[e] = drawer_.draw(spine, e, &joined, group);
      if (group == nullptr || !changed[e]) return;
      spine = std::move(joined);
    }
    if (!space_.joins(changed)) return;
    settle(std::move(changed), tries, progress);
  }

  Spine before(std::size_t first) const {
    Spine prefix;
    for (std::size_t e = 0; e < first; ++e) prefix = *space_.join(prefix, e, *now_[e]);
    return prefix;
  }

  void move_to(BackingGroup::Place place, const std::vector<Use>& uses, int tries,
               const Progress& progress) {
    Genome changed = now_;
    for (const auto [e, shared] : uses) {
      changed[e] = drawer_.redraw_moved(e, *now_[e], shared, place);
      if (!changed[e]) return;
    }
    if (space_.joins(changed)) settle(std::move(changed), tries, progress);
  }

  /// Anneals the Einsums that have changed (none of more than `most`), each by itself, and takes
  /// them, if the whole is better: whether it did. What a first look finds far from good is not
  /// worth more, where prices are quick.
  bool settle(Genome changed, int tries, const Progress& progress, std::size_t most = 8) {
    if (differing(now_, changed).size() > most) return false;
    if (prices_.knows_all()) {
      anneal_each(now_, &changed, kTriesPerWalk, progress);
      if (cost(changed) >= (improve_ ? kNearer : kNear) * objective(totals_)) return false;
    }
    anneal_each(now_, &changed, tries, progress);
    if (cost(changed) >= objective(totals_)) return false;
    const Genome before = now_;
    if (!take(changed)) return false;
    spread(before, changed, differing(before, changed));
    return true;
  }

  /// The Einsums that are not as they were, beside all others.
  void anneal_each(const Genome& before, Genome* changed, int tries, const Progress& progress) {
    for (const std::size_t e : differing(before, *changed)) {
      const auto all = totals_with(*changed);
      const auto own = price_of(e, *(*changed)[e]);
      if (!all || !own) return;
      (*changed)[e] =
          anneal(e, {(*changed)[e], *own}, 1, with(*all, -1, *own), *changed, tries, progress)
              .choice;
    }
  }

  /// As the Einsums cost alone; nothing where one of them is illegal.
  std::optional<CostTotals> totals_with(const Genome& changed) {
    CostTotals all = totals_;
    for (const std::size_t e : differing(now_, changed)) {
      const auto before = price_of(e, *now_[e]);
      const auto own = price_of(e, *changed[e]);
      if (!before || !own) return std::nullopt;
      all = with(with(all, -1, *before), 1, *own);
    }
    return all;
  }
  double cost(const Genome& changed) {
    const auto all = totals_with(changed);
    return all ? objective(*all) : std::numeric_limits<double>::infinity();
  }

  /// Changes that were worth it once are made wherever Einsums alike exchange as these did.
  void spread(const Genome& before, const Genome& after, const std::vector<std::size_t>& einsums) {
    const auto same = [](const EinsumChoice& a, const EinsumChoice& b) {
      return a.templ == b.templ && a.trips == b.trips;
    };
    const std::size_t first = einsums.front();
    for (std::size_t at = 0; at + einsums.back() - first < now_.size(); ++at) {
      Genome changed = now_;
      const bool is_alike = std::all_of(einsums.begin(), einsums.end(), [&](std::size_t e) {
        const std::size_t there = at + e - first;
        if (space_.list_of(there) != space_.list_of(e) || !same(*now_[there], *before[e]) ||
            !space_.is_choice(there, after[e]->templ, after[e]->trips))
          return false;
        changed[there] = space_.make_choice(there, after[e]->templ, after[e]->trips);
        return true;
      });
      if (is_alike && space_.joins(changed)) take(std::move(changed));
    }
  }

  /// Gives some Einsums a choice, if the whole is better with it.
  bool take(const std::vector<std::size_t>& einsums, const EinsumChoice& choice) {
    Genome changed = now_;
    for (const std::size_t e : einsums) {
      if (!space_.is_choice(e, choice.templ, choice.trips)) return false;
      changed[e] = space_.make_choice(e, choice.templ, choice.trips);
    }
    return space_.joins(changed) && take(std::move(changed));
  }

  bool take(Genome changed) {
    const auto totals = space_.price(changed);
    run_.record().add(changed, totals);
    if (!totals || objective(*totals) >= objective(totals_)) return false;
    now_ = std::move(changed);
    totals_ = *totals;
    return true;
  }

  SamplingRun& run_;
  const MapSpace& space_;
  const Improve& improve_;
  const Fuse& fuse_;
  Drawer drawer_;
  QuickPrices prices_;
  ShapeWalk shapes_;
  std::vector<std::vector<Use>> uses_;  ///< of each tensor that Einsums exchange
  Genome now_;
  CostTotals totals_;
};

}  // namespace

int polish(SamplingRun* run, const Progress& progress, const std::vector<Genome>& starts, int tries,
           const Advice& advice, Genome* last) {
  Polish own(run, starts, advice);
  tries = own.run(progress, tries);
  if (last != nullptr) *last = own.now();
  return tries;
}

}  // namespace sluice::sampling
