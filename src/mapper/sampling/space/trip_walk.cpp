#include "trip_walk.h"

#include <algorithm>
#include <limits>

#include "mapper/space/constraint_rules.h"
#include "mapper/space/loop_choices.h"

namespace sluice::sampling {
namespace {

class TripWalk {
 public:
  TripWalk(const MapSpace& space, std::size_t einsum, std::uint32_t templ, const Trips& fixed,
           std::uint64_t most_steps, const std::function<bool()>& cancelled,
           const std::function<bool(const Trips&)>& visit)
      : space_(space),
        einsum_(einsum),
        templ_(templ),
        loops_(space.templates(einsum)[templ].loops),
        fixed_(fixed),
        steps_left_(most_steps),
        cancelled_(cancelled),
        visit_(visit),
        trips_(loops_.size(), 1),
        rest_(space.shape(einsum).sizes),
        unit_(rest_),
        is_last_(loops_.size(), true),
        fused_here_(rest_.size(), 0) {
    for (std::size_t l = 0; l < loops_.size(); ++l) {
      for (std::size_t later = l + 1; later < loops_.size(); ++later)
        if (loops_[later].variable == loops_[l].variable) is_last_[l] = false;
      if (fixed_[l] > 0) rest_[loops_[l].variable] /= fixed_[l];
    }
    find_tile_limits();
  }

  void run() {
    std::vector<bool> has_loop(rest_.size(), false);
    for (const fused::LoopPlace& loop : loops_) has_loop[loop.variable] = true;
    for (std::size_t v = 0; v < rest_.size(); ++v)
      if (rest_[v] > 1 && !has_loop[v]) return;
    choose(0);
  }

 private:
  /// The tile of a variable inside the loops `above`, the last of them at `last`.
  struct TileLimit {
    std::vector<bool> above;
    std::size_t last = 0;
    std::int64_t minimum = 1, maximum = 0;
  };

  void find_tile_limits() {
    tile_limits_.resize(rest_.size());
    for (const fused::TileRule& rule : space_.tile_rules(einsum_))
      for (std::vector<bool>& above :
           fused::above_ruled_nodes(space_.templates(einsum_)[templ_], rule)) {
        TileLimit& limit = tile_limits_[rule.variable].emplace_back();
        limit.minimum = rule.minimum;
        limit.maximum = rule.maximum;
        for (std::size_t l = 0; l < loops_.size(); ++l)
          if (above[l] && loops_[l].variable == rule.variable) limit.last = l;
        limit.above = std::move(above);
      }
  }

  /// Whether tiles can still keep their limits, with the loops down to `place` chosen.
  bool may_keep_tiles(std::size_t place) const {
    const std::uint32_t v = loops_[place].variable;
    return std::all_of(tile_limits_[v].begin(), tile_limits_[v].end(), [&](const TileLimit& limit) {
      std::int64_t tile = space_.shape(einsum_).sizes[v];
      for (std::size_t l = 0; l <= place; ++l)
        if (limit.above[l] && loops_[l].variable == v) tile = fused::tile_inside(tile, trips_[l]);
      return tile >= limit.minimum && (place < limit.last || tile <= limit.maximum);
    });
  }

  /// False: stop.
  bool choose(std::size_t place) {
    if (steps_left_-- == 0) return false;
    constexpr std::uint64_t kStepsBetween = 4096;
    if (steps_left_ % kStepsBetween == 0 && cancelled_()) return false;
    if (place == loops_.size())
      return !space_.keeps_limits(einsum_, templ_, trips_) || visit_(trips_);
    const std::uint32_t v = loops_[place].variable;
    const std::int64_t rest = rest_[v], unit = unit_[v];
    if (fixed_[place] > 0) {
      trips_[place] = fixed_[place];
      return (is_last_[place] && rest > 1) || choose(place + 1);
    }
    const std::vector<std::int64_t> choices = choices_at(place);
    for (auto trips = choices.rbegin(); trips != choices.rend(); ++trips) {
      if (is_last_[place] && *trips != rest) continue;
      if (fused::trip_count(*trips) > most_trips(loops_[place])) continue;
      trips_[place] = *trips;
      if (!may_keep_tiles(place)) continue;
      rest_[v] = fused::tile_inside(rest, *trips);
      const fused::EinsumShape& shape = space_.shape(einsum_);
      unit_[v] = fused::unit_inside(shape.sizes[v], shape.odd_fanouts, unit, rest, *trips);
      const bool is_fused = loops_[place].fused && !loops_[place].steps && *trips > 1;
      fused_here_[v] += is_fused;
      fused_loops_ += is_fused;
      const bool go_on = choose(place + 1);
      fused_here_[v] -= is_fused;
      fused_loops_ -= is_fused;
      rest_[v] = rest;
      unit_[v] = unit;
      if (!go_on) return false;
    }
    trips_[place] = 1;
    return true;
  }

  std::vector<std::int64_t> choices_at(std::size_t place) {
    const fused::LoopPlace& loop = loops_[place];
    const fused::EinsumShape& shape = space_.shape(einsum_);
    const std::int64_t rest = rest_[loop.variable];
    std::vector<std::int64_t> choices;
    fused::for_each_choice(choices_, shape, space_.options().imperfect_factors, loop,
                           fused::loop_rules(shape, space_.templates(einsum_)[templ_], loop),
                           {unit_[loop.variable], rest, rest == shape.sizes[loop.variable]},
                           [&](std::int64_t trips) { choices.push_back(trips); });
    return choices;
  }

  std::int64_t most_trips(const fused::LoopPlace& loop) const {
    if (loop.fused && !loop.steps &&
        (fused_loops_ >= space_.options().max_fused_loops ||
         fused_here_[loop.variable] >= space_.options().max_fused_loops_per_rank))
      return 1;
    if (!loop.spatial) return std::numeric_limits<std::int64_t>::max();
    return space_.problem().arch[loop.component].spatial[loop.dimension].fanout;
  }

  const MapSpace& space_;
  const std::size_t einsum_;
  const std::uint32_t templ_;
  const std::vector<fused::LoopPlace>& loops_;
  const Trips& fixed_;
  std::uint64_t steps_left_;
  const std::function<bool()>& cancelled_;
  const std::function<bool(const Trips&)>& visit_;
  Trips trips_, rest_, unit_;
  std::vector<bool> is_last_;                        // of its variable
  std::vector<std::vector<TileLimit>> tile_limits_;  // per variable
  std::vector<int> fused_here_;                      // per variable: fused loops chosen
  int fused_loops_ = 0;
  fused::TripChoices choices_;
};

}  // namespace

void walk_trips(const MapSpace& space, std::size_t einsum, std::uint32_t templ, const Trips& fixed,
                std::uint64_t most_steps, const std::function<bool()>& cancelled,
                const std::function<bool(const Trips&)>& visit) {
  TripWalk(space, einsum, templ, fixed, most_steps, cancelled, visit).run();
}

}  // namespace sluice::sampling
