#include "frontend/workload/misspelt_tensors.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

/// One letter more or less, or in names of three letters on another one, or two neighbours in the
/// other order.
bool is_one_edit_apart(const std::string& left, const std::string& right) {
  const bool may_differ =
      left.size() != right.size() || (left.size() > 2 && left.front() == right.front());
  return may_differ && edit_distance(left, right) == 1;
}

std::string without_digits(std::string name) {
  std::erase_if(name, [](char c) { return c >= '0' && c <= '9'; });
  return name;
}

}  // namespace

void warn_of_misspelt_tensors(ReadContext& context, const WorkloadSource& source,
                              const Workload& workload) {
  const TensorRoles roles = tensor_roles(workload);
  std::vector<std::size_t> unread;  // of those that some Einsum makes
  for (std::size_t t = 0; t < workload.tensors.size(); ++t)
    if (roles.is_made(TensorId(t)) && roles.consumers[t].empty()) unread.push_back(t);
  for (std::size_t t = 0; t < workload.tensors.size(); ++t) {
    const Tensor& input = workload.tensors[t];
    if (roles.is_made(TensorId(t)) || roles.consumers[t].size() != 1) continue;
    const EinsumId reader = roles.consumers[t].front();
    for (std::size_t m : unread) {
      const Tensor& made = workload.tensors[m];
      if (roles.makers[m].front() >= reader || made.ranks != input.ranks ||
          !is_one_edit_apart(made.name, input.name) ||
          without_digits(made.name) == without_digits(input.name))
        continue;
      context.warning(
          *source.einsums[reader.index()].place,
          fmt::format("nothing makes the tensor {}, and nothing reads {}", input.name, made.name),
          fmt::format("did you mean '{}'?", made.name));
    }
  }
}

}  // namespace sluice
