#pragma once

#include <cstdint>
#include <vector>

#include "compatibility.h"
#include "exchange.h"

namespace sluice::fused {

/// Ways in which one Einsum can exchange its shared tensors with others: its compatibilities, found
/// from the fused loops alone, before any tile shape is priced. A superset of what is legal.
struct ExchangeSpace {
  using Trips = std::vector<std::int64_t>;

  /// Templates whose fused loops and backing nodes look alike.
  struct Skeleton {
    std::vector<Trips> trips;          ///< per choice: of the fused loop places, in item order
    std::vector<std::uint32_t> group;  ///< per choice: index into `compatibilities`
  };
  std::vector<Compatibility> compatibilities;
  std::vector<TensorId> tensors;         ///< the shared ones
  std::vector<std::uint64_t> exchanges;  ///< per compatibility and shared tensor
  std::vector<Skeleton> skeletons;
  std::vector<std::uint32_t> skeleton_of;  ///< per template
};

/// The fused loop places of a template, in item order.
std::vector<std::uint32_t> fused_places(const Template& templ);

/// What is asked of the exchanges of an Einsum and those equal to it.
struct ExchangeRequest {
  std::vector<const EinsumShape*> equals;  ///< the Einsum itself first
  const ExchangeAgreement* agreement = nullptr;
  /// For a scout: each fused loop is complete or near the square root.
  bool coarse = false;
};

ExchangeSpace make_exchange_space(const BoundProblem& problem, const ExchangeRequest& request,
                                  const std::vector<Template>& templates,
                                  const MapperOptions& options);

}  // namespace sluice::fused
