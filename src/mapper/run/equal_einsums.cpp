#include "equal_einsums.h"

#include <algorithm>

#include "mapper/shape/isomorphic.h"
#include "mapper/space/template_lists.h"

namespace sluice {

std::vector<EinsumId> first_equals(const BoundProblem& problem) {
  std::vector<fused::EinsumShape> shapes;  // of those that are the first
  std::vector<EinsumId> first;
  for (std::size_t e = 0; e < problem.einsums.size(); ++e) {
    fused::EinsumShape shape = fused::make_einsum_shape(problem, EinsumId(e));
    const auto same = std::find_if(shapes.begin(), shapes.end(), [&](const auto& other) {
      return !shape.recurrence.step && fused::same_problem(problem, other, shape) &&
             fused::same_templates(problem, other.einsum, shape.einsum);
    });
    first.push_back(same == shapes.end() ? EinsumId(e) : same->einsum);
    if (same == shapes.end()) shapes.push_back(std::move(shape));
  }
  return first;
}

}  // namespace sluice
