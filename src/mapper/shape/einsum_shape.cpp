#include "einsum_shape.h"

#include <algorithm>
#include <numeric>

#include "model/bind/divisors.h"
#include "model/bind/recurrences.h"
#include "sluice/support/error.h"

namespace sluice::fused {
namespace {

/// The Einsums that use a tensor, ascending.
std::vector<EinsumId> users_in_order(const BoundProblem& problem, TensorId tensor) {
  std::vector<EinsumId> users = problem.roles.users(tensor);
  std::sort(users.begin(), users.end());
  return users;
}

/// The largest n_instances of the Einsums that use a tensor.
std::int64_t most_instances(const BoundProblem& problem, TensorId tensor) {
  std::int64_t most = 1;
  for (const EinsumId user : problem.roles.users(tensor))
    most = std::max(most, problem.workload[user].n_instances);
  return most;
}

OtherHolder holder_of(const BoundEinsum& bound, std::size_t tensor) {
  OtherHolder holder;
  for (const BoundAccess& held : bound.held) {
    if (static_cast<std::size_t>(held.tensor) != tensor) continue;
    holder.whole.resize(held.index.size(), 0);
    for (std::size_t r = 0; r < held.index.size(); ++r)
      holder.whole[r] = std::max(holder.whole[r], held.index[r].whole);
  }
  for (const BoundComponent& component : bound.components)
    holder.bits.push_back(component.bits_per_value[tensor]);
  return holder;
}

/// The Einsums that hold a tensor otherwise than this one.
std::vector<OtherHolder> other_holders(const BoundProblem& problem, const BoundEinsum& bound,
                                       std::size_t index) {
  const OtherHolder own = holder_of(bound, index);
  std::vector<OtherHolder> others;
  for (const EinsumId user : users_in_order(problem, bound.tensors[index])) {
    const BoundEinsum& other = problem[user];
    const int local = other.local_tensor[bound.tensors[index].index()];
    OtherHolder holder = holder_of(other, static_cast<std::size_t>(local));
    if (!(holder == own) && std::find(others.begin(), others.end(), holder) == others.end())
      others.push_back(std::move(holder));
  }
  return others;
}

/// Whether an access reads something of what a maker of the tensor makes.
bool reads_of(const Einsum& reader, const TensorAccess& read, const Einsum& maker) {
  for (std::size_t r = 0; r < read.projection.size(); ++r) {
    const auto [first, last] = touched_range(reader, read.projection[r]);
    const auto [low, high] = touched_range(maker, maker.output().projection[r]);
    if (last < low || high < first) return false;
  }
  return true;
}

/// What other Einsums read or write of the tensor at the same step.
void find_steps(const BoundProblem& problem, const BoundEinsum& bound, LocalTensor* tensor) {
  tensor->stepped.assign(tensor->relevance.size(), false);
  if (!tensor->intermediate) return;
  for (const BoundAccess& held : bound.held)
    for (const BoundIndex& index : held.index)
      if (bound.tensors[static_cast<std::size_t>(held.tensor)] == tensor->id &&
          index.terms.size() == 1 && index.slack + index.others > 0)
        tensor->stepped[static_cast<std::size_t>(index.terms[0].variable)] = true;
  const Einsum& einsum = problem.workload[bound.einsum];
  for (EinsumId maker : problem.roles.makers[tensor->id.index()]) {
    const Einsum& made_by = problem.workload[maker];
    for (const TensorAccess& access : einsum.accesses) {
      if (access.tensor != tensor->id || access.is_output ||
          (problem.roles.has_several_makers(tensor->id) && !reads_of(einsum, access, made_by)))
        continue;
      for (std::size_t r = 0; r < access.projection.size(); ++r)
        for (const AffineTerm& term : access.projection[r].terms)
          if (access.projection[r].constant > made_by.output().projection[r].constant)
            tensor->rank_of[static_cast<std::size_t>(bound.local_variable[term.variable.index()])] =
                -1;
    }
  }
}

/// What a variable walks that walks `walked` (-1: nothing) and a rank further on.
std::int32_t walk_too(std::int32_t walked, std::size_t rank, std::size_t n_ranks) {
  const auto r = static_cast<std::int32_t>(rank);
  return walked < 0 ? r : (walked + 1) * static_cast<std::int32_t>(n_ranks) + r;
}

LocalTensor make_local_tensor(const BoundProblem& problem, const Einsum& einsum,
                              const BoundEinsum& bound, std::size_t index) {
  LocalTensor tensor;
  tensor.id = bound.tensors[index];
  tensor.shared = problem.roles.is_shared(tensor.id);
  tensor.intermediate = problem.roles.is_intermediate(tensor.id);
  tensor.persistent = problem.workload[tensor.id].persistent;
  tensor.relevance = bound.relevance[index];
  tensor.instances = static_cast<double>(problem.workload.n_instances) *
                     static_cast<double>(most_instances(problem, tensor.id));
  if (tensor.shared) tensor.other_holders = other_holders(problem, bound, index);
  tensor.held = bound.held_relevance[index];
  tensor.rank_of.assign(tensor.relevance.size(), -1);
  tensor.is_input = bound.inputs >> index & 1;
  tensor.is_output = bound.output >> index & 1;
  const TensorAccess* access = find_access(einsum, tensor.id);
  SLUICE_CHECK(access != nullptr, "a tensor of an Einsum has no access");
  for (std::size_t r = 0; r < access->projection.size(); ++r)
    for (const AffineTerm& term : access->projection[r].terms) {
      const auto v = static_cast<std::size_t>(bound.local_variable[term.variable.index()]);
      if (tensor.relevance[v] == Relevance::kRelevant)
        tensor.rank_of[v] = walk_too(tensor.rank_of[v], r, access->projection.size());
    }
  tensor.parted = walks_parts(problem.workload, problem.roles, bound.einsum, tensor.id);
  find_steps(problem, bound, &tensor);
  return tensor;
}

/// Variables along which this Einsum reads its own output of earlier steps.
std::vector<bool> carried_variables(const Einsum& einsum, const BoundEinsum& bound) {
  std::vector<bool> carried(einsum.iteration_space.size(), false);
  for (const TensorAccess& access : einsum.accesses) {
    if (access.is_output || access.tensor != einsum.output().tensor) continue;
    if (const auto step = step_variable(einsum.output(), access))
      carried[static_cast<std::size_t>(bound.local_variable[step->index()])] = true;
  }
  return carried;
}

/// Marks variables that an index expression couples with others, or uses in another way than as one
/// plain rank of a tensor.
void find_coupled(const BoundEinsum& bound, EinsumShape* shape) {
  shape->coupled.assign(shape->sizes.size(), false);
  shape->group.resize(shape->sizes.size());
  std::iota(shape->group.begin(), shape->group.end(), 0U);
  const auto visit = [&](const BoundAccess& access) {
    std::vector<int> uses(shape->sizes.size(), 0);
    for (const BoundIndex& index : access.index) {
      for (const BoundTerm& term : index.terms) {
        const auto v = static_cast<std::size_t>(term.variable);
        if (index.terms.size() > 1 || term.coefficient != 1 || index.slack + index.others != 0 ||
            ++uses[v] > 1)
          shape->coupled[v] = true;
        const std::uint32_t from = shape->group[v];
        const std::uint32_t to =
            shape->group[static_cast<std::size_t>(index.terms.front().variable)];
        for (std::uint32_t& g : shape->group)
          if (g == from) g = to;
      }
    }
  };
  for (const BoundAccess& access : bound.accesses) visit(access);
  for (const BoundAccess& access : bound.held) visit(access);
}

}  // namespace

namespace {

/// What a persistent tensor reserves in each component, if it is backed there.
std::vector<double> bits_for_life(const BoundProblem& problem, TensorId tensor) {
  std::vector<double> most(problem.arch.components.size(), 0);
  const auto widen = [&](const BoundEinsum& user) {
    const int local = user.local_tensor[tensor.index()];
    double volume = 0;
    for (const BoundAccess& held : user.held) {
      if (held.tensor != local) continue;
      double part = 1;
      for (const BoundIndex& index : held.index) part *= static_cast<double>(index.whole);
      volume += part;
    }
    for (std::size_t c = 0; c < most.size(); ++c)
      most[c] = std::max(
          most[c], volume * user.components[c].bits_per_value[static_cast<std::size_t>(local)]);
  };
  for (EinsumId user : problem.roles.users(tensor)) widen(problem[user]);
  const double instances = static_cast<double>(problem.workload.n_instances) *
                           static_cast<double>(most_instances(problem, tensor));
  for (double& bits : most) bits *= instances;
  return most;
}

/// A tensor that copies lead from or to, and the first one on the way there.
struct Relative {
  TensorId id, via;
};

/// All of them, or without those that lie behind a persistent tensor: it is the room for them.
std::vector<Relative> relatives_of(const BoundProblem& problem, TensorId tensor,
                                   bool behind_persistent) {
  const Workload& workload = problem.workload;
  std::vector<Relative> found{{tensor, tensor}};
  const auto meet = [&](TensorId id, TensorId via) {
    for (const Relative& known : found)
      if (known.id == id) return;
    found.push_back({id, via});
  };
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Relative at = found[i];
    if (i > 0 && workload[at.id].persistent && !behind_persistent) continue;
    for (const EinsumId user : users_in_order(problem, at.id))
      if (workload[user].is_copy_operation)
        for (const TensorAccess& access : workload[user].accesses)
          meet(access.tensor, i == 0 ? access.tensor : at.via);
  }
  found.erase(found.begin());
  return found;
}

/// Says of a shared tensor which persistent ones may give it room; `kept` gets their ids.
void find_relatives(const BoundProblem& problem, const BoundEinsum& bound, LocalTensor* tensor,
                    std::vector<TensorId>* kept) {
  for (const Relative& relative : relatives_of(problem, tensor->id, true)) {
    const int local = bound.local_tensor[relative.id.index()];
    if (local >= 0) tensor->relatives |= std::uint64_t{1} << local;
  }
  for (const Relative& relative : relatives_of(problem, tensor->id, false)) {
    if (!problem.workload[relative.id].persistent || !tensor->shared || tensor->persistent)
      continue;
    tensor->kept_copies.push_back(
        {bits_for_life(problem, relative.id), bound.local_tensor[relative.via.index()]});
    kept->push_back(relative.id);
  }
}

void find_kept_copies(const BoundProblem& problem, const BoundEinsum& bound,
                      std::vector<LocalTensor>* tensors) {
  std::vector<std::vector<TensorId>> kept(tensors->size());
  for (std::size_t t = 0; t < tensors->size(); ++t)
    find_relatives(problem, bound, &(*tensors)[t], &kept[t]);
  for (std::size_t t = 0; t < tensors->size(); ++t) {
    for (std::size_t i = 0; i < kept[t].size(); ++i) {
      KeptCopy& copy = (*tensors)[t].kept_copies[i];
      if (copy.via < 0) continue;
      const std::vector<TensorId>& behind = kept[static_cast<std::size_t>(copy.via)];
      const auto at = std::find(behind.begin(), behind.end(), kept[t][i]);
      if (at != behind.end()) copy.of_via = static_cast<std::int32_t>(at - behind.begin());
    }
  }
}

void find_copies(const Workload& workload, std::vector<LocalTensor>* tensors) {
  for (const Einsum& einsum : workload.einsums) {
    if (!einsum.is_copy_operation) continue;
    std::int32_t source = -1;
    LocalTensor* copy = nullptr;
    for (const TensorAccess& access : einsum.accesses) {
      for (std::size_t t = 0; t < tensors->size(); ++t) {
        if ((*tensors)[t].id != access.tensor) continue;
        if (access.is_output)
          copy = &(*tensors)[t];
        else
          source = static_cast<std::int32_t>(t);
      }
    }
    if (copy != nullptr) copy->copy_of = source;
  }
}

}  // namespace

std::int64_t odd_fanouts(const Arch& arch) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  std::int64_t common = 1;
  for (const Component& component : arch.components)
    for (const SpatialDimension& dimension : component.spatial) {
      const std::int64_t odd = odd_part_of(std::clamp<std::int64_t>(dimension.fanout, 1, kMost));
      if (const std::int64_t next = std::lcm(common, odd); next <= kMost) common = next;
    }
  return common;
}

EinsumShape make_einsum_shape(const BoundProblem& problem, EinsumId id) {
  const Einsum& einsum = problem.workload[id];
  EinsumShape shape;
  shape.einsum = id;
  for (const VariableRange& range : einsum.iteration_space) {
    shape.variables.push_back(range.variable);
    shape.sizes.push_back(range.size);
  }
  for (std::size_t t = 0; t < problem[id].tensors.size(); ++t)
    shape.tensors.push_back(make_local_tensor(problem, einsum, problem[id], t));
  find_copies(problem.workload, &shape.tensors);
  find_kept_copies(problem, problem[id], &shape.tensors);
  find_coupled(problem[id], &shape);
  shape.carried = carried_variables(einsum, problem[id]);
  shape.recurrence = recurrence_role(problem.workload, problem.roles, id);
  shape.odd_fanouts = odd_fanouts(problem.arch);
  shape.is_copy = einsum.is_copy_operation;
  shape.multiplicity =
      static_cast<double>(problem.workload.n_instances) * static_cast<double>(einsum.n_instances);
  return shape;
}

}  // namespace sluice::fused
