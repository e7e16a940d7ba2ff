#include "model/network/network_packed.h"

#include <algorithm>

#include "sluice/support/checked.h"

namespace sluice {
namespace {

/// Numbers of instances that the loops with this `distinct` reach; with `steps`, only that one.
std::vector<std::int64_t> numbers_of(const std::vector<RouteLoop>& loops, bool distinct,
                                     const std::vector<std::int64_t>* steps) {
  std::vector<std::int64_t> numbers = {0};
  std::int64_t stride = 1;
  for (std::size_t l = loops.size(); l-- > 0;) {
    if (loops[l].distinct == distinct) {
      std::vector<std::int64_t> next;
      for (const std::int64_t number : numbers) {
        if (steps) next.push_back(number + (*steps)[l] * stride);
        for (std::int64_t step = 0; !steps && step < loops[l].trips; ++step)
          next.push_back(number + step * stride);
      }
      numbers = std::move(next);
    }
    stride = checked_multiply(stride, loops[l].trips);
  }
  return numbers;
}

/// How far the routes of one group run along a dimension, either way, from one node that they have
/// reached along the dimensions before: twice the hops.
struct Reached {
  std::int64_t forward = -1, backward = -1;  ///< below 0: the routes do not come here
};

/// Joins the routes to the nodes of one group after another.
class Joiner {
 public:
  Joiner(const std::vector<std::int64_t>& fanouts, std::vector<std::int64_t> entry)
      : fanouts_(fanouts), entry_(std::move(entry)), reached_(fanouts.size()) {
    std::int64_t before = 1;
    std::int64_t entry_number = 0;
    bool is_node = true;
    for (std::size_t d = 0; d < fanouts.size(); ++d) {
      reached_[d].resize(static_cast<std::size_t>(before));
      entry_number_.push_back(is_node ? entry_number : -1);
      is_node &= entry_[d] % 2 == 0;
      entry_number += entry_[d] / 2 * before;
      before = checked_multiply(before, fanouts[d]);
    }
    routes_.entry_loads.assign(2 * fanouts.size(), 0);
  }

  void add_group(std::int64_t base, const std::vector<std::int64_t>& members) {
    for (const std::int64_t member : members) visit(base + member);
    for (std::size_t d = 0; d < reached_.size(); ++d) {
      for (std::size_t from = 0; from < reached_[d].size(); ++from) {
        Reached& reach = reached_[d][from];
        if (reach.forward < 0) continue;
        routes_.half_hops = checked_add(routes_.half_hops, reach.forward + reach.backward);
        if (static_cast<std::int64_t>(from) == entry_number_[d]) {
          routes_.entry_loads[2 * d] += reach.forward > 0 ? 1 : 0;
          routes_.entry_loads[2 * d + 1] += reach.backward > 0 ? 1 : 0;
        }
        reach = Reached{};
      }
    }
  }

  Routes routes() const { return routes_; }

 private:
  /// The nodes with equal coordinates before dimension d have equal numbers modulo those before d.
  void visit(std::int64_t number) {
    std::int64_t before = 1;
    std::int64_t route = 0;
    for (std::size_t d = 0; d < fanouts_.size(); ++d) {
      const std::int64_t ahead = 2 * (number / before % fanouts_[d]) - entry_[d];
      Reached& reach = reached_[d][static_cast<std::size_t>(number % before)];
      reach.forward = std::max({reach.forward, ahead, std::int64_t{0}});
      reach.backward = std::max({reach.backward, -ahead, std::int64_t{0}});
      route += ((ahead < 0 ? -ahead : ahead) + 1) / 2;
      before *= fanouts_[d];
    }
    routes_.longest_route = std::max(routes_.longest_route, route);
  }

  const std::vector<std::int64_t>& fanouts_;
  std::vector<std::int64_t> entry_;            ///< twice its coordinates
  std::vector<std::vector<Reached>> reached_;  ///< by dimension and node of those before it
  std::vector<std::int64_t> entry_number_;     ///< of the entry there; -1 between two nodes
  Routes routes_;
};

}  // namespace

bool fills_dimensions(const std::vector<std::int64_t>& fanouts,
                      const std::vector<RouteLoop>& loops) {
  std::uint32_t dimension = 0;
  std::int64_t used = 1;
  for (std::size_t l = loops.size(); l-- > 0;) {
    if (loops[l].trips == 1) continue;
    for (; dimension < loops[l].dimension; ++dimension, used = 1)
      if (used != fanouts[dimension]) return false;
    if (dimension != loops[l].dimension) return false;
    used = checked_multiply(used, loops[l].trips);
  }
  return true;
}

Routes packed_routes(const Network& network, const std::vector<std::int64_t>& fanouts,
                     const std::vector<RouteLoop>& loops, const std::vector<std::int64_t>* steps) {
  Joiner joiner(fanouts, doubled_entry(network, fanouts));
  const std::vector<std::int64_t> members = numbers_of(loops, false, nullptr);
  const std::vector<std::int64_t> groups = numbers_of(loops, true, steps);
  for (const std::int64_t group : groups) joiner.add_group(group, members);
  Routes routes = joiner.routes();
  routes.groups = static_cast<std::int64_t>(groups.size());
  routes.deliveries = checked_multiply(routes.groups, static_cast<std::int64_t>(members.size()));
  return routes;
}

}  // namespace sluice
