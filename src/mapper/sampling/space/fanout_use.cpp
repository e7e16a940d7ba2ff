#include "fanout_use.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "mapper/shape/trip_choices.h"
#include "trip_walk.h"

namespace sluice::sampling {
namespace {

/// Steps of walking over tile shapes before one use is given up, uses before a placement is, and
/// partial uses looked at. Tile shapes with large outer loops come first: they hold least.
constexpr int kStepsPerUse = 1000;
constexpr int kUsesPerPlacement = 20;
constexpr int kPartsPerTemplate = 20000;

bool belongs(const fused::LoopPlace& loop, const DemandingFanout& fanout) {
  return loop.spatial && loop.component == fanout.component && loop.dimension == fanout.dimension;
}

/// The largest use of a template's fanouts, one after the other, with a tile shape that fits: large
/// uses first, and none below tiles that are too large with all other loops further out.
class UseSearch {
 public:
  /// `best`: known of other templates; only a larger use counts.
  UseSearch(const MapSpace& space, std::size_t einsum, std::uint32_t t,
            const std::vector<DemandingFanout>& fanouts, std::optional<std::vector<double>> best,
            int* tries_left)
      : space_(space),
        einsum_(einsum),
        t_(t),
        templ_(space.templates(einsum)[t]),
        fanouts_(fanouts),
        trips_(templ_.loops.size(), 0),
        rest_(space.shape(einsum).sizes),
        best_(std::move(best)),
        tries_left_(*tries_left) {
    for (const DemandingFanout& fanout : fanouts) {
      auto& places = places_.emplace_back();
      for (std::size_t l = 0; l < templ_.loops.size(); ++l)
        if (belongs(templ_.loops[l], fanout)) places.push_back(l);
    }
  }

  void run() { choose_fanout(0); }
  /// Nothing where no tile shape that fits was found.
  const std::optional<std::vector<double>>& best() const { return best_; }
  /// Whether that is so because there is none.
  bool is_certain() const { return certain_; }

 private:
  void choose_fanout(std::size_t d) {
    if (over() || is_beaten(d) || space_.overfull(einsum_, t_, outermost(false))) return;
    if (d == fanouts_.size()) {
      try_use();
      return;
    }
    std::vector<std::pair<double, std::vector<std::int64_t>>> choices;
    list_choices(d, 0, 1, least_to_gain(d), &choices);
    std::sort(choices.begin(), choices.end(), std::greater<>());
    for (const auto& [used, trips] : choices) {
      give(d, trips);
      used_.push_back(used);
      choose_fanout(d + 1);
      used_.pop_back();
      take_back(d);
    }
  }

  bool over() {
    if (parts_++ < kPartsPerTemplate && tries_left_ > 0) return false;
    certain_ = false;
    return true;
  }

  /// Whether no use that begins so is larger than the best one.
  bool is_beaten(std::size_t d) const {
    if (!best_) return false;
    std::vector<double> largest = used_;
    for (; d < fanouts_.size(); ++d) largest.push_back(fanouts_[d].wanted);
    return largest <= *best_;
  }

  /// The use of a fanout below which none that begins so is larger than the best one.
  double least_to_gain(std::size_t d) const {
    return best_ && std::equal(used_.begin(), used_.end(), best_->begin()) ? (*best_)[d] : 0;
  }

  void list_choices(std::size_t d, std::size_t i, std::int64_t instances, double least,
                    std::vector<std::pair<double, std::vector<std::int64_t>>>* choices) {
    if (i == places_[d].size()) {
      const double used = std::min(static_cast<double>(instances), fanouts_[d].wanted);
      if (used < least) return;
      std::vector<std::int64_t> trips;
      for (const std::size_t l : places_[d]) trips.push_back(trips_[l]);
      choices->emplace_back(used, std::move(trips));
      return;
    }
    const std::size_t l = places_[d][i];
    std::int64_t& rest = rest_[templ_.loops[l].variable];
    for (const std::int64_t trips : divisors_.divisors_of(rest)) {
      if (instances * trips > fanouts_[d].fanout) break;
      trips_[l] = trips;
      rest /= trips;
      list_choices(d, i + 1, instances * trips, least, choices);
      rest *= trips;
    }
    trips_[l] = 0;
  }

  void give(std::size_t d, const std::vector<std::int64_t>& trips) {
    for (std::size_t i = 0; i < trips.size(); ++i) {
      trips_[places_[d][i]] = trips[i];
      rest_[templ_.loops[places_[d][i]].variable] /= trips[i];
    }
  }

  void take_back(std::size_t d) {
    for (const std::size_t l : places_[d]) {
      rest_[templ_.loops[l].variable] *= trips_[l];
      trips_[l] = 0;
    }
  }

  /// What is left of each variable in its outermost loop that is free, or that is temporal: no
  /// tile can be smaller.
  Trips outermost(bool temporal) const {
    Trips result = trips_, rest = rest_;
    for (std::size_t l = 0; l < result.size(); ++l) {
      if (result[l] != 0) continue;
      result[l] = 1;
      if (!temporal || !templ_.loops[l].spatial)
        std::swap(result[l], rest[templ_.loops[l].variable]);
    }
    return result;
  }

  bool fits(const Trips& trips) const {
    return !space_.overfull(einsum_, t_, trips) &&
           space_.price_alone(einsum_, *space_.make_choice(einsum_, t_, trips));
  }

  bool factorises(const Trips& trips) const {
    Trips rest = space_.shape(einsum_).sizes;
    for (std::size_t l = 0; l < trips.size(); ++l) rest[templ_.loops[l].variable] /= trips[l];
    return std::all_of(rest.begin(), rest.end(), [](std::int64_t left) { return left == 1; });
  }

  void try_use() {
    const Trips least = outermost(true);
    bool found = factorises(least) && space_.keeps_limits(einsum_, t_, least) && fits(least);
    if (!found) {
      --tries_left_;
      walk_trips(
          space_, einsum_, t_, trips_, kStepsPerUse, [] { return false; },
          [&](const Trips& all) { return !(found = fits(all)); });
    }
    if (found)
      best_ = used_;
    else
      certain_ = false;
  }

  const MapSpace& space_;
  const std::size_t einsum_;
  const std::uint32_t t_;
  const fused::Template& templ_;
  const std::vector<DemandingFanout>& fanouts_;
  std::vector<std::vector<std::size_t>> places_;  ///< per fanout
  Trips trips_;                                   ///< per place; 0: not chosen
  Trips rest_;                                    ///< per variable
  std::vector<double> used_;                      ///< of the fanouts chosen
  std::optional<std::vector<double>> best_;
  bool certain_ = true;
  int parts_ = 0;
  int& tries_left_;
  fused::TripChoices divisors_;
};

}  // namespace

std::vector<double> capped_use(const std::vector<DemandingFanout>& fanouts,
                               const fused::Template& templ, const Trips& trips) {
  std::vector<double> result;
  for (const DemandingFanout& fanout : fanouts) {
    double used = 1;
    for (std::size_t l = 0; l < trips.size(); ++l)
      if (belongs(templ.loops[l], fanout)) used *= static_cast<double>(fused::trip_count(trips[l]));
    result.push_back(std::min(used, fanout.wanted));
  }
  return result;
}

bool FanoutUse::is_full(std::size_t einsum, std::uint32_t t, const Trips& trips) const {
  const fused::Template& templ = space_.templates(einsum)[t];
  const std::vector<DemandingFanout> fanouts = space_.demanding_fanouts(einsum, templ);
  const std::vector<double> used = capped_use(fanouts, templ, trips);
  for (std::size_t d = 0; d < used.size(); ++d)
    if (used[d] < fanouts[d].wanted) return false;
  return true;
}

bool FanoutUse::is_enough(std::size_t einsum, std::uint32_t t, const Trips& trips) {
  if (is_full(einsum, t, trips)) return true;
  const fused::Template& templ = space_.templates(einsum)[t];
  const std::vector<DemandingFanout> fanouts = space_.demanding_fanouts(einsum, templ);
  const std::vector<double> used = capped_use(fanouts, templ, trips);
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = most_.try_emplace({space_.list_of(einsum), templ.placement});
  if (is_new) at->second = most(einsum, templ.placement, fanouts);
  return used >= at->second;
}

/// The largest use of a placement's templates. Where none of them is known to have a tile shape
/// that fits, but may have one, only what fills every fanout lies in the space for sure.
std::vector<double> FanoutUse::most(std::size_t einsum, std::uint32_t placement,
                                    const std::vector<DemandingFanout>& fanouts) const {
  const std::vector<fused::Template>& templates = space_.templates(einsum);
  std::optional<std::vector<double>> best;
  bool certain = true;
  int tries_left = kUsesPerPlacement;
  for (std::uint32_t t = 0; t < templates.size(); ++t) {
    if (templates[t].placement != placement) continue;
    UseSearch search(space_, einsum, t, fanouts, best, &tries_left);
    search.run();
    best = search.best();
    certain = certain && search.is_certain();
  }
  if (best) return *best;
  std::vector<double> all;
  if (!certain)
    for (const DemandingFanout& fanout : fanouts) all.push_back(fanout.wanted);
  return all;
}

ChoicePtr FanoutUse::choice(std::size_t einsum, fused::Template templ, const Trips& trips,
                            MapSpace* space) {
  const std::uint32_t t = space->add(einsum, std::move(templ));
  if (!space->is_choice(einsum, t, trips) || !is_enough(einsum, t, trips)) return nullptr;
  return space->make_choice(einsum, t, trips);
}

}  // namespace sluice::sampling
