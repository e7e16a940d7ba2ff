#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "monomial_factor.h"
#include "seen_factor.h"

namespace sluice::fused {

/// What a monomial's factor in a class depends on: equal keys are equal factors, also of other
/// templates with the same loops of the class.
std::vector<std::int64_t> factor_key(const BoundEinsum& bound, const Template& templ,
                                     const VariableClass& cls, const Monomial& monomial);

/// A monomial's factor in one class, of whichever kind it is. The class and the shape must outlive
/// it.
class ClassFactor {
 public:
  ClassFactor(const BoundEinsum& bound, const EinsumShape& shape, const Template& templ,
              const VariableClass& cls, const Monomial& monomial);

  /// For one state of the class's loops. Not safe to share between threads.
  double of(const std::int64_t* trips);
  /// For all states; once `cancel` (may be null) is set, some are 0.
  std::vector<double> of_all(const ClassStates& states, const std::atomic<bool>* cancel);

 private:
  std::vector<std::pair<std::size_t, std::int64_t>> fixed_;  ///< loops of the class, their trips
  std::optional<MonomialFactor> plain_;
  std::optional<SeenFactor> seen_;
};

}  // namespace sluice::fused
