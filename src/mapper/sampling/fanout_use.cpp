#include "fanout_use.h"

#include <algorithm>
#include <functional>
#include <set>

#include "mapper/shape/trip_choices.h"
#include "trip_walk.h"

namespace sluice::sampling {
namespace {

/// Steps of walking over tile shapes before one use is given up, and uses before a template is.
/// Those with large outer loops come first: they hold least.
constexpr int kStepsPerUse = 1000;
constexpr int kUsesPerTemplate = 10;
/// More ways than this of using the fanouts are not gone through.
constexpr std::size_t kWaysOfUse = 1000;

bool belongs(const fused::LoopPlace& loop, const DemandingFanout& fanout) {
  return loop.spatial && loop.component == fanout.component && loop.dimension == fanout.dimension;
}

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
  const auto [at, is_new] = most_.try_emplace({einsum, templ.placement});
  const std::vector<fused::Template>& templates = space_.templates(einsum);
  for (std::uint32_t other = 0; is_new && other < templates.size(); ++other)
    if (templates[other].placement == templ.placement)
      at->second = std::max(at->second, most(einsum, other, fanouts));
  return used >= at->second;
}

/// The largest use, fanout by fanout, with a tile shape that fits.
std::vector<double> FanoutUse::most(std::size_t einsum, std::uint32_t t,
                                    const std::vector<DemandingFanout>& fanouts) const {
  const fused::Template& templ = space_.templates(einsum)[t];
  Trips only_fanouts(templ.loops.size(), 1);
  std::vector<std::size_t> places;
  for (std::size_t l = 0; l < templ.loops.size(); ++l)
    if (std::any_of(fanouts.begin(), fanouts.end(),
                    [&](const DemandingFanout& fanout) { return belongs(templ.loops[l], fanout); }))
      places.push_back(l);
  std::set<std::pair<std::vector<double>, Trips>, std::greater<>> choices;
  Trips rest = space_.shape(einsum).sizes;
  const std::function<void(std::size_t)> choose = [&](std::size_t i) {
    if (choices.size() > kWaysOfUse) return;
    if (i == places.size()) {
      choices.insert({capped_use(fanouts, templ, only_fanouts), only_fanouts});
      return;
    }
    const fused::LoopPlace& loop = templ.loops[places[i]];
    const std::int64_t all = rest[loop.variable];
    const std::int64_t fanout =
        space_.problem().arch[loop.component].spatial[loop.dimension].fanout;
    for (std::int64_t trips = 1; trips <= std::min(all, fanout); ++trips) {
      if (all % trips != 0) continue;
      only_fanouts[places[i]] = trips;
      rest[loop.variable] = all / trips;
      choose(i + 1);
    }
    only_fanouts[places[i]] = 1;
    rest[loop.variable] = all;
  };
  choose(0);
  if (choices.size() > kWaysOfUse) choices.clear();
  int tries = 0;
  for (const auto& [used, trips] : choices) {
    Trips fixed(trips.size(), 0);
    for (std::size_t place : places) fixed[place] = trips[place];
    bool fits = false;
    walk_trips(
        space_, einsum, t, fixed, kStepsPerUse, [] { return false; },
        [&](const Trips& all) {
          fits = !space_.overfull(einsum, t, all) &&
                 space_.fits_alone(einsum, *space_.make_choice(einsum, t, all));
          return !fits;
        });
    if (fits) return used;
    if (++tries == kUsesPerTemplate) break;
  }
  // Not known: only what fills every fanout lies in the space for sure.
  std::vector<double> full;
  for (const DemandingFanout& fanout : fanouts) full.push_back(fanout.wanted);
  return full;
}

}  // namespace sluice::sampling
