#pragma once

#include "sluice/mapper/mapper.h"

namespace sluice {

/// Cascades spread over clusters and cores: groups of consecutive Einsums below common loops, with
/// the collectives that their sums need, pipelined or one after the other; under every latency
/// policy, with networks and array cycles (docs/mappers.md, "The compound space"; COMET §IV, whose
/// space it takes further). Optimal where the space is small enough to be looked at as a whole;
/// elsewhere the likely part of it, and the guarantee is a gap.
class CompoundMapper : public Mapper {
 public:
  std::string name() const override { return "compound"; }
  std::string description() const override;
  bool wants_walks() const override { return true; }
  bool knows_larger_spaces() const override { return true; }
  bool makes_collectives() const override { return true; }
  bool makes_concurrent_splits() const override { return true; }
  bool makes_incremental_nodes() const override { return true; }
  std::optional<UnpricedPart> unpriced(const BoundProblem& problem,
                                       const MapperOptions& options) const override;
  tl::expected<MapperResult, NoMapping> map(const BoundProblem& problem,
                                            const MapperOptions& options,
                                            const MapperControl& control) const override;
};

}  // namespace sluice
