#include "oracle/single_einsum.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "oracle/recurrence.h"
#include "oracle/room_for_others.h"
#include "sluice/model/evaluate.h"

namespace sluice::oracle {
namespace {

/// Share of a fanout dimension that a nest's spatial loops use.
double usage(const Pmapping& nest, ComponentId component, std::uint32_t dimension,
             std::int64_t fanout) {
  double used = 1;
  for (const NestNode& node : nest.nodes) {
    const NestLoop* loop = std::get_if<NestLoop>(&node);
    if (loop && loop->spatial && loop->component == component && loop->dimension == dimension)
      used *= static_cast<double>(loop->trips);
  }
  return used / static_cast<double>(fanout);
}

/// Indices (into `nests`) of one template that the filter of one dimension leaves.
std::vector<std::size_t> filter(const std::vector<Pmapping>& nests,
                                std::vector<std::size_t> members, ComponentId component,
                                std::uint32_t dimension, const BoundSpatial& spatial) {
  double bar = 0;
  for (std::size_t i : members)
    bar = std::max(bar, usage(nests[i], component, dimension, spatial.fanout));
  bar = std::min(bar, spatial.min_usage);
  std::erase_if(members, [&](std::size_t i) {
    return usage(nests[i], component, dimension, spatial.fanout) < bar;
  });
  return members;
}

}  // namespace

BoundProblem single_einsum_problem(const BoundProblem& problem, EinsumId einsum) {
  BoundProblem single = problem;
  single.workload.einsums = {problem.workload[einsum]};
  single.einsums = {problem[einsum]};
  single.einsums[0].einsum = EinsumId(0);
  single.roles = tensor_roles(single.workload);
  return single;
}

namespace {

/// Two tensors of an Einsum, local indices.
using Pair = std::pair<std::size_t, std::size_t>;

/// Prices nests of one Einsum alone, with the room that others need of what it shares: where it
/// holds a tensor and a copy of it in one memory they are one reservation, the larger of the two.
class NestPricer {
 public:
  NestPricer(const BoundProblem& problem, EinsumId einsum)
      : problem_(problem),
        einsum_(problem[einsum]),
        single_(single_einsum_problem(problem, einsum)) {}

  /// The nest's price in it; false (and why) where `evaluate` refuses it.
  bool price(Pmapping& nest, std::vector<Violation>& violations) const {
    const Mapping mapping = mapping_of(nest);
    const std::vector<std::pair<ComponentId, Pair>> pairs = copies_in_one_memory(nest);
    BoundProblem roomy = single_;
    for (const auto& [memory, pair] : pairs)
      roomy.einsums[0].components[memory.index()].size_bits = kUnbounded;
    const auto cost = evaluate(roomy, mapping);
    if (!cost) {
      violations = cost.error();
      return false;
    }
    nest.energy_j = cost->energy_j;
    nest.latency_s = cost->latency_s;
    return find_peaks(single_, mapping, pairs, nest, violations);
  }

  Mapping mapping_of(const Pmapping& nest) const {
    Pmapping alone = nest;
    alone.einsum = EinsumId(0);
    Mapping mapping;
    mapping.nodes = to_nodes(alone);
    return mapping;
  }

  const BoundProblem& single() const { return single_; }

 private:
  /// Two tensors of the Einsum that copies tie together, maybe by way of others, may be one where
  /// one memory backs them.
  std::vector<std::pair<ComponentId, Pair>> copies_in_one_memory(const Pmapping& nest) const {
    std::vector<std::pair<ComponentId, Pair>> result;
    for (std::size_t a = 0; a < einsum_.tensors.size(); ++a) {
      const auto memory = backed_in(nest, einsum_.tensors[a]);
      for (std::size_t b = a + 1; memory && b < einsum_.tensors.size(); ++b)
        if (backed_in(nest, einsum_.tensors[b]) == memory &&
            are_tied(einsum_.tensors[a], einsum_.tensors[b]))
          result.push_back({*memory, {a, b}});
    }
    return result;
  }

  bool are_tied(TensorId from, TensorId to) const {
    std::vector<bool> reached(problem_.workload.tensors.size(), false);
    reached[from.index()] = true;
    for (std::size_t n = 0; n < reached.size(); ++n)
      for (const Einsum& copy : problem_.workload.einsums) {
        if (!copy.is_copy_operation) continue;
        const std::size_t source = copy.accesses.front().tensor.index();
        const std::size_t target = copy.output().tensor.index();
        if (reached[source] || reached[target]) reached[source] = reached[target] = true;
      }
    return reached[to.index()];
  }

  static std::optional<ComponentId> backed_in(const Pmapping& nest, TensorId tensor) {
    for (const NestNode& node : nest.nodes) {
      const NestStorage* storage = std::get_if<NestStorage>(&node);
      if (storage && storage->backing && storage->tensor == tensor) return storage->component;
    }
    return std::nullopt;
  }

  /// Of each pair one tensor takes no room, either in turn: the most is what is reserved.
  bool find_peaks(const BoundProblem& problem, const Mapping& mapping,
                  const std::vector<std::pair<ComponentId, Pair>>& pairs, Pmapping& nest,
                  std::vector<Violation>& violations) const {
    if (pairs.empty()) {
      const auto cost = evaluate(problem, mapping);
      if (!cost) {
        violations = cost.error();
        return false;
      }
      nest.peak_bits.resize(cost->occupancy.size(), 0);
      const std::vector<double> room = room_for_others(problem_, problem.einsums[0], nest);
      for (std::size_t i = 0; i < cost->occupancy.size(); ++i) {
        const OccupancyRow& row = cost->occupancy[i];
        const double peak = row.peak_bits + room[row.component.index()];
        if (peak > row.capacity_bits) return false;
        nest.peak_bits[i] = std::max(nest.peak_bits[i], peak);
      }
      return true;
    }
    const auto& [memory, pair] = pairs.back();
    for (std::size_t without : {pair.first, pair.second}) {
      BoundProblem smaller = problem;
      smaller.einsums[0].components[memory.index()].bits_per_value[without] = 0;
      if (!find_peaks(smaller, mapping, {pairs.begin(), pairs.end() - 1}, nest, violations))
        return false;
    }
    return true;
  }

  const BoundProblem& problem_;
  const BoundEinsum& einsum_;
  const BoundProblem single_;
};

}  // namespace

std::vector<Pmapping> price_nests(const BoundProblem& problem, EinsumId einsum,
                                  std::vector<Pmapping> nests, std::vector<std::string>& refusals) {
  const NestPricer pricer(problem, einsum);
  std::vector<Pmapping> fitting;
  for (Pmapping& nest : nests) {
    std::vector<Violation> violations;
    if (pricer.price(nest, violations)) {
      fitting.push_back(std::move(nest));
      continue;
    }
    for (const Violation& violation : violations)
      // A nest may throw away what a later step of a recurrence reads: evaluate's to refuse.
      if (violation.kind != ViolationKind::kCapacity &&
          violation.kind != ViolationKind::kDependency && refusals.size() < kMaxReports)
        refusals.push_back(
            violation.message + "\n" +
            to_yaml(pricer.mapping_of(nest), pricer.single().workload, pricer.single().arch));
  }
  return fitting;
}

std::vector<Pmapping> most_used(const BoundProblem& problem, EinsumId einsum,
                                std::vector<Pmapping> nests) {
  if (problem.workload[einsum].is_copy_operation) return nests;
  std::map<int, std::vector<std::size_t>> templates;
  for (std::size_t i = 0; i < nests.size(); ++i)
    for (int t : nests[i].templates) templates[t].push_back(i);
  std::vector<bool> kept(nests.size(), false);
  for (auto& [id, members] : templates) {
    for (std::size_t c = 0; c < problem[einsum].components.size(); ++c) {  // outer fanouts first
      const auto& dimensions = problem[einsum].components[c].spatial;
      for (std::uint32_t d = 0; d < dimensions.size(); ++d)
        members = filter(nests, std::move(members), ComponentId(c), d, dimensions[d]);
    }
    for (std::size_t i : members) kept[i] = true;
  }
  std::vector<Pmapping> result;
  for (std::size_t i = 0; i < nests.size(); ++i)
    if (kept[i]) result.push_back(std::move(nests[i]));
  return result;
}

std::vector<Pmapping> without_copies_above_steps(const BoundProblem& problem, EinsumId einsum,
                                                 std::vector<Pmapping> nests) {
  if (!in_cycle(problem.workload, einsum)) return nests;
  const std::optional<RankVariableId> step = step_variable(problem.workload, einsum);
  std::erase_if(nests, [&](const Pmapping& nest) {
    const auto steps = std::find_if(nest.nodes.begin(), nest.nodes.end(), [&](const auto& node) {
      const NestLoop* loop = std::get_if<NestLoop>(&node);
      return loop && !loop->spatial && loop->variable == step;
    });
    return steps != nest.nodes.end() &&
           std::any_of(nest.nodes.begin(), steps, [&](const auto& node) {
             const NestStorage* held = std::get_if<NestStorage>(&node);
             return held && !held->toll && !held->backing &&
                    is_exchanged(problem.roles, held->tensor) &&
                    strongest_relevance(problem.workload[einsum], held->tensor, *step) !=
                        Relevance::kIrrelevant;
           });
  });
  return nests;
}

}  // namespace sluice::oracle
