#include <algorithm>
#include <map>
#include <optional>

#include "onnx_graph/cascade/passes.h"

namespace sluice::onnx_graph {

void adopt_names(Cascade& cascade) {
  constexpr std::size_t kSeveral = static_cast<std::size_t>(-1);
  std::vector<std::vector<std::optional<std::size_t>>> walked(cascade.tensors.size());
  for (std::size_t t = 0; t < walked.size(); ++t) walked[t].resize(cascade.tensors[t].ranks.size());
  const auto look = [&](const CascadeAccess& access) {
    for (std::size_t r = 0; r < access.indices.size(); ++r) {
      const Index& index = access.indices[r];
      std::optional<std::size_t>& by = walked[access.tensor][r];
      const std::int64_t size = cascade.axes[cascade.tensors[access.tensor].ranks[r]].size;
      const bool is_whole = index.is_plain() && cascade.axes[index.terms[0].variable].size == size;
      if (!is_whole || (by && *by != index.terms[0].variable))
        by = kSeveral;
      else
        by = index.terms[0].variable;
    }
  };
  for (const CascadeEinsum& einsum : cascade.einsums) {
    look(einsum.output);
    for (const CascadeAccess& access : einsum.inputs) look(access);
  }
  for (std::size_t t = 0; t < walked.size(); ++t) {
    CascadeTensor& tensor = cascade.tensors[t];
    for (std::size_t r = 0; r < walked[t].size(); ++r)
      if (walked[t][r] && *walked[t][r] != kSeveral &&
          std::find(tensor.ranks.begin(), tensor.ranks.end(), *walked[t][r]) == tensor.ranks.end())
        tensor.ranks[r] = *walked[t][r];
  }
}

}  // namespace sluice::onnx_graph
