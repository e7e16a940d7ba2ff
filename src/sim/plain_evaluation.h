#pragma once

#include <map>
#include <optional>
#include <vector>

#include "input_numbers.h"

namespace sluice::sim {

/// The value of any element by its definition: what is reduced over all points that write it. Each
/// is worked out once, when somebody asks.
class PlainEvaluation {
 public:
  PlainEvaluation(const Workload& workload, const PointMap& points, const InputNumbers& inputs);

  double value(TensorId tensor, Element element);
  /// Sum of the magnitudes of the terms: what rounding errors of a sum are measured by.
  double magnitude(TensorId tensor, Element element);
  /// Whether an Einsum makes it; else it is an input or the first slice of a state.
  bool is_made(TensorId tensor, Element element) const;

 private:
  struct Value {
    double value = 0;
    double magnitude = 0;
  };
  const Value& evaluated(TensorId tensor, Element element);
  Value reduced(const Einsum& einsum, const std::vector<Box>& points);

  const Workload& workload_;
  const PointMap& points_;
  const InputNumbers& inputs_;
  std::vector<std::optional<EinsumId>> producer_;
  std::vector<std::map<Element, std::vector<Box>>> writers_;  ///< per tensor: who writes an element
  std::vector<std::map<Element, Value>> values_;
};

}  // namespace sluice::sim
