#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oracle/nest.h"
#include "sluice/mapper/mapper.h"
#include "sluice/model/evaluate.h"

namespace sluice::oracle {

/// The brute-force referee of the fused mapper: it walks the whole space of docs (mapping one nest
/// per Einsum, joined into one LoopTree), prices every mapping with `evaluate`, and knows nothing
/// of the mapper. What it leaves out is listed in tests/oracle/README.md, each with the reason.

struct EnumerationLimits {
  std::int64_t max_nests = 200'000;        ///< per Einsum, before equal ones are merged
  std::int64_t max_evaluations = 100'000;  ///< single nests and full mappings priced
  /// Run so many full mappings literally, spread over the enumeration.
  std::int64_t executions = 0;
  /// Keep every nest of an Einsum, not only those that no exchangeable one beats in everything.
  bool keep_dominated_nests = false;
};

/// A point of the objective space: energy, latency and the peak bits of every memory with a finite
/// size.
struct Point {
  double energy_j = 0;
  double latency_s = 0;
  std::vector<double> peak_bits;
  friend bool operator==(const Point&, const Point&) = default;
  friend auto operator<=>(const Point&, const Point&) = default;
};

struct PricedMapping {
  Mapping mapping;
  Point point;
};

struct Enumeration {
  bool exceeded = false;                 ///< a limit was reached: the rest is meaningless
  std::vector<std::int64_t> nests;       ///< distinct nests that fit, per Einsum
  std::vector<std::int64_t> candidates;  ///< of those, the ones joined, per Einsum
  std::int64_t full_mappings = 0;        ///< complete mappings priced
  std::int64_t valid_mappings = 0;       ///< of those, the ones that fit
  /// Absent where nothing is legal.
  std::optional<PricedMapping> best_energy, best_latency, best_edp;
  std::vector<Point> energy_latency_front;  ///< ascending, distinct, without peak bits
  std::vector<Point> full_front;            ///< with peak bits as criteria
  /// Mappings of the space that `evaluate` refuses for another reason than capacity (the first
  /// few).
  std::vector<std::string> refusals;
  /// Full mappings that do not run as the model says (the first few).
  std::vector<std::string> executed_otherwise;
  /// Full mappings whose price is not the sum of their Einsums' own prices (the first few).
  std::vector<std::string> non_additive;
};

Enumeration enumerate(const BoundProblem& problem, const MapperOptions& options,
                      const EnumerationLimits& limits = {});

/// Enumeration::full_front's criteria for a cost.
Point point_of(const Cost& cost);

/// a is at least as good in every criterion.
bool dominates(const Point& a, const Point& b);

/// The points that no other one dominates, ascending, distinct.
std::vector<Point> pareto_front(std::vector<Point> points);

}  // namespace sluice::oracle
