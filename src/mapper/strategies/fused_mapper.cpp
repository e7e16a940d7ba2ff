#include "sluice/mapper/fused_mapper.h"

#include "mapper/common/network_cost.h"
#include "mapper/fused/join/search.h"
#include "sluice/mapper/selection.h"

namespace sluice {

std::string FusedMapper::description() const {
  return "provably optimal fused mappings: partial mappings per Einsum, joined on compatible loops "
         "(FFM)";
}

std::optional<UnpricedPart> FusedMapper::unpriced(const BoundProblem& problem,
                                                  const MapperOptions& options) const {
  if (options.policy != LatencyPolicy::kOverlap)
    return UnpricedPart{"other latency policies than overlap",
                        "--latency " + latency_policy_name(options.policy), "--latency overlap"};
  for (const Component& component : problem.arch.components) {
    const Network* network = std::get_if<Network>(&component.kind);
    if (network && costs(*network))
      return UnpricedPart{
          "networks that cost energy or time", component.name,
          "hop_energy: 0, and implicit_time: none, or link_bandwidth: inf and no latencies"};
    const Container* container = std::get_if<Container>(&component.kind);
    if (container && container->array)
      return UnpricedPart{"arrays that take cycles to fill and drain", component.name, "no array:"};
  }
  return std::nullopt;
}

tl::expected<MapperResult, NoMapping> FusedMapper::map(const BoundProblem& problem,
                                                       const MapperOptions& options,
                                                       const MapperControl& control) const {
  if (auto no = refused_request(*this, problem, options))
    return tl::make_unexpected(std::move(*no));
  return fused::Search(problem, options, control).run();
}

}  // namespace sluice
