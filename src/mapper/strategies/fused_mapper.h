#pragma once

#include "sluice/mapper/mapper.h"

namespace sluice {

/// The optimal mapper (FFM): partial mappings per Einsum, pruned to the front, joined Einsum by
/// Einsum on compatible loops above their shared tensors.
class FusedMapper final : public Mapper {
 public:
  std::string name() const override { return "fused"; }
  std::string description() const override;
  bool wants_walks() const override { return true; }
  bool knows_larger_spaces() const override { return true; }
  bool prices_by_parts() const override { return true; }
  /// Its compiled expressions know the policy overlap only; what they do not know of networks and
  /// arrays: not_compiled().
  std::optional<UnpricedPart> unpriced(const BoundProblem& problem,
                                       const MapperOptions& options) const override;
  tl::expected<MapperResult, NoMapping> map(const BoundProblem& problem,
                                            const MapperOptions& options,
                                            const MapperControl& control) const override;
};

}  // namespace sluice
