#include "recurrence.h"

#include "model/bind/recurrences.h"

namespace sluice::fused {

RecurrenceRole recurrence_role(const Workload& workload, const TensorRoles& roles,
                               EinsumId einsum) {
  RecurrenceRole role;
  for (std::size_t t = 0; t < workload.tensors.size(); ++t) {
    const std::optional<EinsumId> producer = roles.sole_maker(TensorId(t));
    if (!producer) continue;
    for (EinsumId reader : roles.consumers[t]) {
      if (!(reader < *producer) || reads_initial_slice(workload, TensorId(t), *producer, reader))
        continue;
      role.continues = role.continues || (reader < einsum && !(*producer < einsum));
      role.goes_on = role.goes_on || (!(einsum < reader) && einsum < *producer);
      if (einsum != reader && einsum != *producer) continue;
      const TensorAccess* read = find_access(workload[reader], TensorId(t));
      const TensorAccess& written = workload[*producer].output();
      if (const auto variable = step_variable(written, *read)) role.step = variable;
    }
  }
  return role;
}

}  // namespace sluice::fused
