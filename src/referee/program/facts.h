#pragma once

#include <map>
#include <utility>
#include <vector>

#include "sluice/arch/arch.h"
#include "sluice/workload/workload.h"

namespace sluice::referee {

/// The architecture's expressions, evaluated one by one when somebody asks. A name that nothing
/// defines is the caller's mistake: InternalError.
class Facts {
 public:
  Facts(const Workload& workload, const Arch& arch);

  /// Whether one spatial dimension multicasts or reduces a tensor.
  bool may_reuse(EinsumId einsum, ComponentId component, std::size_t dimension, TensorId tensor);
  /// Tensors of the Einsum that only loops which do not index them may be spread over for.
  std::vector<TensorId> must_reuse(EinsumId einsum, ComponentId component, std::size_t dimension);
  double bits_per_value(EinsumId einsum, ComponentId component, TensorId tensor);
  double capacity_bits(EinsumId einsum, ComponentId memory);
  /// Whether a compute takes an Einsum: it is enabled and prices every kind of operation.
  bool accepts(EinsumId einsum, ComponentId compute);
  const TensorRoles& roles() const { return roles_; }

 private:
  ExpressionScope scope(EinsumId einsum);
  std::vector<TensorId> tensors_in(EinsumId einsum, const Expression& set);
  double number(EinsumId einsum, const Expression& expression);

  const Workload& workload_;
  const Arch& arch_;
  TensorRoles roles_;
  std::map<std::tuple<EinsumId, ComponentId, std::size_t>, std::vector<TensorId>> reused_;
  std::map<std::tuple<EinsumId, ComponentId, TensorId>, double> bits_;
};

}  // namespace sluice::referee
