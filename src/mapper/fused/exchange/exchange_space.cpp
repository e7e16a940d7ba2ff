#include "exchange_space.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "mapper/common/parallel.h"
#include "mapper/space/loop_choices.h"

namespace sluice::fused {
namespace {

/// Walks the fused loops and shared backing nodes of one template from the outside in and chooses
/// trip counts; turns back where a shared tensor does not fit or nobody else exchanges it that way.
class FusedTrips {
 public:
  /// `shared`: the shared tensors, as in ExchangeSpace. `filters`: of the fused loops.
  FusedTrips(const BoundProblem& problem, const ExchangeRequest& request, const Template& templ,
             const std::vector<std::uint32_t>& shared, const std::vector<TripFilter>& filters,
             const MapperOptions& options)
      : problem_(problem),
        bound_(problem[request.equals.front()->einsum]),
        request_(request),
        shape_(*request.equals.front()),
        templ_(templ),
        shared_(shared),
        filters_(filters),
        options_(options) {
    free_.assign(shape_.sizes.size(), false);
    for (const LoopPlace& loop : templ.loops)
      if (!loop.fused) free_[loop.variable] = true;
    for (const Item& item : templ.items)
      if (item.is_loop ? templ.loops[item.index].fused : templ.slots[item.index].shared)
        items_.push_back(item);
    rest_ = unit_ = shape_.sizes;
    here_.assign(shape_.sizes.size(), 0);
    trips_.assign(templ.loops.size(), 1);
    held_.assign(bound_.components.size(), 0);
    exchanges_.assign(shape_.tensors.size(), 0);
    hashes_.assign((items_.size() + 1) * shape_.tensors.size(), {});
    find_filters();
  }

  /// Calls `body` with the trip counts per loop place and the exchange of each tensor.
  template <class Body>
  void for_each(const Body& body) {
    choose(0, 0, ~Members{0}, body);
  }

 private:
  using Members = std::uint64_t;  // of the equal Einsums: whose partners agree so far
  static constexpr std::size_t kNoFilter = ~std::size_t{0};

  /// Per item: the filter of a fused loop.
  void find_filters() {
    std::vector<std::size_t> item_of_place;
    for (std::size_t i = 0; i < items_.size(); ++i)
      if (items_[i].is_loop) item_of_place.push_back(i);
    filter_of_.assign(items_.size(), kNoFilter);
    for (std::size_t f = 0; f < filters_.size(); ++f) {
      left_.push_back(filters_[f].all());
      for (const std::uint32_t place : filters_[f].places()) filter_of_[item_of_place[place]] = f;
    }
  }

  /// Calls `body` if the loop at a position may have so many trips, as far as its filter tells.
  template <class Body>
  void with_trips(std::size_t position, std::int64_t trips, const Body& body) {
    const std::size_t f = filter_of_[position];
    if (f == kNoFilter) return body();
    const TripFilter::Left before = left_[f];
    left_[f] = filters_[f].with(before, trips);
    if (left_[f].first < left_[f].last) body();
    left_[f] = before;
  }

  template <class Body>
  void choose(std::size_t position, int total, Members members, const Body& body) {
    if (is_cancelled(request_.cancel)) return;
    if (position == items_.size()) {
      for (std::size_t v = 0; v < rest_.size(); ++v)
        if (rest_[v] != 1 && !free_[v]) return;  // no loop is left for the rest
      if (!steps_together(problem_, shape_, templ_, trips_)) return;
      if (!options_.pruning.redundant_templates || !is_redundant(templ_, trips_))
        body(trips_, exchanges_);
      return;
    }
    const Item& item = items_[position];
    if (!item.is_loop) {
      back(templ_.slots[item.index], position, total, members, body);
      return;
    }
    const LoopPlace& loop = templ_.loops[item.index];
    const ExchangeHash* outside = hashes_above(total);
    ExchangeHash* inside = hashes_above(total + 1);
    if (!loop.leads && !loop.steps)
      with_trips(position, 1, [&] { choose(position + 1, total, members, body); });
    const std::int64_t rest = rest_[loop.variable];
    if (!loop.steps && (here_[loop.variable] >= options_.max_fused_loops_per_rank ||
                        total >= options_.max_fused_loops))
      return;
    const std::int64_t most =
        loop.spatial ? problem_.arch[loop.component].spatial[loop.dimension].fanout : rest;
    ++here_[loop.variable];
    const std::int64_t size = shape_.sizes[loop.variable], unit = unit_[loop.variable];
    const auto take = [&](std::int64_t trips) {
      trips_[item.index] = trips;
      rest_[loop.variable] = tile_inside(rest, trips);
      unit_[loop.variable] = unit_inside(size, shape_.odd_fanouts, unit, rest, trips);
      const FusedLoop chosen = fused_loop(shape_, loop, trips, rest_[loop.variable]);
      for (const std::uint32_t t : shared_) {
        inside[t] = outside[t];
        inside[t].add_loop(shared_rank(shape_, t, chosen), chosen.tile, chosen.trips, loop.spatial,
                           loop.component, loop.dimension);
      }
      choose(position + 1, total + 1, members, body);
    };
    const auto choose_trips = [&](std::int64_t trips) {
      if (trips == 1 || trip_count(trips) > most || (loop.steps && trips != rest)) return;
      if (request_.coarse && !is_coarse(trips, size)) return;
      with_trips(position, trips, [&] { take(trips); });
    };
    for_each_choice(choices_, shape_, options_.imperfect_factors, loop,
                    loop_rules(shape_, templ_, loop), {unit, rest, rest == size}, choose_trips);
    --here_[loop.variable];
    trips_[item.index] = 1;
    rest_[loop.variable] = rest;
    unit_[loop.variable] = unit;
  }

  /// A shared tensor's backing node: all loops above are chosen.
  template <class Body>
  void back(const Slot& slot, std::size_t position, int total, Members members, const Body& body) {
    if (!rows_stay(slot, position)) return;
    const std::uint64_t exchange =
        hashes_above(total)[slot.tensor].at(slot.component, slot.persistent);
    exchanges_[slot.tensor] = exchange;
    if (request_.agreement != nullptr && request_.equals.size() <= 64) {
      if (const std::size_t n = request_.equals.size(); n < 64) members &= (Members{1} << n) - 1;
      for (std::size_t m = 0; m < request_.equals.size(); ++m)
        if ((members >> m & 1U) != 0 &&
            !request_.agreement->allows(request_.equals[m]->tensors[slot.tensor].id, exchange))
          members &= ~(Members{1} << m);
      if (members == 0) return;
    }
    const BoundComponent& memory = bound_.components[slot.component.index()];
    const double bits = may_lie_in_another(shape_, slot.tensor)
                            ? 0
                            : backing_bits(problem_, shape_, templ_, slot, trips_);
    double& held = held_[slot.component.index()];
    if (held + bits > memory.size_bits) return;
    held += bits;
    choose(position + 1, total, members, body);
    held -= bits;
  }

  /// Per tensor: the loops chosen so far, of which there are `total`.
  ExchangeHash* hashes_above(int total) {
    return hashes_.data() + static_cast<std::size_t>(total) * shape_.tensors.size();
  }

  /// Whether what two steps over rows of the tensor have in common stays: no other temporal loop
  /// stands between them and the backing node.
  bool rows_stay(const Slot& slot, std::size_t position) const {
    if (shape_.row_loops.empty()) return true;
    bool steps = false;
    for (std::size_t at = 0; at < position; ++at) {
      if (!items_[at].is_loop || trips_[items_[at].index] == 1) continue;
      const LoopPlace& loop = templ_.loops[items_[at].index];
      if (loop.spatial) continue;
      if (steps) return false;
      steps = carries_rows(shape_, slot.tensor, loop.variable);
    }
    return true;
  }

  /// All steps at once, or some half to the whole root of the size; of uneven tiles only rows.
  static bool is_coarse(std::int64_t trips, std::int64_t size) {
    if (is_uneven(trips) && !walks_rows(trips)) return false;
    const std::int64_t count = trip_count(trips);
    return count == size || (count <= size / count && count + 1 > size / 4 / (count + 1));
  }

  const BoundProblem& problem_;
  const BoundEinsum& bound_;
  const ExchangeRequest& request_;
  const EinsumShape& shape_;
  const Template& templ_;
  const std::vector<std::uint32_t>& shared_;
  const std::vector<TripFilter>& filters_;
  const MapperOptions& options_;
  std::vector<Item> items_;  // fused loops and shared backing nodes
  std::vector<bool> free_;   // per variable: has loops that are not fused
  std::vector<std::int64_t> rest_, unit_, trips_;
  std::vector<int> here_;                 // per variable: fused loops chosen
  std::vector<double> held_;              // per component: bits of the shared tensors above
  std::vector<std::uint64_t> exchanges_;  // per tensor
  std::vector<ExchangeHash> hashes_;      // per number of chosen loops and tensor
  std::vector<std::size_t> filter_of_;    // per item
  std::vector<TripFilter::Left> left_;    // per filter
  TripChoices choices_;
};

/// What decides a template's compatibilities: fused loops, shared backing nodes, and which
/// variables can also be looped over further in.
std::vector<std::int64_t> skeleton_key(const BoundProblem& problem, const EinsumShape& shape,
                                       const Template& templ) {
  std::vector<std::int64_t> key;
  std::vector<std::int64_t> free(shape.sizes.size(), 0);
  for (const Item& item : templ.items) {
    if (item.is_loop) {
      const LoopPlace& loop = templ.loops[item.index];
      if (!loop.fused) {
        free[loop.variable] = 1;
        continue;
      }
      bool slides = false;
      for (const Slot& slot : templ.slots)
        slides = slides || slot.sliding_loop == static_cast<std::int32_t>(item.index);
      key.insert(key.end(),
                 {1, loop.variable, loop.gap, loop.spatial,
                  static_cast<std::int64_t>(loop.component.index()), loop.dimension, loop.late,
                  loop.leads, loop.steps, loop.block, slides,
                  static_cast<std::int64_t>(copied_above(problem, shape, templ, item.index))});
    } else if (const Slot& slot = templ.slots[item.index]; slot.shared) {
      key.insert(key.end(), {2, static_cast<std::int64_t>(slot.component.index()), slot.tensor,
                             slot.gap, slot.persistent, kept_by(shape, templ, slot)});
    }
  }
  key.insert(key.end(), free.begin(), free.end());
  return key;
}

}  // namespace

std::vector<std::uint32_t> fused_places(const Template& templ) {
  std::vector<std::uint32_t> places;
  for (const Item& item : templ.items)
    if (item.is_loop && templ.loops[item.index].fused) places.push_back(item.index);
  return places;
}

ExchangeSpace make_exchange_space(const BoundProblem& problem, const ExchangeRequest& request,
                                  const std::vector<Template>& templates,
                                  const MapperOptions& options) {
  const EinsumShape& shape = *request.equals.front();
  ExchangeSpace space;
  for (std::uint32_t t = 0; t < shape.tensors.size(); ++t)
    if (shape.tensors[t].shared) space.shared_tensor.push_back(t);
  std::map<std::vector<std::int64_t>, std::uint32_t> numbers;
  for (std::uint32_t t = 0; t < templates.size(); ++t) {
    const auto [at, inserted] =
        numbers.try_emplace(skeleton_key(problem, shape, templates[t]),
                            static_cast<std::uint32_t>(space.skeletons.size()));
    space.skeleton_of.push_back(at->second);
    if (inserted) space.skeletons.emplace_back().templ = t;
  }
  std::vector<std::vector<std::uint32_t>> templates_of(space.skeletons.size());
  for (std::uint32_t t = 0; t < templates.size(); ++t)
    templates_of[space.skeleton_of[t]].push_back(t);
  parallel_for(request.threads, space.skeletons.size(), [&](std::size_t k) {
    ExchangeSpace::Skeleton& skeleton = space.skeletons[k];
    const Template& templ = templates[skeleton.templ];
    const std::vector<TripFilter> filters =
        request.filters ? request.filters(templates_of[k]) : std::vector<TripFilter>();
    const std::vector<std::uint32_t> places = fused_places(templ);
    skeleton.n_places = places.size();
    FusedTrips(problem, request, templ, space.shared_tensor, filters, options)
        .for_each([&](const std::vector<std::int64_t>& trips,
                      const std::vector<std::uint64_t>& exchanges) {
          ++skeleton.n_rows;
          for (std::uint32_t place : places) skeleton.trips.push_back(trips[place]);
          for (std::uint32_t tensor : space.shared_tensor)
            skeleton.exchanges.push_back(exchanges[tensor]);
        });
  });
  return space;
}

void keep_rows(const std::vector<std::vector<char>>& wanted, ExchangeSpace* space) {
  const std::size_t n_shared = space->shared_tensor.size();
  for (std::size_t k = 0; k < space->skeletons.size(); ++k) {
    ExchangeSpace::Skeleton& skeleton = space->skeletons[k];
    std::size_t kept = 0;
    for (std::size_t r = 0; r < skeleton.n_rows; ++r) {
      if (!wanted[k][r]) continue;
      std::copy_n(skeleton.trips.data() + r * skeleton.n_places, skeleton.n_places,
                  skeleton.trips.data() + kept * skeleton.n_places);
      std::copy_n(skeleton.exchanges.data() + r * n_shared, n_shared,
                  skeleton.exchanges.data() + kept * n_shared);
      ++kept;
    }
    skeleton.n_rows = kept;
    skeleton.trips.resize(kept * skeleton.n_places);
    skeleton.exchanges.resize(kept * n_shared);
    skeleton.trips.shrink_to_fit();
    skeleton.exchanges.shrink_to_fit();
  }
}

bool has_partners(const ExchangeRequest& request, const ExchangeSpace& space,
                  const std::uint64_t* exchanges) {
  if (request.agreement == nullptr) return true;
  for (const EinsumShape* equal : request.equals) {
    bool agrees = true;
    for (std::size_t t = 0; t < space.shared_tensor.size() && agrees; ++t)
      agrees = request.agreement->allows(equal->tensors[space.shared_tensor[t]].id, exchanges[t]);
    if (agrees) return true;
  }
  return false;
}

Compatibility compatibility_of(const BoundProblem& problem, const EinsumShape& shape,
                               const Template& templ, const std::int64_t* row) {
  std::vector<std::int64_t> trips(templ.loops.size(), 1);
  const std::vector<std::uint32_t> places = fused_places(templ);
  for (std::size_t i = 0; i < places.size(); ++i) trips[places[i]] = row[i];
  return make_compatibility(problem, shape, templ, trips);
}

}  // namespace sluice::fused
