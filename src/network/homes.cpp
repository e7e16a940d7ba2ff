#include "homes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sluice/arch/outermost_memory.h"

namespace sluice {
namespace {

/// Per component: what it may hold for an Einsum where all memories further out hold all they may.
std::vector<TensorMask> holdable(const BoundProblem& problem, EinsumId einsum) {
  std::vector<TensorMask> held(problem.arch.components.size(), 0);
  for (std::size_t c = 0; c < held.size(); ++c) {
    if (!problem.arch.components[c].is_memory() || !problem[einsum].components[c].enabled) continue;
    if (const auto sets = keep_sets(problem, einsum, ComponentId(c), held))
      held[c] = sets->must | sets->may;
  }
  return held;
}

bool has(TensorMask mask, int local) { return (mask >> local & 1) != 0; }

double bits_of(const BoundProblem& problem, TensorId tensor, ComponentId memory) {
  const BoundEinsum& user = problem[problem.roles.users(tensor).front()];
  const auto local = static_cast<std::size_t>(user.local_tensor[tensor.index()]);
  return user.components[memory.index()].bits_per_value[local] *
         static_cast<double>(tensor_volume(problem.workload, tensor));
}

/// Whether a tensor is there while a layer runs, and does not seem to be in the layer alone: all
/// the time, before its first user there, or after its last one.
bool is_there_unseen(const TensorRoles& roles, const Layer& layer, std::size_t index,
                     const Lifetime& lifetime) {
  if (index < lifetime.first_layer || lifetime.last_layer < index) return false;
  std::size_t first = layer.end, last = layer.first;
  for (const EinsumId user : roles.users(lifetime.tensor))
    if (layer.first <= user.index() && user.index() < layer.end) {
      first = std::min(first, user.index());
      last = std::max(last, user.index());
    }
  return (lifetime.first_layer < index && first > layer.first) ||
         (index < lifetime.last_layer && last + 1 < layer.end);
}

/// Whether the outermost memory holds the tensor by its own rules.
bool must_hold(const BoundProblem& problem, ComponentId outermost, TensorId tensor) {
  const std::vector<TensorMask> held(problem.arch.components.size(), 0);
  const std::vector<EinsumId> users = problem.roles.users(tensor);
  return std::all_of(users.begin(), users.end(), [&](EinsumId user) {
    const auto sets = keep_sets(problem, user, outermost, held);
    return sets && has(sets->must, problem[user].local_tensor[tensor.index()]);
  });
}

/// Kept whole in `home`, and in no memory before it.
void keep_in(ComponentId home, TensorId tensor, const std::string& name, const BoundProblem& part,
             Constraints* constraints) {
  for (std::size_t c = 0; c < home.index(); ++c)
    if (part.arch.components[c].is_memory())
      constraints->storage.push_back({name, {}, ComponentId(c), {}, {tensor}});
  constraints->storage.push_back({name, {}, home, {tensor}, {}});
  for (const EinsumId user : part.roles.users(tensor))
    for (const VariableRange& range : part.workload[user].iteration_space)
      if (held_relevance(part.workload[user], tensor, range.variable) != Relevance::kIrrelevant)
        constraints->tiles.push_back({name, user, range.variable, home, {tensor}, range.size, {}});
}

}  // namespace

Homes::Homes(const BoundProblem& problem, LayerGraph* graph)
    : problem_(problem), graph_(*graph), inner_(problem.workload.tensors.size()) {
  find_crossing();
  find_inner();
  split_shapes();
}

void Homes::find_crossing() {
  std::vector<bool> exchanged(problem_.workload.tensors.size());
  for (const Lifetime& lifetime : graph_.lifetimes) exchanged[lifetime.tensor.index()] = true;
  crosses_.resize(graph_.shapes.size());
  for (const Layer& layer : graph_.layers) {
    std::vector<bool>& crosses = crosses_[layer.shape];
    crosses.resize(layer.tensors.size());
    for (std::size_t t = 0; t < crosses.size(); ++t)
      if (exchanged[layer.tensors[t].index()]) crosses[t] = true;
  }
}

void Homes::find_inner() {
  const std::size_t outermost = outermost_memory(problem_.arch)->index();
  std::vector<std::vector<TensorMask>> all(problem_.einsums.size());
  for (std::size_t e = 0; e < all.size(); ++e) all[e] = holdable(problem_, EinsumId(e));
  const auto may_hold = [&](std::size_t memory, TensorId tensor) {
    const std::vector<EinsumId> users = problem_.roles.users(tensor);
    return std::all_of(users.begin(), users.end(), [&](EinsumId user) {
      return has(all[user.index()][memory], problem_[user].local_tensor[tensor.index()]);
    });
  };
  for (const Layer& layer : graph_.layers)
    for (std::size_t t = 0; t < layer.tensors.size(); ++t)
      if (crosses_[layer.shape][t] && !may_hold(outermost, layer.tensors[t]))
        for (std::size_t c = outermost + 1; c < problem_.arch.components.size(); ++c)
          if (may_hold(c, layer.tensors[t])) {
            inner_[layer.tensors[t].index()] = ComponentId(c);
            break;
          }
}

void Homes::split_shapes() {
  std::map<std::pair<std::size_t, InnerHomes>, std::size_t> shape_of;
  std::vector<LayerShape> shapes;
  std::vector<std::vector<bool>> crosses;
  for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
    Layer& layer = graph_.layers[i];
    InnerHomes homes;
    for (const TensorId tensor : layer.tensors) homes.push_back(inner_[tensor.index()]);
    const auto [found, is_new] =
        shape_of.emplace(std::pair(layer.shape, std::move(homes)), shapes.size());
    if (is_new) {
      shapes.push_back(graph_.shapes[layer.shape]);
      crosses.push_back(crosses_[layer.shape]);
      shapes.back().first_layer = i;
      shapes.back().n_layers = 0;
    }
    layer.shape = found->second;
    ++shapes[layer.shape].n_layers;
  }
  graph_.shapes = std::move(shapes);
  crosses_ = std::move(crosses);
}

void Homes::constrain(std::size_t shape, const BoundProblem& part, Constraints* constraints) const {
  const Layer& layer = graph_.layers[graph_.shapes[shape].first_layer];
  const ComponentId outermost = *outermost_memory(part.arch);
  for (std::size_t t = 0; t < layer.tensors.size(); ++t) {
    if (!crosses_[shape][t]) continue;
    const TensorId own(t);
    const std::string name = fmt::format("{} leaves its layer", part.workload[own].name);
    if (const auto home = inner_[layer.tensors[t].index()])
      keep_in(*home, own, name, part, constraints);
    else if (part.roles.is_intermediate(own))
      constraints->fusion.push_back({name, own, false, std::nullopt});
    else if (!must_hold(part, outermost, own))
      constraints->storage.push_back({name, {}, outermost, {own}, {}});
  }
}

void Homes::reserve(std::size_t shape, BoundProblem* part) const {
  if (std::none_of(inner_.begin(), inner_.end(), [](const auto& home) { return home.has_value(); }))
    return;
  std::vector<double> most(part->arch.components.size(), 0);
  for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
    const Layer& layer = graph_.layers[i];
    if (layer.shape != shape) continue;
    std::vector<double> unseen(most.size(), 0);
    for (const Lifetime& lifetime : graph_.lifetimes)
      if (const auto home = inner_[lifetime.tensor.index()];
          home && is_there_unseen(problem_.roles, layer, i, lifetime))
        unseen[home->index()] += bits_of(problem_, lifetime.tensor, *home);
    for (std::size_t c = 0; c < most.size(); ++c) most[c] = std::max(most[c], unseen[c]);
  }
  for (BoundEinsum& einsum : part->einsums)
    for (std::size_t c = 0; c < most.size(); ++c)
      einsum.components[c].size_bits = std::max(0.0, einsum.components[c].size_bits - most[c]);
}

}  // namespace sluice
