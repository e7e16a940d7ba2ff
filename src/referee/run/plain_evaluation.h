#pragma once

#include <functional>
#include <vector>

#include "referee/points/element_set.h"
#include "referee/points/input_numbers.h"
#include "referee/program/watch.h"

namespace sluice::referee {

/// The value of any element by its definition: what is reduced over all points that write it. A
/// tensor whose maker reads nothing that depends on it is worked out in one pass over its points,
/// when somebody asks; the elements of the others (states) one by one, each once.
class PlainEvaluation {
 public:
  PlainEvaluation(const Workload& workload, const PointMap& points, const InputNumbers& inputs,
                  Watch& watch);

  double value(TensorId tensor, Element element) { return evaluated(tensor, element).value; }
  /// Sum of the magnitudes of the terms: what rounding errors of a sum are measured by.
  double magnitude(TensorId tensor, Element element);
  /// A value and the sum of the magnitudes of its terms.
  struct Value {
    double value = 0;
    double magnitude = 0;
  };
  /// What an element that one Einsum makes is by its definition, where what it is made of has other
  /// values.
  Value remade(TensorId tensor, Element element,
               const std::function<double(TensorId, Element)>& value_of);
  bool has_one_maker(TensorId tensor) const { return makers_[tensor.index()].size() == 1; }
  /// Whether an Einsum makes it; else it is an input, the first slice of a state, or between the
  /// strides of an output's windows.
  bool is_made(TensorId tensor, Element element) const;

 private:
  /// What is known of one tensor.
  struct Known {
    std::vector<Value> values;
    ElementSet is_known, is_written;
    bool is_state = false;
    bool is_evaluated = false;  ///< all of it that its Einsums make
    /// States, and what is remade: points that write each element, by number, in order.
    std::vector<std::size_t> writers_begin, writers;
  };
  const Value& evaluated(TensorId tensor, Element element) {
    const Known& known = known_[tensor.index()];
    return known.is_known.has(element) ? known.values[static_cast<std::size_t>(element)]
                                       : found(tensor, element);
  }
  const Value& found(TensorId tensor, Element element);
  Value given(TensorId tensor, Element element) const;
  void find_states();
  void find_writers(const Einsum& einsum);
  void evaluate_all(const Einsum& einsum);
  Value reduced(const Einsum& einsum, Element element,
                const std::function<double(TensorId, Element)>& value_of);
  /// Adds one term.
  void add(const Einsum& einsum, double term, bool is_first, Value& sum) const;

  const Workload& workload_;
  const PointMap& points_;
  const InputNumbers& inputs_;
  Watch& watch_;
  std::vector<std::vector<EinsumId>> makers_;  ///< per tensor
  std::vector<Known> known_;                   ///< per tensor
};

}  // namespace sluice::referee
