#include "sluice/mapper/selection.h"

#include <fmt/format.h>

#include <algorithm>

#include "mapper/common/first_memory.h"
#include "mapper/common/keep_rules.h"
#include "mapper/common/network_cost.h"
#include "mapper/request/refusal.h"
#include "sluice/support/error.h"

namespace sluice {

std::optional<NoMapping> refused_request(const Mapper& mapper, const BoundProblem& problem,
                                         const MapperOptions& options,
                                         const MapperRegistry& mappers) {
  auto no = refused_alone(mapper, problem, options);
  if (!no) return std::nullopt;
  std::vector<std::string> able;
  for (const auto& other : mappers)
    if (!refused_alone(*other, problem, options)) able.push_back(other->name());
  if (!able.empty())
    no->nearest_relaxation =
        fmt::format("another mapper ({}); or {}", fmt::join(able, ", "), no->nearest_relaxation);
  return no;
}

namespace {

/// Whether a memory may hold what one of several Einsums makes for others.
bool may_hold_intermediates(const BoundProblem& problem, const BoundEinsum& einsum,
                            ComponentId memory) {
  const BoundComponent& component = einsum.components[memory.index()];
  if (!component.enabled) return false;
  TensorMask shared = 0;
  for (std::size_t t = 0; t < einsum.tensors.size(); ++t)
    if (problem.roles.is_intermediate(einsum.tensors[t])) shared |= TensorMask{1} << t;
  const TensorPolicy& policy = *problem.arch[memory].tensor_policy();
  if (!policy.keep && !policy.may_keep) return shared != 0;  // all
  return may_name(policy.keep, component.keep, shared) ||
         may_name(policy.may_keep, component.may_keep, shared) ||
         may_name(policy.back, component.back, shared);
}

/// Whether there are several instances behind a network.
bool fans_out_behind(const BoundProblem& problem, const BoundCompute& compute,
                     ComponentId network) {
  return std::any_of(compute.path.begin(), compute.path.end(), [&](ComponentId id) {
    const std::vector<SpatialDimension>& spatial = problem.arch[id].spatial;
    return network < id && std::any_of(spatial.begin(), spatial.end(),
                                       [](const auto& own) { return own.fanout > 1; });
  });
}

/// The first network that costs something, behind which memories of several instances hold what
/// several Einsums exchange: collectives may pay there.
std::optional<ComponentId> network_for_collectives(const BoundProblem& problem) {
  if (problem.einsums.size() < 2 || !keeps_all_outermost(problem)) return std::nullopt;
  for (const BoundEinsum& einsum : problem.einsums)
    for (const BoundCompute& compute : einsum.computes)
      for (const PathNetwork& path : compute.networks) {
        const auto is_behind = [&](ComponentId id) {
          return path.network < id && problem.arch[id].is_memory() &&
                 may_hold_intermediates(problem, einsum, id);
        };
        if (costs(std::get<Network>(problem.arch[path.network].kind)) &&
            fans_out_behind(problem, compute, path.network) &&
            std::any_of(compute.path.begin(), compute.path.end(), is_behind))
          return path.network;
      }
  return std::nullopt;
}

/// Whether an Einsum has a tensor that all of its loops move: nothing keeps its nodes from sinking.
bool has_tensor_of_all_loops(const BoundProblem& problem, const BoundEinsum& einsum) {
  const std::vector<VariableRange>& space = problem.workload[einsum.einsum].iteration_space;
  return std::any_of(einsum.relevance.begin(), einsum.relevance.end(), [&](const auto& seen) {
    for (std::size_t v = 0; v < space.size(); ++v)
      if (space[v].size > 1 && seen[v] != Relevance::kRelevant) return false;
    return true;
  });
}

/// The first network whose routers take time, where the nodes of an Einsum would have to be held
/// back above loops to wait less often.
std::optional<ComponentId> network_that_waits(const BoundProblem& problem) {
  if (!keeps_all_outermost(problem)) return std::nullopt;
  for (const BoundEinsum& einsum : problem.einsums)
    for (const BoundCompute& compute : einsum.computes)
      for (const PathNetwork& path : compute.networks)
        if (takes_time_by_steps(std::get<Network>(problem.arch[path.network].kind)) &&
            has_tensor_of_all_loops(problem, einsum))
          return path.network;
  return std::nullopt;
}

/// Why `fused` is not the first choice; empty where it is.
std::string reason_against_fused(const Mapper& fused, const BoundProblem& problem,
                                 const MapperOptions& options) {
  if (const auto no = refused_alone(fused, problem, options)) return no->reason;
  if (const auto network = network_for_collectives(problem))
    return fmt::format("the mapper fused makes no collectives, which may pay on {}",
                       problem.arch[*network].name);
  if (const auto network = network_that_waits(problem))
    return fmt::format(
        "the mapper fused does not hold nodes back, which may pay as routers of {} take time",
        problem.arch[*network].name);
  return "";
}

}  // namespace

MapperChoice default_mapper(const BoundProblem& problem, const MapperOptions& options,
                            const MapperRegistry& mappers) {
  if (mappers.empty()) throw std::invalid_argument("there is no mapper to choose");
  const Mapper* fused = mappers.find("fused");
  if (fused == nullptr) fused = mappers.begin()->get();
  std::string reason = reason_against_fused(*fused, problem, options);
  if (reason.empty()) return {fused, ""};
  const auto able = [&](const char* name) -> const Mapper* {
    const Mapper* other = mappers.find(name);
    return other == nullptr || refused_alone(*other, problem, options) ? nullptr : other;
  };
  if (const Mapper* compound = able("compound")) {
    // Of two fronts neither is the better one.
    const bool may_fuse = asks_for_one(options) && !refused_alone(*fused, problem, options);
    if (may_fuse && options.budget_seconds) reason += "; fused has a share of the budget, too";
    return {compound, std::move(reason), nullptr, may_fuse ? fused : nullptr};
  }
  if (refused_alone(*fused, problem, options))
    if (const Mapper* anneal = able("anneal")) return {anneal, std::move(reason)};
  return {fused, ""};
}

}  // namespace sluice
