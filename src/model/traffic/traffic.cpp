#include "model/traffic/traffic.h"

#include "model/traffic/access_counter.h"
#include "model/tree/finish_nests.h"

namespace sluice {
namespace {

/// Counts are numbers.
struct Numbers {
  using Value = std::int64_t;
  Value constant(std::int64_t value) const { return value; }
  Value trips(const FlatTree& tree, std::uint32_t loops_begin, int l) const {
    return tree.loops[loops_begin + static_cast<std::uint32_t>(l)].trips;
  }
  Value volume(const FlatTree& tree, const NestStorage& storage, const BoundAccess& access) const {
    return tile_volume(access, tree.tiles_at(storage));
  }
  Value multiply(Value a, Value b) const { return checked_multiply(a, b); }
  Value add(Value a, Value b) const { return checked_add(a, b); }
  Value subtract(Value a, Value b) const { return a - b; }
  Value first_sights(const Visits& visits) const {
    return sluice::first_sights(visits.loops, visits.effects.data(), visits.n_loops(),
                                visits.access, visits.ranges, visits.steps);
  }
  Value visit_sum(const Visits& visits) const {
    return sluice::visit_sum(visits.loops, visits.effects.data(), visits.n_loops(), visits.access,
                             visits.ranges, visits.steps);
  }
  Value visits_of_new_tiles(const Visits& visits) const {
    return sluice::visits_of_new_tiles(visits.loops, visits.effects.data(), visits.n_loops(),
                                       visits.access, visits.ranges);
  }
  /// A tree has loops over the component; templates may have them or not.
  static Value where_spread(const Nest&, ComponentId, Value value) { return value; }
  static bool counts(const Network&) { return true; }
  static bool counts_steps(const Network&) { return true; }
  Routes routes(const RouteQuestion& asked, const std::vector<int>& /*nest_loops*/) const {
    return routes_of(asked);
  }
};

}  // namespace

void count_traffic(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                   bool with_padding, NestTraffic* result) {
  Numbers numbers;
  result->padding_values = 0;
  count_nest(numbers, problem, tree, nest, with_padding ? &result->padding_values : nullptr,
             *result);
}

}  // namespace sluice
