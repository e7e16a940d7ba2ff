#pragma once

#include "points.h"
#include "sluice/referee/execution.h"

namespace sluice::referee {

/// What the elements of tensors are that no Einsum makes: as given, or whole numbers in -2..3 that
/// depend on seed, tensor and index.
class InputNumbers {
 public:
  /// `given` holds a number for every index inside the ranks of each of its tensors.
  InputNumbers(const Workload& workload, const PointMap& points, std::uint64_t seed,
               const TensorValues& given);

  /// `element` lies inside the tensor's ranks.
  double at(TensorId tensor, Element element) const;

 private:
  const Workload& workload_;
  const PointMap& points_;
  std::uint64_t seed_;
  const TensorValues& given_;
};

}  // namespace sluice::referee
