#include "model/bind/recurrences.h"

namespace sluice {

std::optional<RankVariableId> step_variable(const TensorAccess& written, const TensorAccess& read) {
  for (std::size_t r = 0; r < read.projection.size(); ++r)
    if (!written.projection[r].terms.empty() && read.projection[r].terms.size() == 1 &&
        read.projection[r].constant < written.projection[r].constant)
      return read.projection[r].terms[0].variable;
  return std::nullopt;
}

bool reads_initial_slice(const Workload& workload, TensorId tensor, EinsumId maker,
                         EinsumId reader) {
  const auto steps =
      step_variable(workload[maker].output(), *find_access(workload[reader], tensor));
  return steps && variable_size(workload[reader], *steps) == 1;
}

}  // namespace sluice
