#include "drawer.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "mapper/sampling/space/uneven_loops.h"
#include "model/bind/divisors.h"

namespace sluice::sampling {
namespace {

using fused::LiveTensor;
using fused::LoopPlace;
using fused::Slot;
using fused::Spine;
using fused::SpineLoop;
using fused::Template;

constexpr int kTriesPerChoice = 24;   ///< drafts of one Einsum before its prefix is a dead end
constexpr int kTriesPerMapping = 60;  ///< dead ends, times the number of Einsums
constexpr int kMostRaises = 64;       ///< prime factors moved outwards to make a nest fit

std::int32_t walked_rank(const SpineLoop& loop, TensorId tensor) {
  for (const auto& [id, rank] : loop.ranks)
    if (id == tensor) return rank;
  return -1;
}

bool has_leader(const Template& templ) {
  return std::any_of(templ.loops.begin(), templ.loops.end(),
                     [](const LoopPlace& loop) { return loop.leads; });
}

/// Whether two templates hold all tensors but one in the same places.
bool has_same_slots(const Template& a, const Template& b, std::uint32_t other) {
  const auto others = [&](const Template& templ) {
    std::vector<std::pair<ComponentId, std::uint32_t>> slots;
    for (const Slot& slot : templ.slots)
      if (slot.tensor != other) slots.emplace_back(slot.component, slot.tensor);
    return slots;
  };
  return a.compute == b.compute && others(a) == others(b);
}

/// The places of tensors among the slots above a gap, one bit for each.
std::uint64_t slots_above(const Template& templ, std::uint32_t gap) {
  constexpr std::uint32_t kBits = 64, kTensors = 8;
  std::uint64_t result = 0;
  for (const Slot& slot : templ.slots)
    if (slot.gap <= gap)
      result |= std::uint64_t{1} << (slot.component.index() * kTensors + slot.tensor) % kBits;
  return result;
}

/// How much two templates differ: in what memories hold, in the order of nodes, in loop places.
std::size_t distance(const Template& a, const Template& b) {
  constexpr std::uint32_t kAll = std::numeric_limits<std::uint32_t>::max();
  constexpr std::size_t kOfSlot = 8, kOfOrder = 4;
  std::size_t result = kOfSlot * static_cast<std::size_t>(
                                     std::popcount(slots_above(a, kAll) ^ slots_above(b, kAll)));
  if (a.compute != b.compute) result += kOfSlot;
  if (a.placement != b.placement) result += kOfOrder;
  const std::size_t n = std::min(a.loops.size(), b.loops.size());
  result += std::max(a.loops.size(), b.loops.size()) - n;
  for (std::size_t l = 0; l < n; ++l) result += a.loops[l] == b.loops[l] ? 0 : 1;
  return result;
}

}  // namespace

/// Trip counts of one template while they are drawn.
struct Drawer::Draft {
  std::size_t einsum = 0;
  std::uint32_t t = 0;
  const fused::EinsumShape* shape = nullptr;
  const Template* templ = nullptr;
  Trips trips, rest;
  std::vector<bool> given;   ///< per place: as the prefix has it
  std::vector<bool> closed;  ///< per place: no loop may stand there
  std::uint32_t free_gap =
      0;  ///< fused loops from this gap on are not above a tensor of the prefix

  Draft(const MapSpace& space, std::size_t e, std::uint32_t index)
      : einsum(e),
        t(index),
        shape(&space.shape(e)),
        templ(&space.templates(e)[index]),
        trips(templ->loops.size(), 1),
        rest(shape->sizes),
        given(templ->loops.size(), false),
        closed(templ->loops.size(), false) {}

  const LoopPlace& loop(std::size_t place) const { return templ->loops[place]; }
  /// A loop with uneven tiles is set before those inside it, and reset after them.
  void set(std::size_t place, std::int64_t count) {
    std::int64_t& inside = rest[loop(place).variable];
    if (fused::is_uneven(trips[place]))
      inside = shape->sizes[loop(place).variable];
    else
      inside *= trips[place];
    inside = fused::tile_inside(inside, count);
    trips[place] = count;
  }
  /// What an open loop of so many steps runs here; 0: it goes over other values.
  std::int64_t as_here(std::size_t place, std::int64_t count, std::int64_t tile) const {
    const std::uint32_t v = loop(place).variable;
    const std::int64_t size = rest[v];
    if (size == count * tile) return count;
    const bool may_be_uneven = size == shape->sizes[v] && shape->tiles_freely(v);
    return may_be_uneven && count == (size + tile - 1) / tile ? fused::imperfect_trips(size, tile)
                                                              : 0;
  }
  /// Whether a loop can still be put there.
  bool is_open(std::size_t place) const { return trips[place] == 1 && !closed[place]; }
  bool lets_sink(std::size_t place) const { return fused::lets_sink(*templ, trips, place); }
  const Slot* shared_slot(std::uint32_t tensor) const {
    for (const Slot& slot : templ->slots)
      if (slot.shared && slot.tensor == tensor) return &slot;
    return nullptr;
  }
};

std::optional<std::uint32_t> Drawer::pick_template(const Spine& prefix, std::size_t e,
                                                   const BackingGroup* only) {
  const auto& shared = space_.shared_tensors(e);
  std::vector<const BackingGroup*> fitting;
  for (const BackingGroup& group : space_.backings(e)) {
    bool agrees = only == nullptr || only == &group;
    for (std::size_t i = 0; i < shared.size() && agrees; ++i) {
      const LiveTensor* live = find_live(prefix, space_.shape(e).tensors[shared[i]].id);
      agrees = live == nullptr || (live->component == group.places[i].component &&
                                   live->persistent == group.places[i].persistent);
    }
    if (agrees) fitting.push_back(&group);
  }
  if (fitting.empty()) return std::nullopt;
  if (!is_plain_) return random_.pick(random_.pick(fitting)->templates);
  keep_furthest_out(&fitting);
  const std::vector<std::uint32_t>& templates = random_.pick(fitting)->templates;
  std::uint32_t picked = random_.pick(templates);
  for (int i = 0; i < kTriesPerChoice && has_leader(space_.templates(e)[picked]); ++i)
    picked = random_.pick(templates);
  return picked;
}

void Drawer::keep_furthest_out(std::vector<const BackingGroup*>* groups) const {
  const auto depth = [](const BackingGroup* group) {
    std::size_t sum = 0;
    for (const BackingGroup::Place& place : group->places) sum += place.component.index();
    return sum;
  };
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const BackingGroup* group : *groups) least = std::min(least, depth(group));
  std::erase_if(*groups, [&](const BackingGroup* group) { return depth(group) > least; });
}

/// Gives each open loop of the prefix, from `loop` on, a place in the template.
bool Drawer::place_open_loops(const Spine& prefix, std::size_t loop, Draft* draft) {
  if (loop == prefix.loops.size()) return true;
  const SpineLoop& open = prefix.loops[loop];
  std::vector<std::size_t> places;
  for (std::size_t p = 0; p < draft->trips.size(); ++p) {
    const LoopPlace& place = draft->loop(p);
    if (!place.fused || draft->given[p] || place.spatial != open.spatial ||
        draft->as_here(p, open.trips, open.tile) == 0 ||
        (place.spatial && (place.component != open.component || place.dimension != open.dimension)))
      continue;
    bool agrees = true;
    for (std::uint32_t t : space_.shared_tensors(draft->einsum)) {
      const LiveTensor* live = find_live(prefix, draft->shape->tensors[t].id);
      if (live == nullptr || live->persistent) continue;
      const bool above = loop < live->level;
      agrees = agrees && above == (place.gap < draft->shared_slot(t)->gap) &&
               (!above || draft->shape->shared_rank(t, place.variable, place.spatial) ==
                              walked_rank(open, live->id));
    }
    if (agrees) places.push_back(p);
  }
  random_.shuffle(&places);
  for (const std::size_t p : places) {
    draft->given[p] = true;
    draft->set(p, draft->as_here(p, open.trips, open.tile));
    if (place_open_loops(prefix, loop + 1, draft)) return true;
    draft->set(p, 1);
    draft->given[p] = false;
  }
  return false;
}

/// The Einsums of a recurrence stand under one loop over its steps.
void Drawer::draw_steps(Draft* draft) {
  if (!draft->shape->recurrence.is_member()) return;
  for (std::size_t p = 0; p < draft->trips.size(); ++p) {
    const LoopPlace& place = draft->loop(p);
    if (!place.fused || place.spatial || place.gap < draft->free_gap) continue;
    if (!place.steps &&
        draft->shape->recurrence.step != std::optional(draft->shape->variables[place.variable]))
      continue;
    draft->set(p, draft->rest[place.variable] * draft->trips[p]);
    return;
  }
}

/// The largest trip count that the limits leave to a place, given all others.
std::int64_t Drawer::most_trips(const Draft& draft, std::size_t place) const {
  const LoopPlace& loop = draft.loop(place);
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (loop.spatial) {
    most = space_.problem().arch[loop.component].spatial[loop.dimension].fanout;
    for (std::size_t p = 0; p < draft.trips.size(); ++p)
      if (p != place && draft.loop(p).spatial && draft.loop(p).component == loop.component &&
          draft.loop(p).dimension == loop.dimension)
        most /= fused::trip_count(draft.trips[p]);
  }
  if (!loop.fused || loop.steps) return most;
  int here = 0, all = 0;
  for (std::size_t p = 0; p < draft.trips.size(); ++p) {
    if (p == place || !draft.loop(p).fused || draft.trips[p] == 1) continue;
    ++all;
    here += draft.loop(p).variable == loop.variable;
  }
  const bool room =
      here < space_.options().max_fused_loops_per_rank && all < space_.options().max_fused_loops;
  return room ? most : 1;
}

/// The loops without which a template is another one: each that leads its gap, below which none
/// stands before it and some late one after it.
bool Drawer::draw_leaders(Draft* draft) {
  for (std::size_t l = 0; l < draft->trips.size(); ++l) {
    if (!draft->loop(l).leads) continue;
    std::vector<std::size_t> late;
    for (std::size_t p = 0; p < draft->trips.size(); ++p) {
      if (draft->loop(p).gap != draft->loop(l).gap) continue;
      if (p < l) {
        draft->closed[p] = true;
        if (draft->trips[p] > 1) return false;
      } else if (draft->loop(p).late) {
        late.push_back(p);
      }
    }
    const auto runs = [&](std::size_t p) { return draft->trips[p] > 1; };
    if (!runs(l) && !draw_loop(draft, l)) return false;
    if (std::any_of(late.begin(), late.end(), runs)) continue;
    random_.shuffle(&late);
    if (std::none_of(late.begin(), late.end(), [&](std::size_t p) { return draw_loop(draft, p); }))
      return false;
  }
  return true;
}

/// A loop of several steps, if there can be one.
bool Drawer::draw_loop(Draft* draft, std::size_t place) {
  if (draft->loop(place).gap < draft->free_gap) return false;
  const auto choices = trip_choices(*draft, place).subspan(1);
  if (choices.empty()) return false;
  draft->set(place, choices[random_.below(choices.size())]);
  return true;
}

/// Divisors of what is left of the variable that the limits leave, ascending, 1 first.
std::span<const std::int64_t> Drawer::trip_choices(const Draft& draft, std::size_t place) {
  const auto& divisors = choices_.divisors_of(draft.rest[draft.loop(place).variable]);
  const auto end = std::upper_bound(divisors.begin(), divisors.end(), most_trips(draft, place));
  return {divisors.data(), static_cast<std::size_t>(end - divisors.begin())};
}

/// One of the choices, each as likely.
std::int64_t Drawer::draw_trips(const Draft& draft, std::size_t place) {
  const auto choices = trip_choices(draft, place);
  return choices[random_.below(choices.size())];
}

/// Fills the fanouts that must be used well, as far as a few greedy steps go.
void Drawer::draw_fanouts(Draft* draft) {
  for (const DemandingFanout& fanout : space_.demanding_fanouts(draft->einsum, *draft->templ)) {
    std::vector<std::size_t> places;
    for (std::size_t p = 0; p < draft->trips.size(); ++p) {
      const LoopPlace& loop = draft->loop(p);
      if (loop.spatial && loop.component == fanout.component &&
          loop.dimension == fanout.dimension && !draft->given[p] &&
          (!loop.fused || loop.gap >= draft->free_gap))
        places.push_back(p);
    }
    random_.shuffle(&places);
    for (const bool fill : {false, true}) {
      for (const std::size_t p : places) {
        if (!draft->is_open(p)) continue;
        draft->set(p, fill || random_.chance(0.7) ? trip_choices(*draft, p).back()
                                                  : draw_trips(*draft, p));
      }
    }
  }
}

/// New fused loops below everything that the prefix exchanges.
void Drawer::draw_fused(Draft* draft) {
  std::vector<std::size_t> places;
  for (std::size_t p = 0; p < draft->trips.size(); ++p)
    if (draft->loop(p).fused && draft->loop(p).gap >= draft->free_gap && draft->is_open(p))
      places.push_back(p);
  if (is_plain_ && places.empty()) return;  // as mostly: nothing below the first memory
  random_.shuffle(&places);
  const double density = random_.unit();
  for (const std::size_t p : places)
    if (random_.chance(density)) draft->set(p, draw_trips(*draft, p));
}

/// Shares out what is left of each variable among its unfused loops.
bool Drawer::draw_rest(Draft* draft) {
  for (std::uint32_t v = 0; v < draft->rest.size(); ++v) {
    std::vector<std::size_t> places;
    for (std::size_t p = 0; p < draft->trips.size(); ++p)
      if (draft->loop(p).variable == v && !draft->loop(p).fused && draft->is_open(p))
        places.push_back(p);
    random_.shuffle(&places);
    std::stable_partition(places.begin(), places.end(),
                          [&](std::size_t p) { return !draft->loop(p).stopped; });
    std::optional<std::size_t> last;
    for (const std::size_t p : places) {
      if (!draft->loop(p).spatial && !last) {
        last = p;
        continue;
      }
      if (!draft->lets_sink(p)) draft->set(p, draw_trips(*draft, p));
    }
    if (last) draft->set(*last, draft->rest[v]);
    if (draft->rest[v] == 1) continue;
    // Only fused loops are left for it.
    for (std::size_t p = 0; p < draft->trips.size() && draft->rest[v] > 1; ++p) {
      const LoopPlace& loop = draft->loop(p);
      if (loop.variable != v || draft->given[p] || draft->closed[p] ||
          (loop.fused && loop.gap < draft->free_gap))
        continue;
      const std::int64_t all = draft->rest[v] * draft->trips[p];
      if (all <= most_trips(*draft, p)) draft->set(p, all);
    }
    if (draft->rest[v] > 1) return false;
  }
  return true;
}

/// Moves prime factors to loops further out until no memory is overfull for sure.
void Drawer::raise_loops(Draft* draft) {
  for (int i = 0; i < kMostRaises; ++i) {
    const auto memory = space_.overfull(draft->einsum, draft->t, draft->trips);
    if (!memory || !raise_one(*memory, draft)) return;
  }
}

bool Drawer::raise_one(ComponentId memory, Draft* draft) {
  std::vector<std::pair<std::size_t, std::size_t>> moves;  // inner place, outer place
  for (const Slot& slot : draft->templ->slots) {
    if (slot.component != memory) continue;
    for (std::size_t in = 0; in < draft->trips.size(); ++in) {
      const LoopPlace& inner = draft->loop(in);
      if (inner.spatial || inner.fused || inner.gap < slot.gap || draft->trips[in] == 1) continue;
      if (draft->shape->irrelevant(slot.tensor, inner.variable)) continue;
      for (std::size_t out = 0; out < draft->trips.size(); ++out) {
        const LoopPlace& outer = draft->loop(out);
        if (outer.variable != inner.variable || outer.gap >= slot.gap || outer.spatial) continue;
        const bool may_grow = !outer.fused || (!draft->given[out] && outer.gap >= draft->free_gap &&
                                               most_trips(*draft, out) > 1);
        if (may_grow && !draft->closed[out] && !draft->lets_sink(out)) moves.emplace_back(in, out);
      }
    }
  }
  if (moves.empty()) return false;
  const auto [in, out] = random_.pick(moves);
  const std::int64_t prime = smallest_prime_of(draft->trips[in]);
  draft->set(in, draft->trips[in] / prime);
  draft->set(out, draft->trips[out] * prime);
  return true;
}

/// The draft as a choice, if it lies in the space and may fit. To find out whether a fanout can be
/// used better takes long: only `patient` ones ask.
ChoicePtr Drawer::finish(Draft* draft, bool patient) {
  if (!draw_rest(draft)) return nullptr;
  raise_loops(draft);
  if (!space_.is_choice(draft->einsum, draft->t, draft->trips) ||
      space_.overfull(draft->einsum, draft->t, draft->trips) ||
      !(patient ? use_.is_enough(draft->einsum, draft->t, draft->trips)
                : use_.is_full(draft->einsum, draft->t, draft->trips)))
    return nullptr;
  return space_.make_choice(draft->einsum, draft->t, std::move(draft->trips));
}

ChoicePtr Drawer::draw(const Spine& prefix, std::size_t e, Spine* joined,
                       const BackingGroup* only) {
  for (int i = 0; i < kTriesPerChoice && !is_cancelled(cancel_); ++i) {
    const auto t = pick_template(prefix, e, only);
    if (!t) return nullptr;
    Draft draft(space_, e, *t);
    for (std::uint32_t tensor : space_.shared_tensors(e))
      if (find_live(prefix, draft.shape->tensors[tensor].id) != nullptr)
        draft.free_gap = std::max(draft.free_gap, draft.shared_slot(tensor)->gap);
    if (!place_open_loops(prefix, 0, &draft)) continue;
    draw_steps(&draft);
    if (!draw_leaders(&draft)) continue;
    draw_fanouts(&draft);
    draw_fused(&draft);
    ChoicePtr choice = finish(&draft, i >= kTriesPerChoice / 2);
    if (!choice) continue;
    auto spine = space_.join(prefix, e, *choice);
    if (!spine) continue;
    *joined = std::move(*spine);
    return choice;
  }
  return nullptr;
}

ChoicePtr Drawer::redraw_unfused(std::size_t e, const EinsumChoice& choice) {
  for (int i = 0; i < kTriesPerChoice; ++i) {
    Draft draft(space_, e, choice.templ);
    draft.free_gap = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t p = 0; p < choice.trips.size(); ++p) {
      if (!draft.loop(p).fused) continue;
      draft.given[p] = true;
      draft.set(p, choice.trips[p]);
    }
    draw_fanouts(&draft);
    if (ChoicePtr redrawn = finish(&draft, i >= kTriesPerChoice / 2)) return redrawn;
  }
  return nullptr;
}

/// Gives each fused loop of a choice, in order, a place in another template.
bool Drawer::place_fused_loops(const EinsumChoice& choice, Draft* draft) {
  const Template& templ = space_.templates(draft->einsum)[choice.templ];
  std::size_t p = 0;
  for (std::size_t l = 0; l < choice.trips.size(); ++l) {
    const LoopPlace& loop = templ.loops[l];
    if (!loop.fused || choice.trips[l] == 1) continue;
    const auto is_alike = [&](const LoopPlace& place) {
      return place.fused && place.variable == loop.variable && place.spatial == loop.spatial &&
             place.component == loop.component && place.dimension == loop.dimension;
    };
    while (p < draft->trips.size() && !is_alike(draft->loop(p))) ++p;
    if (p == draft->trips.size()) return false;
    draft->given[p] = true;
    draft->set(p++, choice.trips[l]);
  }
  return true;
}

/// Gives each loop of a choice the place in another template that it has among the slots of all
/// tensors but one.
bool Drawer::place_same_loops(const EinsumChoice& choice, std::uint32_t other, Draft* draft) {
  const Template& templ = space_.templates(draft->einsum)[choice.templ];
  const auto is_slot = [&](const Template& of, const fused::Item& item) {
    return !item.is_loop && of.slots[item.index].tensor != other;
  };
  auto there = draft->templ->items.begin();
  const auto end = draft->templ->items.end();
  for (const fused::Item& item : templ.items) {
    if (is_slot(templ, item)) {  // goes on below it
      while (!is_slot(*draft->templ, *there)) ++there;
      ++there;
    } else if (item.is_loop && choice.trips[item.index] > 1) {
      const LoopPlace& loop = templ.loops[item.index];
      const auto place = std::find_if(there, end, [&](const fused::Item& own) {
        if (!own.is_loop) return is_slot(*draft->templ, own);  // too far
        const LoopPlace& found = draft->loop(own.index);
        return found.variable == loop.variable && found.fused == loop.fused &&
               found.spatial == loop.spatial && found.component == loop.component &&
               found.dimension == loop.dimension;
      });
      if (place == end || !place->is_loop || fused::is_uneven(choice.trips[item.index]))
        return false;
      draft->set(place->index, draft->trips[place->index] * choice.trips[item.index]);
    }
  }
  return true;
}

/// Gives loops that nobody shares places in another template with about the same above them; those
/// that have none there are left out.
void Drawer::place_own_loops(const EinsumChoice& choice, Draft* draft) {
  const Template& templ = space_.templates(draft->einsum)[choice.templ];
  for (std::size_t l = 0; l < choice.trips.size(); ++l) {
    const LoopPlace& loop = templ.loops[l];
    if (loop.fused || choice.trips[l] == 1 || is_uneven(templ, choice.trips, loop.variable))
      continue;
    const std::uint64_t above = slots_above(templ, loop.gap);
    std::optional<std::size_t> best;
    int least = std::numeric_limits<int>::max();
    for (std::size_t p = 0; p < draft->trips.size(); ++p) {
      const LoopPlace& place = draft->loop(p);
      if (place.fused || place.variable != loop.variable || place.spatial != loop.spatial ||
          (place.spatial &&
           (place.component != loop.component || place.dimension != loop.dimension)))
        continue;
      const int difference = std::popcount(above ^ slots_above(*draft->templ, place.gap));
      if (difference >= least) continue;
      least = difference;
      best = p;
    }
    if (best && choice.trips[l] <= most_trips(*draft, *best))
      draft->set(*best, draft->trips[*best] * choice.trips[l]);
  }
}

/// One of the templates, now and then one of the more similar ones.
std::uint32_t Drawer::pick_similar(const Template& to, std::size_t e,
                                   const std::vector<std::uint32_t>& templates) {
  constexpr std::size_t kCompared[] = {1, 1, 8, 64};
  std::uint32_t picked = random_.pick(templates);
  const std::size_t n = kCompared[random_.below(std::size(kCompared))];
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t other = random_.pick(templates);
    const std::size_t own = distance(to, space_.templates(e)[other]);
    if (own == 0 || own >= least) continue;  // 0: the same one
    least = own;
    picked = other;
  }
  return picked;
}

/// One of the templates, with the fused loops of a choice; `is_wanted`: how it exchanges tensors.
template <class IsWanted>
ChoicePtr Drawer::redraw_in(std::size_t e, const EinsumChoice& choice,
                            const std::vector<std::uint32_t>& templates,
                            const IsWanted& is_wanted) {
  for (int i = 0; i < kTriesPerChoice && !is_cancelled(cancel_); ++i) {
    const Template& before = space_.templates(e)[choice.templ];
    Draft draft(space_, e, pick_similar(before, e, templates));
    draft.free_gap = std::numeric_limits<std::uint32_t>::max();
    if (!place_fused_loops(choice, &draft)) continue;
    if (random_.chance(0.5)) place_own_loops(choice, &draft);
    if (!draw_leaders(&draft)) continue;
    draw_fanouts(&draft);
    ChoicePtr redrawn = finish(&draft, i >= kTriesPerChoice / 2);
    if (redrawn && is_wanted(redrawn->compatibility)) return redrawn;
  }
  return nullptr;
}

ChoicePtr Drawer::redraw_alike(std::size_t e, const EinsumChoice& choice) {
  const BackingGroup* group = space_.backing_of(e, choice.templ);
  if (group == nullptr) return nullptr;
  return redraw_in(e, choice, group->templates,
                   [&](const fused::Compatibility& own) { return own == choice.compatibility; });
}

ChoicePtr Drawer::redraw_moved(std::size_t e, const EinsumChoice& choice, std::size_t shared,
                               BackingGroup::Place place) {
  const BackingGroup* moved = space_.moved_backing(e, choice.templ, shared, place);
  if (moved == nullptr) return nullptr;
  const auto is_wanted = [&](fused::Compatibility own) {
    const fused::Backing& before = choice.compatibility.backings[shared];
    fused::Backing& after = own.backings[shared];
    if (after.level != before.level) return false;
    after = before;
    return own == choice.compatibility;
  };
  const std::uint32_t tensor = space_.shared_tensors(e)[shared];
  const Template& templ = space_.templates(e)[choice.templ];
  std::vector<std::uint32_t> same_nest;
  for (const std::uint32_t t : moved->templates)
    if (has_same_slots(templ, space_.templates(e)[t], tensor)) same_nest.push_back(t);
  random_.shuffle(&same_nest);
  if (same_nest.size() > kTriesPerChoice) same_nest.resize(kTriesPerChoice);
  for (const std::uint32_t t : same_nest) {
    if (is_cancelled(cancel_)) return nullptr;
    Draft draft(space_, e, t);
    if (!place_same_loops(choice, tensor, &draft)) continue;
    ChoicePtr redrawn = finish(&draft, false);
    if (redrawn && is_wanted(redrawn->compatibility)) return redrawn;
  }
  return redraw_in(e, choice, moved->templates, is_wanted);
}

std::optional<Genome> Drawer::draw_mapping() {
  Genome genome;
  std::vector<Spine> prefixes(1);  // before each Einsum
  const std::size_t n = space_.n_einsums();
  for (std::size_t tries = kTriesPerMapping * n; genome.size() < n;) {
    Spine joined;
    if (ChoicePtr choice = draw(prefixes.back(), genome.size(), &joined)) {
      genome.push_back(std::move(choice));
      prefixes.push_back(std::move(joined));
      continue;
    }
    if (tries-- == 0 || is_cancelled(cancel_)) return std::nullopt;
    // Back to where no loop was open, or now and then further.
    do {
      if (genome.empty()) break;
      genome.pop_back();
      prefixes.pop_back();
    } while (!prefixes.back().loops.empty() || random_.chance(0.25));
  }
  return genome;
}

std::optional<Genome> Drawer::draw_plain_mapping() {
  is_plain_ = true;
  std::optional<Genome> genome = draw_mapping();
  is_plain_ = false;
  return genome;
}

bool Drawer::mend(Genome* genome, std::size_t first) {
  Spine spine;
  for (std::size_t e = 0; e < genome->size(); ++e) {
    if (auto joined = space_.join(spine, e, *(*genome)[e])) {
      spine = std::move(*joined);
      continue;
    }
    if (e < first) return false;
    // Of a few that join, one that the next Einsum can join as it is.
    ChoicePtr found;
    Spine after;
    for (int i = 0; i < 4; ++i) {
      Spine joined;
      ChoicePtr choice = draw(spine, e, &joined);
      if (!choice) continue;
      const bool goes_on =
          e + 1 == genome->size() || space_.join(joined, e + 1, *(*genome)[e + 1]).has_value();
      if (found && !goes_on) continue;
      found = std::move(choice);
      after = std::move(joined);
      if (goes_on) break;
    }
    if (!found) return false;
    (*genome)[e] = std::move(found);
    spine = std::move(after);
  }
  return true;
}

}  // namespace sluice::sampling
