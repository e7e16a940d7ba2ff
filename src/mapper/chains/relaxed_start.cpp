#include "relaxed_start.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "sluice/mapper/objective_value.h"
#include "sluice/model/relaxed_machine.h"

namespace sluice::chains {

RelaxedStart::RelaxedStart(const BoundProblem& problem, ComponentId cut, double share)
    : problem_(problem),
      cut_(cut),
      kept_(kept_components(problem, cut)),
      machine_(relaxed_machine(problem, cut, InnerOperands(problem.einsums.size(), 0))) {
  if (!machine_) return;
  for (std::size_t e = 0; e < problem.einsums.size(); ++e) {
    const auto memory = next_memory(EinsumId(e));
    if (!memory) continue;
    const std::vector<BoundComponent>& real = problem.einsums[e].components;
    const double instances = real[memory->index()].instances / real[cut.index()].instances;
    double& bits = machine_->einsums[e].components[kept_.size()].size_bits;
    bits = std::min(bits, share * real[memory->index()].size_bits * instances);
  }
}

std::optional<ComponentId> RelaxedStart::next_memory(EinsumId einsum) const {
  const std::vector<ComponentId>& path = problem_[einsum].computes.front().path;
  const auto begin = std::find(path.begin(), path.end(), cut_);
  const auto next =
      std::find_if(begin == path.end() ? begin : begin + 1, path.end(), [&](ComponentId component) {
        return problem_.arch[component].is_memory() &&
               problem_[einsum].components[component.index()].enabled;
      });
  return next == path.end() ? std::nullopt : std::optional(*next);
}

ComponentId RelaxedStart::real(ComponentId component, EinsumId einsum) const {
  return component.index() < kept_.size() ? kept_[component.index()]
                                          : next_memory(einsum).value_or(cut_);
}

/// What each Einsum shares with others in a mapping of the relaxed machine.
class RelaxedStart::Reader {
 public:
  explicit Reader(const RelaxedStart& start)
      : start_(start), problem_(start.problem_), exchanges_(start.problem_.einsums.size()) {}

  std::vector<Exchange> read(const Mapping& mapping) {
    read(mapping.nodes, {}, 0);
    return std::move(exchanges_);
  }

 private:
  /// `above`: nodes on the way, of which the first `n_shared` stand above several Einsums.
  void read(const NodeList& nodes, std::vector<const Node*> above, std::size_t n_shared) {
    for (const Node& node : nodes) {
      if (const auto* split = std::get_if<SplitNode>(&node.kind)) {
        for (const NodeList& child : split->children) read(child, above, above.size());
      } else if (const auto* compute = std::get_if<ComputeNode>(&node.kind)) {
        read(compute->einsum, above, n_shared);
      } else {
        above.push_back(&node);
      }
    }
  }

  void read(EinsumId id, const std::vector<const Node*>& above, std::size_t n_shared) {
    const Einsum& einsum = problem_.workload[id];
    std::vector<std::int64_t> tile;
    for (const VariableRange& range : einsum.iteration_space) tile.push_back(range.size);
    std::vector<char> is_backed(problem_.workload.tensors.size(), 0);
    for (std::size_t n = 0; n < above.size(); ++n) {
      if (const auto* storage = std::get_if<StorageNode>(&above[n]->kind))
        for (const TensorId tensor : storage->tensors)
          add(id, tensor, storage->component, &is_backed);
      else if (n >= n_shared)
        continue;
      else if (const auto* temporal = std::get_if<TemporalNode>(&above[n]->kind))
        add(einsum, id, temporal->variables, temporal->tile_shape, std::nullopt, &tile);
      else if (const auto* spatial = std::get_if<SpatialNode>(&above[n]->kind))
        add(einsum, id, spatial->variables, spatial->tile_shape,
            std::pair(start_.real(spatial->component, id), spatial->dimension), &tile);
    }
    // Loops below all that is exchanged are the Einsum's own.
    ChainSteps& steps = exchanges_[id.index()].outermost;
    while (!steps.empty() && std::holds_alternative<ChainLoop>(steps.back())) steps.pop_back();
  }

  /// The first node of a tensor that others use as well.
  void add(EinsumId id, TensorId tensor, ComponentId component, std::vector<char>* is_backed) {
    const std::vector<TensorId>& own = problem_[id].tensors;
    if (std::find(own.begin(), own.end(), tensor) == own.end() ||
        std::exchange((*is_backed)[tensor.index()], 1) != 0 ||
        problem_.roles.users(tensor).size() < 2)
      return;
    const ComponentId memory = start_.real(component, id);
    exchanges_[id.index()].backings.emplace_back(tensor, memory);
    if (memory != start_.kept_.front())
      exchanges_[id.index()].outermost.emplace_back(ChainNode{tensor, memory});
  }

  void add(const Einsum& einsum, EinsumId id, const std::vector<RankVariableId>& variables,
           std::int64_t inside, std::optional<std::pair<ComponentId, std::uint32_t>> spatial,
           std::vector<std::int64_t>* tile) {
    for (const RankVariableId variable : variables)
      for (std::size_t v = 0; v < einsum.iteration_space.size(); ++v) {
        if (einsum.iteration_space[v].variable != variable) continue;
        const std::int64_t trips = (*tile)[v] / inside;
        (*tile)[v] = inside;
        if (trips > 1) exchanges_[id.index()].outermost.emplace_back(ChainLoop{v, trips, spatial});
        return;
      }
  }

  const RelaxedStart& start_;
  const BoundProblem& problem_;
  std::vector<Exchange> exchanges_;
};

/// Exchanges the tensor in the outermost memory.
void RelaxedStart::leave_inside(TensorId tensor, ComponentId outermost, Exchange* exchange) {
  for (auto& [own, memory] : exchange->backings)
    if (own == tensor) memory = outermost;
  ChainSteps& steps = exchange->outermost;
  steps.erase(std::remove_if(steps.begin(), steps.end(),
                             [&](const auto& step) {
                               const auto* node = std::get_if<ChainNode>(&step);
                               return node != nullptr && node->tensor == tensor;
                             }),
              steps.end());
  while (!steps.empty() && std::holds_alternative<ChainLoop>(steps.back())) steps.pop_back();
}

std::optional<sampling::Genome> RelaxedStart::genome(const MappedResult& relaxed,
                                                     const sampling::Genome& plain,
                                                     sampling::MapSpace* space,
                                                     sampling::FanoutUse* use,
                                                     const std::atomic<bool>* cancel) {
  constexpr std::size_t kFewWays = 3, kMostRounds = 4;
  const CostTotals whole{relaxed.cost.energy_j, relaxed.cost.latency_s};
  const EinsumChains::Worth price = worth(space->options().objectives.front(), whole);
  std::vector<Exchange> exchanges = Reader(*this).read(relaxed.mapping);
  sampling::Genome found(exchanges.size());
  std::vector<char> is_open(exchanges.size(), 1);
  const auto search = [&](std::size_t e) {
    Exchange& own = exchanges[e];
    EinsumSearch einsum(problem_, EinsumId(e), own.backings, own.outermost);
    einsum.search(kFewWays, false, price, nullptr, space, use, cancel);
    if (!einsum.best()) return false;
    const sampling::ChoicePtr& best = einsum.best()->choice;
    found[e] = space->make_choice(e, best->templ, best->trips);
    return true;
  };
  // Where no chain begins as it is to, its Einsum exchanges all in the outermost memory, and so do
  // those with which it would have.
  for (std::size_t round = 0; round < kMostRounds; ++round) {
    std::vector<TensorId> outside;
    for (std::size_t e = 0; e < exchanges.size() && !is_cancelled(cancel); ++e) {
      if (std::exchange(is_open[e], 0) == 0 || search(e)) continue;
      found[e] = plain[e];
      for (const auto& [tensor, memory] : exchanges[e].backings)
        if (memory != kept_.front()) outside.push_back(tensor);
    }
    if (is_cancelled(cancel)) return std::nullopt;
    for (const TensorId tensor : outside)
      for (const EinsumId user : problem_.roles.users(tensor)) {
        leave_inside(tensor, kept_.front(), &exchanges[user.index()]);
        is_open[user.index()] = 1;
      }
    if (outside.empty())
      return space->joins(found) ? std::optional(std::move(found)) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace sluice::chains
