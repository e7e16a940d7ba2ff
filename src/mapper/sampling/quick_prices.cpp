#include "quick_prices.h"

#include <algorithm>
#include <utility>

#include "mapper/common/network_cost.h"
#include "mapper/request/refusal.h"
#include "model/network/network_routes.h"

namespace sluice::sampling {
namespace {

/// Whether some network's routes take seconds to compile for one template: along all dimensions
/// together, for all trip counts that many instances have.
bool has_long_routes(const BoundProblem& problem) {
  constexpr double kFewInstances = 64;
  const auto are_long = [&](const PathNetwork& at) {
    const auto& network = std::get<Network>(problem.arch[at.network].kind);
    if (!at.fanned || !costs(network) || go_by_dimension(network)) return false;
    double instances = 1;
    for (const SpatialDimension& dimension : problem.arch[*at.fanned].spatial)
      instances *= static_cast<double>(dimension.fanout);
    return instances > kFewInstances;
  };
  return std::any_of(problem.einsums.begin(), problem.einsums.end(), [&](const BoundEinsum& own) {
    return std::any_of(own.computes.begin(), own.computes.end(), [&](const BoundCompute& compute) {
      return std::any_of(compute.networks.begin(), compute.networks.end(), are_long);
    });
  });
}

}  // namespace

struct QuickPrices::Known {
  Known(const BoundProblem& problem, const fused::EinsumShape& shape, fused::Template own)
      : templ(std::move(own)), price(problem, shape, templ) {}

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
    known = std::make_unique<Known>(space_.problem(), space_.shape(e), space_.templates(e)[templ]);
  return &known->price;
}

}  // namespace sluice::sampling
