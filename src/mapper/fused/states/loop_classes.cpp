#include "loop_classes.h"

#include <algorithm>
#include <limits>

#include "mapper/shape/trip_choices.h"
#include "mapper/space/sunk_loops.h"
#include "sluice/mapper/mapper.h"

namespace sluice::fused {
namespace {

/// Whether every node sinks through as many loops of the one variable as of the other: a third loop
/// may stand between them.
bool sink_alike(const EinsumShape& shape, const Template& templ, std::uint32_t a, std::uint32_t b) {
  return std::all_of(templ.slots.begin(), templ.slots.end(), [&](const Slot& slot) {
    const std::vector<std::uint32_t> sunk = sunk_loops(shape, templ, slot);
    const auto loops_of = [&](std::uint32_t variable) {
      return std::count_if(sunk.begin(), sunk.end(), [&](std::uint32_t loop) {
        return templ.loops[loop].variable == variable;
      });
    };
    return loops_of(a) == loops_of(b);
  });
}

bool same_signature(const EinsumShape& shape, const Template& templ, std::uint32_t a,
                    std::uint32_t b) {
  for (std::size_t t = 0; t < shape.tensors.size(); ++t)
    if (shape.tensors[t].relevance[a] != shape.tensors[t].relevance[b]) return false;
  const auto places = [&](std::uint32_t v) {
    std::vector<LoopPlace> result;
    for (LoopPlace place : templ.loops) {
      if (place.variable != v || place.fused) continue;
      place.variable = 0;
      result.push_back(place);
    }
    return result;
  };
  return places(a) == places(b) && sink_alike(shape, templ, a, b);
}

ClassLoop make_loop(const EinsumShape& shape, const Template& templ, std::uint32_t place) {
  const LoopPlace& p = templ.loops[place];
  ClassLoop loop;
  loop.places = {place};
  loop.variable = p.variable;
  loop.gap = p.gap;
  loop.spatial = p.spatial;
  loop.fused = p.fused;
  loop.steps = p.steps;
  loop.rules = loop_rules(shape, templ, p);
  loop.component = p.component;
  loop.dimension = p.dimension;
  return loop;
}

bool same_place(const ClassLoop& a, const LoopPlace& b) {
  return !a.fused && !b.fused && a.gap == b.gap && a.spatial == b.spatial &&
         (!a.spatial || (a.component == b.component && a.dimension == b.dimension));
}

void add_loops(const EinsumShape& shape, const Template& templ, VariableClass* cls) {
  for (std::uint32_t i = 0; i < templ.loops.size(); ++i) {
    const LoopPlace& place = templ.loops[i];
    if (std::find(cls->variables.begin(), cls->variables.end(), place.variable) ==
        cls->variables.end())
      continue;
    const auto joint = std::find_if(cls->loops.begin(), cls->loops.end(), [&](const ClassLoop& l) {
      return cls->plain && same_place(l, place);
    });
    if (joint != cls->loops.end())
      joint->places.push_back(i);
    else
      cls->loops.push_back(make_loop(shape, templ, i));
  }
}

}  // namespace

std::vector<VariableClass> make_classes(const EinsumShape& shape, const Template& templ,
                                        bool merge_equal) {
  std::vector<VariableClass> classes;
  for (std::uint32_t v = 0; v < shape.sizes.size(); ++v) {
    if (shape.sizes[v] == 1) continue;
    const auto home = std::find_if(classes.begin(), classes.end(), [&](const VariableClass& c) {
      const std::uint32_t first = c.variables.front();
      if (shape.coupled[v] || shape.coupled[first]) return shape.group[first] == shape.group[v];
      return merge_equal && same_signature(shape, templ, first, v);
    });
    if (home == classes.end())
      classes.push_back({{v}, !shape.coupled[v], {}});
    else
      home->variables.push_back(v);
  }
  std::uint32_t number = 0;
  for (VariableClass& cls : classes) {
    add_loops(shape, templ, &cls);
    for (ClassLoop& loop : cls.loops) loop.number = number++;
  }
  return classes;
}

void ClassStates::copy(std::size_t s, std::vector<std::int64_t>* trips) const {
  trips->resize(narrow_.size());
  for (std::size_t l = 0; l < narrow_.size(); ++l) (*trips)[l] = this->trips(s, l);
}

void ClassStates::add(const std::vector<std::int64_t>& trips) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (wide_.empty() &&
      std::any_of(trips.begin(), trips.end(), [](std::int64_t own) { return own > kMost; }))
    for (std::vector<std::int32_t>& own : narrow_) {
      wide_.emplace_back(own.begin(), own.end());
      own = {};
    }
  for (std::size_t l = 0; l < trips.size(); ++l)
    if (wide_.empty())
      narrow_[l].push_back(static_cast<std::int32_t>(trips[l]));
    else
      wide_[l].push_back(trips[l]);
  ++n_;
}

void ClassStates::reserve(std::size_t n) {
  for (std::vector<std::int32_t>& own : narrow_) own.reserve(n);
}

void ClassStates::resize(std::size_t n) {
  n_ = n;
  for (std::vector<std::int32_t>& own : narrow_)
    if (wide_.empty()) own.resize(n);
  for (std::vector<std::int64_t>& own : wide_) own.resize(n);
}

namespace {

class StateEnumerator {
 public:
  StateEnumerator(const EinsumShape& shape, const VariableClass& cls, const ClassLimits& limits)
      : shape_(shape), cls_(cls), limits_(limits), trips_(cls.loops.size(), 1) {
    // Loops of one step: each variable's own loops (fused ones of a joint class first), then the
    // joint loops with what is left of all variables together.
    for (std::uint32_t v : cls.variables) {
      Step step{shape.sizes[v], {}};
      for (std::uint32_t l = 0; l < cls.loops.size(); ++l)
        if (cls.loops[l].variable == v && own_loop(l)) step.loops.push_back(l);
      step.fills = !joint();
      steps_.push_back(step);
    }
    if (joint()) {
      Step step{1, {}};
      for (std::uint32_t l = 0; l < cls.loops.size(); ++l)
        if (!own_loop(l)) step.loops.push_back(l);
      step.fills = true;
      steps_.push_back(step);
    }
  }

  /// Where there are very many, they are counted first: a vector of gigabytes that grows is copied
  /// for seconds.
  ClassStates run() {
    constexpr std::size_t kMany = std::size_t{1} << 20U;
    list(kMany);
    if (n_ <= kMany) return std::move(states_);
    list(0);
    const std::size_t n = n_;
    list(n, n);
    return std::move(states_);
  }

 private:
  struct Step {
    std::int64_t size;  // what is to be factorised
    std::vector<std::uint32_t> loops;
    bool fills = false;  // the last loop takes the rest
  };

  bool joint() const { return cls_.plain && cls_.variables.size() > 1; }
  bool own_loop(std::uint32_t l) const { return !joint() || cls_.loops[l].fused; }

  /// What is left to the loops further in: a tile, and what the next tile must divide.
  struct Left {
    std::int64_t tile, unit;
  };

  /// Lists up to so many; counts one more, or, with none to list, all.
  void list(std::size_t most, std::size_t reserved = 0) {
    states_ = ClassStates(trips_.size());
    states_.reserve(reserved);
    n_ = 0;
    most_ = most;
    choose(0, 0, {steps_[0].size, steps_[0].size}, 0, 0);
  }

  void choose(std::size_t step, std::size_t position, Left left, int fused_here, int fused_total) {
    if (is_cancelled(limits_.cancel) || (n_ > most_ && most_ > 0)) return;
    const Step& current = steps_[step];
    if (position == current.loops.size()) {
      if (!current.fills) {
        left_ *= left.tile;
      } else if (left.tile != 1) {
        return;
      }
      next_step(step, fused_total);
      if (!current.fills) left_ /= left.tile;
      return;
    }
    const std::uint32_t l = current.loops[position];
    const ClassLoop& loop = cls_.loops[l];
    const bool last = current.fills && position + 1 == current.loops.size();
    const auto take = [&](std::int64_t trips) {
      if (loop.spatial && trip_count(trips) > limits_.fanout[l]) return;
      if (loop.steps && trips != left.tile) return;
      const int fused = loop.fused && !loop.steps && trips > 1 ? 1 : 0;
      if (fused_here + fused > limits_.max_fused_loops_per_rank) return;
      if (fused_total + fused > limits_.max_fused_loops) return;
      trips_[l] = trips;
      const Left inside{tile_inside(left.tile, trips),
                        unit_inside(current.size, shape_.odd_fanouts, left.unit, left.tile, trips)};
      choose(step, position + 1, inside, fused_here + fused, fused_total + fused);
      trips_[l] = 1;
    };
    if (!last)
      for_each_choice(choices_, shape_, limits_.imperfect, loop, loop.rules,
                      {left.unit, left.tile, left.tile == current.size}, take);
    else if (!loop.rules.rows_only || left.tile == 1)
      take(left.tile);
  }

  void next_step(std::size_t step, int fused_total) {
    if (step + 1 == steps_.size()) {
      if (!tiles_within_limits()) return;
      if (n_++ < most_) states_.add(trips_);
      return;
    }
    const bool joint_step = joint() && step + 2 == steps_.size();
    Step& next = steps_[step + 1];
    if (joint_step) next.size = left_;
    choose(step + 1, 0, {next.size, next.size}, 0, fused_total);
  }

  bool tiles_within_limits() const {
    return std::all_of(limits_.tiles.begin(), limits_.tiles.end(), [&](const auto& limit) {
      std::int64_t tile = shape_.sizes[limit.variable];
      for (std::size_t l = 0; l < trips_.size(); ++l)
        if (cls_.loops[l].variable == limit.variable && limit.above[l])
          tile = tile_inside(tile, trips_[l]);
      return limit.minimum <= tile && tile <= limit.maximum;
    });
  }

  const EinsumShape& shape_;
  const VariableClass& cls_;
  const ClassLimits& limits_;
  std::vector<Step> steps_;
  std::vector<std::int64_t> trips_;
  std::int64_t left_ = 1;
  TripChoices choices_;
  ClassStates states_;
  std::size_t n_ = 0, most_ = 0;
};

}  // namespace

ClassStates enumerate_states(const EinsumShape& shape, const VariableClass& cls,
                             const ClassLimits& limits) {
  return StateEnumerator(shape, cls, limits).run();
}

}  // namespace sluice::fused
