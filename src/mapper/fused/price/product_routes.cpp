#include <algorithm>
#include <map>
#include <utility>

#include "product_sums.h"
#include "sluice/mapper/mapper.h"

namespace sluice::fused {
namespace {

/// Routes over loops of open trip counts.
class OpenRoutes {
 public:
  OpenRoutes(const RouteQuestion& asked, std::vector<std::uint32_t> numbers,
             std::vector<std::int64_t> sizes, const std::atomic<bool>* cancel)
      : asked_(asked), numbers_(std::move(numbers)), sizes_(std::move(sizes)), cancel_(cancel) {
    const bool takes_time = asked.network.implicit_time != ImplicitTime::kNone;
    hops_ = asked.network.hop_energy_j > 0;
    loads_ = takes_time && asked.network.link_bandwidth != kUnbounded;
    steps_ = takes_time_by_steps(asked.network);
  }

  /// Along a line with these loops, of which `find` says the routes where their trips are known. A
  /// function of several loops is a sum over sets of them: what each set adds, where its loops run
  /// several steps, to what its subsets say. So a set has a term for each choice of its trips, and
  /// says nothing of other loops; as many have several trips at once as the fanout allows.
  template <class Find>
  BasicLineRoutes<ProductSum> along(const std::vector<std::size_t>& loops, const Find& find) const {
    BasicLineRoutes<ProductSum> result;
    std::vector<RouteLoop> chosen(asked_.loops);
    for (RouteLoop& loop : chosen) loop.trips = 1;
    std::vector<std::int64_t> used(asked_.fanouts.size(), 1);
    std::map<std::vector<FixedLoop>, LineRoutes, Ascending> known;
    choose(loops, 0, chosen, used, [&] {
      std::vector<FixedLoop> fixed;
      for (const std::size_t l : loops)
        if (chosen[l].trips > 1) fixed.push_back({numbers_[l], chosen[l].trips});
      std::sort(fixed.begin(), fixed.end(), is_before);
      LineRoutes added = find(chosen);
      for_each_less(fixed, [&](const std::vector<FixedLoop>& less) {
        const auto before = known.find(less);  // all but those that were cancelled
        if (before != known.end()) take_off(before->second, added);
      });
      add(added, fixed, result);
      known.emplace(std::move(fixed), std::move(added));
    });
    return result;
  }

  /// Product of the loops of one line with this `distinct`.
  ProductSum product(const std::vector<std::size_t>& loops, bool distinct) const {
    ProductTerm term;
    for (const std::size_t l : loops)
      if (asked_.loops[l].distinct == distinct) term.monomial.loops.add(numbers_[l]);
    return {term};
  }

  std::vector<std::size_t> loops_over(std::uint32_t dimension) const {
    std::vector<std::size_t> loops;
    for (std::size_t l = 0; l < asked_.loops.size(); ++l)
      if (asked_.loops[l].dimension == dimension) loops.push_back(l);
    return loops;
  }

 private:
  static bool is_before(const FixedLoop& a, const FixedLoop& b) {
    return a.loop != b.loop ? a.loop < b.loop : a.trips < b.trips;
  }
  struct Ascending {
    bool operator()(const std::vector<FixedLoop>& a, const std::vector<FixedLoop>& b) const {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), is_before);
    }
  };

  /// Calls `body` with each set of some of the loops, but not of all.
  template <class Body>
  static void for_each_less(const std::vector<FixedLoop>& loops, const Body& body) {
    const std::uint64_t all = (std::uint64_t{1} << loops.size()) - 1;
    std::vector<FixedLoop> some;
    for (std::uint64_t set = 0; set < all; ++set) {
      some.clear();
      for (std::size_t l = 0; l < loops.size(); ++l)
        if ((set >> l & 1) != 0) some.push_back(loops[l]);
      body(some);
    }
  }

  static void take_off(const LineRoutes& known, LineRoutes& routes) {
    routes.half_hops -= known.half_hops;
    routes.longest -= known.longest;
    routes.loads.resize(std::max(routes.loads.size(), known.loads.size()));
    for (std::size_t link = 0; link < known.loads.size(); ++link)
      routes.loads[link] -= known.loads[link];
  }

  /// Trips that divide the variables and fit into the fanouts together.
  template <class Body>
  void choose(const std::vector<std::size_t>& loops, std::size_t position,
              std::vector<RouteLoop>& chosen, std::vector<std::int64_t>& used,
              const Body& body) const {
    if (is_cancelled(cancel_)) return;
    if (position == loops.size()) return body();
    const std::size_t l = loops[position];
    const std::uint32_t d = chosen[l].dimension;
    for (std::int64_t trips = 1; trips <= asked_.fanouts[d] / used[d]; ++trips) {
      if (sizes_[l] % trips != 0) continue;
      chosen[l].trips = trips;
      used[d] *= trips;
      choose(loops, position + 1, chosen, used, body);
      used[d] /= trips;
    }
    chosen[l].trips = 1;
  }

  void add(const LineRoutes& routes, const std::vector<FixedLoop>& fixed,
           BasicLineRoutes<ProductSum>& result) const {
    ProductTerm term;
    term.monomial.fixed = fixed;
    const auto put = [&](bool wanted, std::int64_t value, ProductSum& sum) {
      if (!wanted || value == 0) return;
      term.coefficient = static_cast<double>(value);
      sum.push_back(term);
    };
    put(hops_, routes.half_hops, result.half_hops);
    put(steps_, routes.longest, result.longest);
    result.loads.resize(std::max(result.loads.size(), routes.loads.size()));
    for (std::size_t link = 0; link < routes.loads.size(); ++link)
      put(loads_, routes.loads[link], result.loads[link]);
  }

  const RouteQuestion& asked_;
  const std::vector<std::uint32_t> numbers_;  ///< in loop sets, per loop asked
  const std::vector<std::int64_t> sizes_;     ///< of its variable
  const std::atomic<bool>* cancel_;
  bool hops_ = false, loads_ = false, steps_ = false;  ///< what costs something
};

BasicRoutes<ProductSum> as_routes(BasicLineRoutes<ProductSum> along) {
  BasicRoutes<ProductSum> routes;
  routes.half_hops = std::move(along.half_hops);
  routes.longest_route = std::move(along.longest);
  routes.entry_loads = std::move(along.loads);
  return routes;
}

LineRoutes as_line(const Routes& routes) {
  LineRoutes line;
  line.half_hops = routes.half_hops;
  line.longest = routes.longest_route;
  line.loads = routes.entry_loads;
  return line;
}

}  // namespace

BasicRoutes<ProductSum> ProductSums::routes(const RouteQuestion& asked,
                                            const std::vector<int>& nest_loops) const {
  std::vector<std::uint32_t> numbers;
  std::vector<std::int64_t> sizes;
  std::vector<std::size_t> all;
  for (const int l : nest_loops) {
    const auto place = static_cast<std::size_t>(l);
    all.push_back(numbers.size());
    numbers.push_back(nest_.number_of_loop[place]);
    sizes.push_back(shape_.sizes[static_cast<std::size_t>(nest_.tree.loops[place].variable)]);
  }
  const OpenRoutes open(asked, std::move(numbers), std::move(sizes), cancel_);
  const auto question = [&](const std::vector<RouteLoop>& loops) {
    return RouteQuestion{asked.network, asked.fanouts, loops, asked.first, asked.gathers};
  };
  BasicRoutes<ProductSum> routes;
  if (go_by_dimension(asked.network)) {
    std::vector<RouteLine<ProductSum>> lines;
    const std::vector<std::int64_t> entry = doubled_entry(asked.network, asked.fanouts);
    for (std::uint32_t d = 0; d < asked.fanouts.size(); ++d) {
      const std::vector<std::size_t> loops = open.loops_over(d);
      const auto find = [&](const std::vector<RouteLoop>& chosen) {
        return routes_along(question(chosen), d);
      };
      lines.push_back({open.along(loops, find), open.product(loops, true),
                       open.product(loops, false), entry[d] == 0});
    }
    routes = join_lines(*this, lines);
  } else {
    routes = as_routes(open.along(all, [&](const std::vector<RouteLoop>& chosen) {
      return as_line(routes_of(question(chosen)));
    }));
  }
  routes.groups = open.product(all, true);
  routes.deliveries = multiply(routes.groups, open.product(all, false));
  return routes;
}

}  // namespace sluice::fused
