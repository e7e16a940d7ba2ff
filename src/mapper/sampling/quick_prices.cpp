#include "quick_prices.h"

#include <algorithm>
#include <utility>

#include "mapper/common/network_cost.h"
#include "mapper/request/refusal.h"
#include "model/bind/divisors.h"
#include "model/network/network_routes.h"

namespace sluice::sampling {
namespace {

/// In how many ways loops may share out so many instances, each of one of the trips of its list,
/// from one list on; counted up to `most`.
double ways_to_share(const std::vector<std::vector<std::int64_t>>& trips, std::size_t first,
                     std::int64_t instances, double most) {
  if (first == trips.size() || instances == 1) return 1;
  double ways = 0;
  for (const std::int64_t own : trips[first])
    if (own <= instances && ways < most)
      ways += ways_to_share(trips, first + 1, instances / own, most - ways);
  return ways;
}

/// Whether it takes longer to compile some network's routes for one template than prices by the
/// model do: along all dimensions together, for all trip counts that there are.
bool has_long_routes(const BoundProblem& problem) {
  constexpr double kFewWays = 1000;
  const auto are_long = [&](const BoundEinsum& own, const PathNetwork& at) {
    const auto& network = std::get<Network>(problem.arch[at.network].kind);
    if (!at.fanned || !costs(network) || go_by_dimension(network)) return false;
    std::vector<std::vector<std::int64_t>> trips;
    for (const VariableRange& range : problem.workload[own.einsum].iteration_space)
      trips.push_back(divisors_of(range.size));
    double ways = 1;
    for (const SpatialDimension& dimension : problem.arch[*at.fanned].spatial)
      ways *= ways_to_share(trips, 0, dimension.fanout, 2 * kFewWays);
    return ways > kFewWays;
  };
  return std::any_of(problem.einsums.begin(), problem.einsums.end(), [&](const BoundEinsum& own) {
    return std::any_of(own.computes.begin(), own.computes.end(), [&](const BoundCompute& compute) {
      return std::any_of(compute.networks.begin(), compute.networks.end(),
                         [&](const PathNetwork& at) { return are_long(own, at); });
    });
  });
}

}  // namespace

struct QuickPrices::Known {
  Known(const BoundProblem& problem, const fused::EinsumShape& shape, fused::Template own,
        const std::atomic<bool>* cancel)
      : templ(std::move(own)), price(problem, shape, templ, cancel) {}

  fused::Template templ;
  fused::TemplatePrice price;
};

QuickPrices::~QuickPrices() = default;

QuickPrices::QuickPrices(const MapSpace& space)
    : space_(space),
      knows_all_(!not_compiled(space.problem(), space.options()) &&
                 !has_long_routes(space.problem())),
      are_exact_(!has_whole_actions(space.problem().arch)) {}

fused::TemplatePrice* QuickPrices::of(std::size_t e, std::uint32_t templ) {
  constexpr std::size_t kMost = 256;  // of some 100 KB each
  if (!knows_all_ || space_.shape(e).is_copy) return nullptr;
  if (known_.size() >= kMost) known_.clear();
  std::unique_ptr<Known>& known = known_[{space_.list_of(e), templ}];
  if (!known)
    known = std::make_unique<Known>(space_.problem(), space_.shape(e), space_.templates(e)[templ],
                                    space_.cancel());
  return &known->price;
}

}  // namespace sluice::sampling
