#pragma once

#include "sluice/mapper/registry.h"
#include "sluice/mapper/selection.h"

namespace sluice {

/// Cuts a network into layers (layer_starts), maps each canonical shape once, with the mapper that
/// default_mapper chooses, and composes the mapping of the whole (docs/mappers.md, "Layer by
/// layer"). All that layers exchange goes through the outermost memory. Its time hardly depends on
/// how often layers are repeated. What it finds is the optimum of no space: each layer is the best
/// alone for the objective, and energy times latency of a sum is not the sum of such products; the
/// guarantee has the bound of all mappings. A network of one layer is mapped as the layer's mapper
/// maps it.
class LayersMapper : public Mapper {
 public:
  std::string name() const override { return "layers"; }
  std::string description() const override;
  bool makes_concurrent_splits() const override { return true; }  // of layers, where they pay
  bool knows_larger_spaces() const override { return true; }
  std::optional<UnpricedPart> unpriced(const BoundProblem& problem,
                                       const MapperOptions& options) const override;
  tl::expected<MapperResult, NoMapping> map(const BoundProblem& problem,
                                            const MapperOptions& options,
                                            const MapperControl& control) const override;
};

/// The standard mappers and `layers`.
const MapperRegistry& all_mappers();

/// As default_mapper; for more than 64 Einsums of which some layers are equal it begins with
/// `layers`, where that can do what is asked. `layers` alone for more than 512 of them without a
/// budget of time.
MapperChoice default_network_mapper(const BoundProblem& problem, const MapperOptions& options);

}  // namespace sluice
