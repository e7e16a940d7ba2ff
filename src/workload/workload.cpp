#include "sluice/workload/workload.h"

#include <algorithm>

#include "sluice/support/checked.h"
#include "sluice/support/error.h"

namespace sluice {
namespace {

template <class Id, class Values>
std::optional<Id> find_by_name(const Values& values, const std::string& name) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i].name == name) return Id(i);
  return std::nullopt;
}

}  // namespace

std::optional<TensorId> find_tensor(const Workload& workload, const std::string& name) {
  return find_by_name<TensorId>(workload.tensors, name);
}

std::optional<EinsumId> find_einsum(const Workload& workload, const std::string& name) {
  return find_by_name<EinsumId>(workload.einsums, name);
}

std::optional<RankVariableId> find_rank_variable(const Workload& workload,
                                                 const std::string& name) {
  return find_by_name<RankVariableId>(workload.rank_variables, name);
}

Relevance relevance(const TensorAccess& access, RankVariableId variable) {
  Relevance result = Relevance::kIrrelevant;
  for (const AffineExpression& index : access.projection) {
    const std::int64_t coefficient = index.coefficient_of(variable);
    if (coefficient == 0) continue;
    // A constant offset (`RM[i+1]`) leaves the tiles disjoint.
    if (index.terms.size() != 1 || coefficient != 1) return Relevance::kPartial;
    result = Relevance::kRelevant;
  }
  return result;
}

namespace {

/// Whether two accesses differ in the constant of an index that the variable moves, and nowhere in
/// their terms.
bool overlap_in(const TensorAccess& a, const TensorAccess& b, RankVariableId variable) {
  bool shifted = false;
  for (std::size_t r = 0; r < a.projection.size(); ++r) {
    const AffineExpression &x = a.projection[r], &y = b.projection[r];
    if (x.terms != y.terms) return false;
    shifted = shifted || (x.constant != y.constant && x.coefficient_of(variable) != 0);
  }
  return shifted;
}

}  // namespace

Relevance held_relevance(const Einsum& einsum, TensorId tensor, RankVariableId variable) {
  Relevance strongest = Relevance::kIrrelevant;
  for (const TensorAccess& access : einsum.accesses) {
    if (access.tensor != tensor) continue;
    strongest = std::max(strongest, relevance(access, variable));
    for (const TensorAccess& other : einsum.accesses)
      if (other.tensor == tensor && overlap_in(access, other, variable)) return Relevance::kPartial;
  }
  return strongest;
}

bool tells_points_apart(const Einsum& einsum) {
  std::vector<RankVariableId> known;
  const auto is_known = [&](const AffineTerm& term) {
    return std::find(known.begin(), known.end(), term.variable) != known.end();
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (const AffineExpression& index : einsum.output().projection) {
      if (std::count_if(index.terms.begin(), index.terms.end(), is_known) + 1 !=
          static_cast<std::ptrdiff_t>(index.terms.size()))
        continue;
      known.push_back(std::find_if_not(index.terms.begin(), index.terms.end(), is_known)->variable);
      progress = true;
    }
  }
  return known.size() == einsum.iteration_space.size();
}

void collect_variables(Einsum* einsum) {
  for (const TensorAccess& access : einsum->accesses)
    for (const AffineExpression& index : access.projection)
      for (const AffineTerm& term : index.terms)
        if (!uses_variable(*einsum, term.variable))
          einsum->iteration_space.push_back({term.variable, 0, 1});
}

std::int64_t variable_size(const Einsum& einsum, RankVariableId variable) {
  for (const VariableRange& range : einsum.iteration_space)
    if (range.variable == variable) return range.size;
  SLUICE_CHECK(false, "the Einsum " + einsum.name + " does not have this rank variable");
  return 0;
}

bool uses_variable(const Einsum& einsum, RankVariableId variable) {
  return std::any_of(einsum.iteration_space.begin(), einsum.iteration_space.end(),
                     [&](const VariableRange& range) { return range.variable == variable; });
}

const TensorAccess* find_access(const Einsum& einsum, TensorId tensor) {
  for (const TensorAccess& access : einsum.accesses)
    if (access.tensor == tensor) return &access;
  return nullptr;
}

std::vector<TensorId> tensors_of(const Einsum& einsum) {
  std::vector<TensorId> tensors;
  for (const TensorAccess& access : einsum.accesses)
    if (std::find(tensors.begin(), tensors.end(), access.tensor) == tensors.end())
      tensors.push_back(access.tensor);
  return tensors;
}

namespace {

/// TensorRoles::rank_classes.
std::vector<std::vector<std::uint32_t>> rank_classes(const Workload& workload) {
  std::vector<std::vector<std::uint32_t>> classes;
  std::vector<std::uint32_t> parent;
  for (const Tensor& tensor : workload.tensors) {
    std::vector<std::uint32_t>& own = classes.emplace_back();
    for (std::size_t r = 0; r < tensor.ranks.size(); ++r) {
      own.push_back(static_cast<std::uint32_t>(parent.size()));
      parent.push_back(own.back());
    }
  }
  const auto root_of = [&](std::uint32_t rank) {
    while (parent[rank] != rank) rank = parent[rank] = parent[parent[rank]];
    return rank;
  };
  std::vector<std::pair<RankVariableId, std::uint32_t>> walked;  // by the Einsum's variables
  for (const Einsum& einsum : workload.einsums) {
    walked.clear();
    for (const TensorAccess& access : einsum.accesses)
      for (std::size_t r = 0; r < access.projection.size(); ++r) {
        if (access.projection[r].terms.size() != 1) continue;
        const RankVariableId variable = access.projection[r].terms.front().variable;
        const std::uint32_t rank = classes[access.tensor.index()][r];
        const auto known = std::find_if(walked.begin(), walked.end(),
                                        [&](const auto& own) { return own.first == variable; });
        if (known == walked.end())
          walked.emplace_back(variable, rank);
        else
          parent[root_of(rank)] = root_of(known->second);
      }
  }
  for (std::vector<std::uint32_t>& own : classes)
    for (std::uint32_t& rank : own) rank = root_of(rank);
  return classes;
}

}  // namespace

TensorRoles tensor_roles(const Workload& workload) {
  TensorRoles roles;
  roles.makers.resize(workload.tensors.size());
  roles.consumers.resize(workload.tensors.size());
  roles.rank_classes = rank_classes(workload);
  for (std::size_t i = 0; i < workload.einsums.size(); ++i) {
    for (const TensorAccess& access : workload.einsums[i].accesses) {
      const std::size_t t = access.tensor.index();
      if (access.is_output) {
        roles.makers[t].emplace_back(i);
      } else if (roles.consumers[t].empty() || roles.consumers[t].back() != EinsumId(i)) {
        roles.consumers[t].push_back(EinsumId(i));
      }
    }
  }
  return roles;
}

std::vector<EinsumId> TensorRoles::users(TensorId t) const {
  std::vector<EinsumId> users = makers[t.index()];
  const auto n_makers = static_cast<std::ptrdiff_t>(users.size());
  for (EinsumId consumer : consumers[t.index()])
    if (std::find(users.begin(), users.begin() + n_makers, consumer) == users.begin() + n_makers)
      users.push_back(consumer);
  return users;
}

std::pair<std::int64_t, std::int64_t> touched_range(const Einsum& einsum,
                                                    const AffineExpression& index) {
  std::int64_t low = index.constant, high = low;
  for (const AffineTerm& term : index.terms)
    for (const VariableRange& range : einsum.iteration_space) {
      if (range.variable != term.variable) continue;
      const std::int64_t first = term.coefficient * range.minimum;
      const std::int64_t last = term.coefficient * (range.minimum + range.size - 1);
      low += std::min(first, last);
      high += std::max(first, last);
    }
  return {low, high};
}

std::vector<bool> walks_parts(const Workload& workload, const TensorRoles& roles, EinsumId user,
                              TensorId tensor) {
  std::vector<bool> walks(workload[user].iteration_space.size(), false);
  const std::vector<EinsumId>& makers = roles.makers[tensor.index()];
  for (std::size_t r = 0; r < workload[tensor].ranks.size(); ++r) {
    const auto made = [&](EinsumId maker) {
      return touched_range(workload[maker], workload[maker].output().projection[r]);
    };
    if (std::all_of(makers.begin(), makers.end(),
                    [&](EinsumId maker) { return made(maker) == made(makers.front()); }))
      continue;
    for (const TensorAccess& access : workload[user].accesses)
      for (std::size_t v = 0; v < walks.size() && access.tensor == tensor; ++v)
        walks[v] = walks[v] || access.projection[r].coefficient_of(
                                   workload[user].iteration_space[v].variable) != 0;
  }
  return walks;
}

std::int64_t tensor_volume(const Workload& workload, TensorId tensor) {
  std::int64_t volume = 1;
  for (RankId rank : workload[tensor].ranks) volume = checked_multiply(volume, workload[rank].size);
  return volume;
}

}  // namespace sluice
