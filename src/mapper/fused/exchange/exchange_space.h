#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "exchange.h"
#include "mapper/space/compatibility.h"
#include "trip_filter.h"

namespace sluice::fused {

/// Ways in which one Einsum can exchange its shared tensors with others, found from the fused loops
/// alone, before any tile shape is priced. A superset of what is legal.
struct ExchangeSpace {
  /// Choices of the fused loops of all templates whose fused loops and backing nodes look alike.
  struct Skeleton {
    std::uint32_t templ = 0;               ///< one of these templates
    std::size_t n_places = 0, n_rows = 0;  ///< fused loop places; choices
    std::vector<std::int64_t> trips;       ///< per row: trip counts of the places, in item order
    std::vector<std::uint64_t> exchanges;  ///< per row: of each shared tensor (exchange.h)
    const std::int64_t* row(std::size_t r) const { return trips.data() + r * n_places; }
  };
  std::vector<Skeleton> skeletons;
  std::vector<std::uint32_t> skeleton_of;    ///< per template
  std::vector<std::uint32_t> shared_tensor;  ///< local index of each shared tensor
};

/// The fused loop places of a template, in item order.
std::vector<std::uint32_t> fused_places(const Template& templ);

/// What is asked of the exchanges of an Einsum and those equal to it.
struct ExchangeRequest {
  std::vector<const EinsumShape*> equals;  ///< the Einsum itself first
  const ExchangeAgreement* agreement = nullptr;
  /// What is known of the fused loops of a skeleton with these templates, no place in two filters;
  /// may be missing. Called on several threads.
  std::function<std::vector<TripFilter>(const std::vector<std::uint32_t>& templates)> filters;
  bool coarse = false;  ///< for a scout: each fused loop is complete or near the square root
  int threads = 1;
  const std::atomic<bool>* cancel = nullptr;  ///< once it is set, rows are left out
};

ExchangeSpace make_exchange_space(const BoundProblem& problem, const ExchangeRequest& request,
                                  const std::vector<Template>& templates,
                                  const MapperOptions& options);

/// Drops the rows that are not `wanted` (per skeleton and row).
void keep_rows(const std::vector<std::vector<char>>& wanted, ExchangeSpace* space);

/// Whether some of the equal Einsums has partners for all exchanges of a row.
bool has_partners(const ExchangeRequest& request, const ExchangeSpace& space,
                  const std::uint64_t* exchanges);

/// The compatibility of a row of a skeleton.
Compatibility compatibility_of(const BoundProblem& problem, const EinsumShape& shape,
                               const Template& templ, const std::int64_t* row);

}  // namespace sluice::fused
