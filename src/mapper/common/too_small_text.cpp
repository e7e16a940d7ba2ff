#include "too_small_text.h"

#include <fmt/format.h>

#include "sluice/support/human_units.h"

namespace sluice {

std::string names_of_tensors(const BoundProblem& problem, const std::vector<TensorId>& tensors) {
  std::string names;
  for (const TensorId id : tensors)
    names += (names.empty() ? "" : ", ") + problem.workload[id].name;
  return names;
}

std::string needed_size(const BoundProblem& problem, ComponentId memory, double bits,
                        NoMapping* no) {
  std::string needed = human_size_at_least(bits);
  no->nearest_relaxation = fmt::format("give {} at least {}", problem.arch[memory].name, needed);
  return needed;
}

void tell_too_small(const BoundProblem& problem, NoMapping* no) {
  const std::string& memory = problem.arch[*no->memory].name;
  const double size = problem[*no->einsum].components[no->memory->index()].size_bits;
  const std::string needed = needed_size(problem, *no->memory, size + no->excess_bits, no);
  no->reason =
      fmt::format("Einsum {}: even the smallest tiles of {} need {} of {}, which has {}",
                  problem.workload[*no->einsum].name, names_of_tensors(problem, no->tensors),
                  needed, memory, human_size(size));
}

}  // namespace sluice
