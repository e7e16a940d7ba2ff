#include "too_small.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "mapper/common/first_memory.h"
#include "mapper/common/too_small_text.h"
#include "mapper/request/overridden_rules.h"
#include "mapper/space/template.h"
#include "model/bind/iteration_counts.h"
#include "model/bind/keep_rule.h"
#include "model/bind/operand_costs.h"
#include "sluice/support/human_units.h"

namespace sluice {
namespace {

/// Of the tensors that copies tie together (in one memory they may be one), the largest counts.
class Rooms {
 public:
  explicit Rooms(const Workload& workload) {
    for (std::uint32_t t = 0; t < workload.tensors.size(); ++t) family_.push_back(t);
    for (const Einsum& einsum : workload.einsums) {
      if (!einsum.is_copy_operation) continue;
      const std::uint32_t from = family_[einsum.accesses.front().tensor.index()];
      const std::uint32_t to = family_[einsum.output().tensor.index()];
      std::replace(family_.begin(), family_.end(), from, to);
    }
    most_.assign(family_.size(), 0);
  }

  void add(TensorId tensor, double bits) {
    double& most = most_[family_[tensor.index()]];
    total_ += std::max(0.0, bits - most);
    most = std::max(most, bits);
    counted_.push_back(tensor);
  }
  double total_bits() const { return total_; }
  const std::vector<TensorId>& counted() const { return counted_; }

  void clear() {
    for (const TensorId tensor : counted_) most_[family_[tensor.index()]] = 0;
    counted_.clear();
    total_ = 0;
  }

 private:
  std::vector<std::uint32_t> family_;  ///< per tensor
  std::vector<double> most_;           ///< per family, in bits
  std::vector<TensorId> counted_;
  double total_ = 0;
};

/// Values of a whole tensor that an Einsum touches, padding included.
double whole_values(const BoundEinsum& einsum, std::size_t t) {
  double values = 0;
  for (const BoundAccess& held : einsum.held) {
    if (held.tensor != static_cast<int>(t)) continue;
    double volume = 1;
    for (const BoundIndex& index : held.index) volume *= static_cast<double>(index.whole);
    values = std::max(values, volume);
  }
  return values;
}

/// How many values a memory has room for at least, where it holds a tensor: two of a
/// double-buffered one, if more than one comes by. (A tile that never changes has no second one.)
double least_values(const BoundProblem& problem, const BoundEinsum& einsum, std::size_t t,
                    ComponentId id) {
  const bool changes = !problem.workload[einsum.tensors[t]].persistent &&
                       whole_values(einsum, t) > einsum.components[id.index()].instances;
  return changes && fused::is_double_buffered(problem.arch[id]) ? 2 : 1;
}

std::optional<NoMapping> too_small_for(const BoundProblem& problem, const BoundEinsum& einsum,
                                       ComponentId id, Rooms* rooms) {
  const BoundComponent& bound = einsum.components[id.index()];
  if (!problem.arch[id].is_memory() || !bound.enabled) return std::nullopt;
  const TensorMask kept = always_named(bound.keep);
  rooms->clear();
  for (std::size_t t = 0; t < einsum.tensors.size(); ++t)
    if (((kept >> t) & 1) != 0)
      rooms->add(einsum.tensors[t], bound.bits_per_value[t] * least_values(problem, einsum, t, id));
  if (rooms->total_bits() <= bound.size_bits) return std::nullopt;
  NoMapping no;
  no.tensors = rooms->counted();
  no.einsum = einsum.einsum;
  no.memory = id;
  no.excess_bits = rooms->total_bits() - bound.size_bits;
  tell_too_small(problem, &no);
  return no;
}

/// Bits of a whole tensor in the memory that backs it, of all instances of the Einsum if it stays.
double whole_bits(const BoundProblem& problem, const BoundEinsum& einsum, std::size_t t,
                  ComponentId memory) {
  const bool stays = problem.workload[einsum.tensors[t]].persistent;
  return whole_values(einsum, t) * einsum.components[memory.index()].bits_per_value[t] *
         (stays ? instances_of(problem, einsum.einsum) : 1);
}

/// Among how many instances of the outermost memory an Einsum may be dealt out, at most: over
/// variables that index all of its tensors that do not stay.
double most_shares(const BoundProblem& problem, const BoundEinsum& einsum, double instances) {
  const std::vector<VariableRange>& space = problem.workload[einsum.einsum].iteration_space;
  double shares = 1;
  for (std::size_t v = 0; v < space.size(); ++v) {
    bool indexes_all = true;
    for (std::size_t t = 0; t < einsum.tensors.size(); ++t)
      indexes_all = indexes_all && (problem.workload[einsum.tensors[t]].persistent ||
                                    einsum.relevance[t][v] != Relevance::kIrrelevant);
    if (indexes_all) shares *= static_cast<double>(space[v].size);
  }
  return std::min(shares, instances);
}

/// The outermost memory holds what it must as a whole, its instances together.
std::optional<NoMapping> too_small_for_whole(const BoundProblem& problem, const BoundEinsum& einsum,
                                             Rooms* rooms) {
  std::optional<ComponentId> id;
  for (const BoundCompute& compute : einsum.computes) {
    const auto first = first_memory(problem, einsum, compute);
    if (!first || (id && *id != *first)) return std::nullopt;
    id = first;
  }
  if (!id) return std::nullopt;
  const BoundComponent& bound = einsum.components[id->index()];
  const double shares = most_shares(problem, einsum, bound.instances);
  rooms->clear();
  for (std::size_t t = 0; t < einsum.tensors.size(); ++t)
    if (hold_of(problem, einsum.einsum, *id, einsum.tensors[t]).must)
      rooms->add(einsum.tensors[t],
                 whole_bits(problem, einsum, t, *id) /
                     (problem.workload[einsum.tensors[t]].persistent ? 1 : shares));
  const double bits = rooms->total_bits();
  if (bits <= bound.size_bits) return std::nullopt;
  NoMapping no;
  no.tensors = rooms->counted();
  no.einsum = einsum.einsum;
  no.memory = *id;
  no.excess_bits = bits - bound.size_bits;
  const std::string needed = needed_size(problem, *id, bits, &no);
  no.reason =
      fmt::format("Einsum {}: {} {} as a whole in {}, which needs {}{} and has {}",
                  problem.workload[einsum.einsum].name, names_of_tensors(problem, no.tensors),
                  no.tensors.size() == 1 ? "lies" : "lie", problem.arch[*id].name, needed,
                  shares > 1 ? " in each instance, or more," : "", human_size(bound.size_bits));
  return no;
}

/// On the way to each of the computes that accept the Einsum.
std::optional<NoMapping> too_small_for(const BoundProblem& problem, const BoundEinsum& einsum,
                                       Rooms* rooms) {
  std::optional<NoMapping> first;
  for (const BoundCompute& compute : einsum.computes) {
    std::optional<NoMapping> no;
    for (const ComponentId id : compute.path)
      if (!no) no = too_small_for(problem, einsum, id, rooms);
    if (!no) return std::nullopt;
    if (!first) first = std::move(no);
  }
  return first;
}

double needed_by(const BoundProblem& problem, const NoMapping& no) {
  return problem[*no.einsum].components[no.memory->index()].size_bits + no.excess_bits;
}

/// Whether a persistent tensor stands in this memory for the whole run, on every way to a compute.
/// Not one that is copied: both may be one and the same.
bool is_backed_in(const BoundProblem& problem, const BoundEinsum& einsum, std::size_t t,
                  ComponentId memory) {
  const auto is_first = [&](const BoundCompute& compute) {
    for (const ComponentId id : compute.path) {
      if (!problem.arch[id].is_memory() || !einsum.components[id.index()].enabled) continue;
      const Hold hold = hold_of(problem, einsum.einsum, id, einsum.tensors[t]);
      if (id == memory) return hold.must;
      if (hold.may) return false;
    }
    return false;
  };
  if (!problem.workload[einsum.tensors[t]].persistent) return false;
  const std::vector<EinsumId> users = problem.roles.users(einsum.tensors[t]);
  return std::none_of(users.begin(), users.end(),
                      [&](EinsumId e) { return problem.workload[e].is_copy_operation; }) &&
         std::all_of(einsum.computes.begin(), einsum.computes.end(), is_first);
}

/// Persistent tensors are all there at the same time.
std::optional<NoMapping> too_small_for_persistent(const BoundProblem& problem, ComponentId id) {
  NoMapping no;
  std::vector<char> is_counted(problem.workload.tensors.size(), 0);
  double bits = 0, size_bits = 0;
  for (const BoundEinsum& einsum : problem.einsums) {
    const BoundComponent& bound = einsum.components[id.index()];
    if (!bound.enabled || bound.instances != 1) return std::nullopt;
    size_bits = bound.size_bits;
    for (std::size_t t = 0; t < einsum.tensors.size(); ++t) {
      const TensorId tensor = einsum.tensors[t];
      if (is_counted[tensor.index()] != 0 || !is_backed_in(problem, einsum, t, id)) continue;
      is_counted[tensor.index()] = 1;
      bits += whole_bits(problem, einsum, t, id);
      no.tensors.push_back(tensor);
    }
  }
  if (bits <= size_bits) return std::nullopt;
  no.memory = id;
  no.excess_bits = bits - size_bits;
  const std::string needed = needed_size(problem, id, bits, &no);
  no.reason =
      fmt::format("{} {} in {} for the whole run: {}, and it has {}",
                  names_of_tensors(problem, no.tensors), no.tensors.size() == 1 ? "stays" : "stay",
                  problem.arch[id].name, needed, human_size(size_bits));
  return no;
}

}  // namespace

std::optional<NoMapping> too_small_memory(const BoundProblem& problem,
                                          const Constraints& constraints) {
  if (may_override_keep(problem, constraints)) return std::nullopt;
  for (std::size_t c = 0; c < problem.arch.components.size(); ++c)
    if (problem.arch[ComponentId(c)].is_memory())
      if (auto no = too_small_for_persistent(problem, ComponentId(c))) return no;
  std::optional<NoMapping> most;
  Rooms rooms(problem.workload);
  for (const BoundEinsum& einsum : problem.einsums) {
    // Below its backing nodes a copy has no storage.
    if (problem.workload[einsum.einsum].is_copy_operation) continue;
    auto no = too_small_for_whole(problem, einsum, &rooms);
    if (!no) no = too_small_for(problem, einsum, &rooms);
    if (no && (!most ||
               (no->memory == most->memory && needed_by(problem, *no) > needed_by(problem, *most))))
      most = std::move(no);
  }
  return most;
}

}  // namespace sluice
