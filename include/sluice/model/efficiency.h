#pragma once

#include <optional>
#include <vector>

#include "sluice/model/binding.h"
#include "sluice/model/cost.h"

namespace sluice {

/// How much of what a memory or compute could do a mapping makes it do.
struct Utilisation {
  ComponentId component;
  /// Work of all instances ÷ what they could do during the whole latency. None where the component
  /// has no peak rate: no throughput, or a time that is no sum of rates.
  std::optional<double> of_peak;
  /// Share of the latency during which the busiest instance works, full or not. None where parts of
  /// the component work for several Einsums at once.
  std::optional<double> busy;
  friend bool operator==(const Utilisation&, const Utilisation&) = default;
};

/// Where a mapping stands in the roofline plot of the outermost memory.
struct Roofline {
  ComponentId memory;
  double operations_per_bit = 0;        ///< operational intensity
  double ridge_operations_per_bit = 0;  ///< where the memory's roof meets that of the computes
  double operations_per_s = 0;
  double roof_operations_per_s = 0;  ///< at this intensity
  bool is_compute_bound() const { return operations_per_bit >= ridge_operations_per_bit; }
  friend bool operator==(const Roofline&, const Roofline&) = default;
};

/// What a mapping makes of a machine. Values are left out where a number that they need is unknown.
struct Efficiency {
  double operations = 0;  ///< of the workload: a mul_add is two, moving a value is none
  std::optional<double> operations_per_s;
  std::optional<double> operations_per_j;  ///< 1e12 of them: one TOPS/W
  std::optional<double> power_w;           ///< energy ÷ latency
  std::vector<Utilisation> utilisation;    ///< memories and computes, in document order
  std::optional<Roofline> roofline;  ///< none without rates of computes and memory, or traffic
  friend bool operator==(const Efficiency&, const Efficiency&) = default;
};

/// Operations of a whole workload, all repetitions included.
double operations_of(const Workload& workload);
/// Of one of its Einsums.
double operations_of(const Workload& workload, EinsumId einsum);

Efficiency efficiency(const BoundProblem& problem, const Cost& cost);

}  // namespace sluice
