#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "cost_program.h"
#include "mapper/common/network_cost.h"
#include "model/network/network_routes.h"
#include "model/tree/nest.h"
#include "model/visits/visit_sum.h"

namespace sluice::fused {

/// Σ coefficient · monomial: a count of a template with its tile shapes open.
struct ProductTerm {
  double coefficient = 1;
  Monomial monomial;
};
using ProductSum = std::vector<ProductTerm>;

/// A template as a nest of the model: a loop for each class loop, in the order of the template. It
/// has places of nodes and loops, but no sizes: its tiles count as dividing evenly, as
/// MonomialFactor sees to the others.
struct TemplateNest {
  FlatTree tree;                              ///< of this one nest
  std::vector<std::uint32_t> number_of_loop;  ///< in loop sets, per loop of the nest

  TemplateNest(const BoundProblem& problem, const EinsumShape& shape, const Template& templ,
               const std::vector<VariableClass>& classes);
  const Nest& nest() const { return tree.nests.front(); }
};

/// Arithmetic for the model's AccessCounter (model/traffic/access_counter.h): counts are sums of
/// products over variable classes.
class ProductSums {
 public:
  using Value = ProductSum;

  /// `cancel`: once it is set, routes are left out; may be null.
  ProductSums(const BoundProblem& problem, const EinsumShape& shape, const TemplateNest& nest,
              const std::atomic<bool>* cancel)
      : bound_(problem[shape.einsum]), shape_(shape), nest_(nest), cancel_(cancel) {}

  /// Trip count of one class loop.
  struct Trips {
    std::uint32_t loop;
  };
  Trips trips(const FlatTree&, std::uint32_t, int l) const {
    return {nest_.number_of_loop[static_cast<std::size_t>(l)]};
  }
  Value constant(std::int64_t value) const {
    if (value == 0) return {};
    return {{static_cast<double>(value), Monomial{}}};
  }
  Value volume(const FlatTree&, const NestStorage& storage, const BoundAccess& access) const;
  Value multiply(Value a, Trips b) const {
    for (ProductTerm& term : a) term.monomial.loops.add(b.loop);
    return a;
  }
  Value multiply(Value a, const Value& b) const;
  Value add(Value a, const Value& b) const { return sum(std::move(a), b, 1); }
  Value subtract(Value a, const Value& b) const { return sum(std::move(a), b, -1); }
  /// What the tiles of the united loops cover.
  Value first_sights(const Visits& visits) const;
  Value visit_sum(const Visits& visits) const;
  Value visits_of_new_tiles(const Visits& visits) const;
  /// The value, or 0 where no loop over the component runs more than once.
  Value where_spread(const Nest& nest, ComponentId component, const Value& value) const;
  /// What costs nothing need not be counted.
  static bool counts(const Network& network) { return costs(network); }
  /// No node of such a template sinks: it has its steps from the loops above it.
  static bool counts_steps(const Network& network) { return takes_time_by_steps(network); }
  /// Routes are no product of trip counts: a sum over what the loops along a line may run.
  BasicRoutes<Value> routes(const RouteQuestion& asked, const std::vector<int>& nest_loops) const;
  Value refuse() const;

 private:
  static Value sum(Value a, const Value& b, double sign);
  Value tile(const NestStorage* storage, const BoundAccess& access) const;

  const BoundEinsum& bound_;
  const EinsumShape& shape_;
  const TemplateNest& nest_;
  const std::atomic<bool>* cancel_;
};

/// Extents of an access's indices that no variable of several values moves: no class knows them.
double extent_without_loops(const EinsumShape& shape, const BoundAccess& access, bool whole);

}  // namespace sluice::fused
