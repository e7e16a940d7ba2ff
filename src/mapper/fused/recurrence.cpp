#include "recurrence.h"

namespace sluice::fused {

std::optional<RankVariableId> lagging_variable(const TensorAccess& read,
                                               const TensorAccess& written) {
  for (std::size_t r = 0; r < read.projection.size(); ++r) {
    const AffineExpression &from = read.projection[r], &to = written.projection[r];
    if (to.terms.empty() || from.terms.size() != 1 || from.constant >= to.constant) continue;
    return from.terms[0].variable;
  }
  return std::nullopt;
}

namespace {

/// Then nothing is read but what the tensor starts with.
bool has_one_step(const Workload& workload, TensorId tensor, EinsumId reader, EinsumId producer) {
  const TensorAccess* read = find_access(workload[reader], tensor);
  const auto variable = lagging_variable(*read, workload[producer].output());
  return variable && variable_size(workload[reader], *variable) == 1;
}

}  // namespace

RecurrenceRole recurrence_role(const Workload& workload, const TensorRoles& roles,
                               EinsumId einsum) {
  RecurrenceRole role;
  for (std::size_t t = 0; t < workload.tensors.size(); ++t) {
    const std::optional<EinsumId> producer = roles.producer[t];
    if (!producer) continue;
    for (EinsumId reader : roles.consumers[t]) {
      if (!(reader < *producer) || has_one_step(workload, TensorId(t), reader, *producer)) continue;
      role.continues = role.continues || (reader < einsum && !(*producer < einsum));
      role.goes_on = role.goes_on || (!(einsum < reader) && einsum < *producer);
      if (einsum != reader && einsum != *producer) continue;
      const TensorAccess* read = find_access(workload[reader], TensorId(t));
      const TensorAccess& written = workload[*producer].output();
      if (const auto variable = lagging_variable(*read, written)) role.step = variable;
    }
  }
  return role;
}

}  // namespace sluice::fused
