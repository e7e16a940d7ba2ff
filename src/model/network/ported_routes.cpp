#include "model/network/ported_routes.h"

#include <algorithm>

#include "model/network/network_packed.h"
#include "model/topology/ports.h"
#include "sluice/support/checked.h"

namespace sluice {
namespace {

/// Where the instances of loops stand.
class Placing {
 public:
  explicit Placing(const RouteQuestion& asked)
      : asked_(asked),
        packed_(asked.network.layout == NodeLayout::kPacked &&
                !fills_dimensions(asked.fanouts, asked.loops)) {}

  /// The steps of loops with this `distinct`; with `steps`, only those.
  std::vector<std::vector<std::int64_t>> choices(bool distinct,
                                                 const std::vector<std::int64_t>* steps) const {
    std::vector<std::vector<std::int64_t>> all = {
        std::vector<std::int64_t>(asked_.loops.size(), 0)};
    for (std::size_t l = 0; l < asked_.loops.size(); ++l) {
      if (asked_.loops[l].distinct != distinct) continue;
      std::vector<std::vector<std::int64_t>> next;
      const std::int64_t first = steps ? (*steps)[l] : 0;
      const std::int64_t end = steps ? first + 1 : asked_.loops[l].trips;
      for (const std::vector<std::int64_t>& choice : all)
        for (std::int64_t step = first; step < end; ++step) {
          next.push_back(choice);
          next.back()[l] = step;
        }
      all = std::move(next);
    }
    return all;
  }

  Coordinates node(const std::vector<std::int64_t>& group,
                   const std::vector<std::int64_t>& member) const {
    Coordinates node(asked_.fanouts.size(), 0);
    std::int64_t number = 0;
    for (std::size_t l = 0; l < asked_.loops.size(); ++l) {
      const RouteLoop& loop = asked_.loops[l];
      const std::int64_t step = group[l] + member[l];
      node[loop.dimension] = node[loop.dimension] * loop.trips + step;
      number = number * loop.trips + step;
    }
    for (std::size_t d = 0; d < node.size(); ++d) {
      if (packed_) node[d] = number % asked_.fanouts[d];
      number /= asked_.fanouts[d];
      if (!asked_.first.empty()) node[d] += asked_.first[d];
    }
    return node;
  }

 private:
  const RouteQuestion& asked_;
  bool packed_;
};

}  // namespace

Routes ported_routes(const RouteQuestion& asked, const std::vector<std::int64_t>* steps) {
  const Placing placing(asked);
  const PortRoutes ports(asked.network, asked.fanouts);
  const auto members = placing.choices(false, nullptr);
  const auto groups = placing.choices(true, steps);
  Routes routes;
  routes.groups = static_cast<std::int64_t>(groups.size());
  routes.deliveries = checked_multiply(routes.groups, static_cast<std::int64_t>(members.size()));
  for (const std::vector<std::int64_t>& group : groups) {
    std::vector<Coordinates> nodes;
    for (const std::vector<std::int64_t>& member : members)
      nodes.push_back(placing.node(group, member));
    const SharedRoutes shared = ports.to(std::move(nodes), asked.gathers);
    routes.half_hops =
        checked_add(routes.half_hops, 2 * static_cast<std::int64_t>(shared.links.size()));
    routes.longest_route = std::max(routes.longest_route, shared.longest);
    for (const std::int64_t link : shared.links) {
      const auto place = static_cast<std::size_t>(link);
      if (routes.entry_loads.size() <= place) routes.entry_loads.resize(place + 1);
      ++routes.entry_loads[place];
    }
  }
  return routes;
}

}  // namespace sluice
