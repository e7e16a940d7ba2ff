#include "sluice/network/layer_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "canonical_part.h"
#include "sluice/support/error.h"

namespace sluice {
namespace {

/// Who makes and uses a tensor: Einsums, or layers.
struct Span {
  std::optional<std::size_t> first, last;
  void add(std::size_t user) {
    if (!first) first = user;
    last = user;
  }
};

std::vector<Span> spans_of(const Workload& workload, const std::vector<std::size_t>& layer_of) {
  std::vector<Span> spans(workload.tensors.size());
  for (std::size_t e = 0; e < workload.einsums.size(); ++e)
    for (const TensorAccess& access : workload.einsums[e].accesses)
      spans[access.tensor.index()].add(layer_of[e]);
  return spans;
}

/// The layer of each Einsum.
std::vector<std::size_t> layers_of_einsums(std::size_t n_einsums,
                                           const std::vector<std::size_t>& starts) {
  std::vector<std::size_t> layer_of(n_einsums);
  for (std::size_t layer = 0; layer < starts.size(); ++layer)
    for (std::size_t e = starts[layer]; e < n_einsums; ++e) layer_of[e] = layer;
  return layer_of;
}

/// Layers that make what each layer reads.
void connect(const Workload& workload, const std::vector<std::size_t>& layer_of,
             std::vector<Layer>* layers) {
  const TensorRoles roles = tensor_roles(workload);
  for (std::size_t e = 0; e < workload.einsums.size(); ++e)
    for (const TensorAccess& access : workload.einsums[e].accesses) {
      if (access.is_output) continue;
      for (const EinsumId maker : roles.makers[access.tensor.index()])
        if (layer_of[maker.index()] != layer_of[e])
          (*layers)[layer_of[e]].previous.push_back(layer_of[maker.index()]);
    }
  for (Layer& layer : *layers) {
    std::sort(layer.previous.begin(), layer.previous.end());
    layer.previous.erase(std::unique(layer.previous.begin(), layer.previous.end()),
                         layer.previous.end());
  }
}

/// Of what the part makes and reads itself, whether others use it, too: all else is an input or a
/// result of the part, whoever has it.
std::string key_of(const CanonicalPart& part, const std::vector<bool>& crosses) {
  const TensorRoles roles = tensor_roles(part.workload);
  std::string key = to_yaml(part.workload);
  for (std::size_t t = 0; t < crosses.size(); ++t)
    if (roles.is_intermediate(TensorId(t))) key += crosses[t] ? '1' : '0';
  return key;
}

}  // namespace

LayerGraph layer_graph(const Workload& workload, const std::vector<std::size_t>& starts,
                       const std::set<std::string>& own) {
  SLUICE_CHECK(!starts.empty() && starts.front() == 0, "layers begin with the first Einsum");
  LayerGraph graph;
  const std::vector<std::size_t> layer_of = layers_of_einsums(workload.einsums.size(), starts);
  const std::vector<Span> spans = spans_of(workload, layer_of);
  std::unordered_map<std::string, std::size_t> shape_of;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    Layer layer;
    layer.first = starts[i];
    layer.end = i + 1 < starts.size() ? starts[i + 1] : workload.einsums.size();
    CanonicalPart part = canonical_part(workload, layer.first, layer.end, own);
    std::vector<bool> crosses;
    for (const TensorId tensor : part.tensors) {
      const Span& span = spans[tensor.index()];
      crosses.push_back(span.first != i || span.last != i);
    }
    const auto [found, is_new] = shape_of.emplace(key_of(part, crosses), graph.shapes.size());
    if (is_new) graph.shapes.push_back({with_names_of(workload, part, layer.first), crosses, i, 0});
    layer.shape = found->second;
    ++graph.shapes[layer.shape].n_layers;
    layer.tensors = std::move(part.tensors);
    layer.variables = std::move(part.variables);
    graph.layers.push_back(std::move(layer));
  }
  connect(workload, layer_of, &graph.layers);
  for (std::size_t t = 0; t < spans.size(); ++t)
    if (spans[t].first != spans[t].last)
      graph.lifetimes.push_back({TensorId(t), *spans[t].first, *spans[t].last});
  return graph;
}

}  // namespace sluice
