#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "class_factor.h"
#include "cost_program.h"

namespace sluice::fused {

/// What tile shapes of one template cost, one after the other: its cost program, evaluated as it
/// is, for searches that look at few of them. Prices as `fused` does, of the Einsum alone. A shape
/// that differs from the last one in the loops of few variables costs less than a microsecond.
/// Problem, shape and template must outlive it. Not safe to share between threads.
class TemplatePrice {
 public:
  /// Once `cancel` (may be null) is set, prices are too low.
  TemplatePrice(const BoundProblem& problem, const EinsumShape& shape, const Template& templ,
                const std::atomic<bool>* cancel = nullptr);
  TemplatePrice(const TemplatePrice&) = delete;
  TemplatePrice& operator=(const TemplatePrice&) = delete;

  struct Price {
    double energy_j = 0, latency_s = 0;
  };
  /// `trips`: per loop place of the template. Nothing where a memory or a fanout is exceeded, or
  /// where another template stands for the shape.
  std::optional<Price> of(const std::vector<std::int64_t>& trips);

 private:
  /// A class of variables with what depends on its loops.
  struct Part {
    std::vector<std::int64_t> trips;  ///< of the last shape, per loop of the class
    std::vector<ClassFactor> factors;
    std::vector<double> values;  ///< of the factors, for these trips; empty: not known
    std::vector<std::pair<std::uint32_t, std::uint32_t>> uses;  ///< monomial, its factor
  };

  void add_factors(const BoundEinsum& bound, const EinsumShape& shape, const Template& templ,
                   std::size_t cls);
  void look_at(const std::vector<std::int64_t>& trips);
  double value(const Row& row) const;

  std::vector<VariableClass> classes_;
  CostProgram program_;
  std::vector<Part> parts_;       ///< per class
  std::vector<double> products_;  ///< per monomial
};

}  // namespace sluice::fused
