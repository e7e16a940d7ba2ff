#include "variable_sets.h"

#include "sluice/support/error.h"

namespace sluice::fused {
namespace {

/// The variables for which `holds`.
template <class Holds>
Variables variables_with(const EinsumShape& shape, Holds holds) {
  Variables result = 0;
  for (std::size_t v = 0; v < shape.sizes.size(); ++v)
    if (holds(v)) result |= Variables{1} << v;
  return result;
}

TensorVariables variables_of(const EinsumShape& shape, const LocalTensor& tensor) {
  const auto seen = [&](const std::vector<Relevance>& relevance, Relevance wanted) {
    return variables_with(shape, [&](std::size_t v) { return relevance[v] == wanted; });
  };
  TensorVariables result;
  result.relevant = seen(tensor.relevance, Relevance::kRelevant);
  result.irrelevant = seen(tensor.relevance, Relevance::kIrrelevant);
  result.partial = seen(tensor.relevance, Relevance::kPartial);
  result.held = seen(tensor.held, Relevance::kRelevant);
  if (tensor.is_input || !tensor.is_output) result.windows = seen(tensor.held, Relevance::kPartial);
  result.parted = variables_with(shape, [&](std::size_t v) { return bool(tensor.parted[v]); });
  if (!tensor.rows.empty())
    result.rows = variables_with(shape, [&](std::size_t v) { return bool(tensor.rows[v]); });
  const auto index = static_cast<std::size_t>(&tensor - shape.tensors.data());
  result.carried_rows =
      variables_with(shape, [&](std::size_t v) { return carries_rows(shape, index, v); });
  result.stepped = variables_with(shape, [&](std::size_t v) { return bool(tensor.stepped[v]); });
  return result;
}

}  // namespace

VariableSets::VariableSets(const EinsumShape& shape) {
  SLUICE_CHECK(shape.sizes.size() <= 64, "more than 64 rank variables in one Einsum");
  all = variables_with(shape, [&](std::size_t v) { return shape.sizes[v] > 1; });
  carried = variables_with(shape, [&](std::size_t v) { return bool(shape.carried[v]); });
  step = variables_with(shape, [&](std::size_t v) {
    return shape.recurrence.step == std::optional(shape.variables[v]);
  });
  for (const LocalTensor& tensor : shape.tensors) tensors.push_back(variables_of(shape, tensor));
  for (std::size_t t = shape.tensors.size(); t-- > 0;)  // the first output's
    if (shape.tensors[t].is_output) summed = tensors[t].irrelevant;
}

}  // namespace sluice::fused
