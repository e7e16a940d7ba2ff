#include "chain_tensors.h"

#include <algorithm>
#include <limits>

#include "model/bind/compute_bound.h"
#include "model/bind/divisors.h"
#include "model/bind/iteration_counts.h"
#include "model/bind/operand_costs.h"

namespace sluice {
namespace {

std::vector<std::size_t> memories_of(const BoundProblem& problem, const BoundCompute& compute) {
  std::vector<std::size_t> memories;
  for (std::size_t p = 0; p < compute.path.size(); ++p)
    if (problem.arch[compute.path[p]].is_memory()) memories.push_back(p);
  return memories;
}

/// Of accesses beside others to the same tensor, and of outputs that leave their ranks, nothing is
/// known.
bool is_known(const BoundProblem& problem, EinsumId id, const BoundAccess& access) {
  return !(access.is_output && access.leaves_ranks) && is_only_access(problem, id, access);
}

/// Whether copies lead from one of the tensors to the other: they may share what a memory holds.
bool are_copies(const Workload& workload, TensorId a, TensorId b) {
  if (a == b) return false;
  std::vector<TensorId> found{a};
  for (std::size_t next = 0; next < found.size(); ++next)
    for (const Einsum& einsum : workload.einsums) {
      if (!einsum.is_copy_operation || find_access(einsum, found[next]) == nullptr) continue;
      for (const TensorAccess& access : einsum.accesses)
        if (std::find(found.begin(), found.end(), access.tensor) == found.end())
          found.push_back(access.tensor);
    }
  return std::find(found.begin(), found.end(), b) != found.end();
}

/// Whether all that use a tensor may share a loop over one of its ranks: each has a variable that
/// walks it alone. Of copies, and of tensors that several Einsums make, nothing is said.
bool all_may_share(const BoundProblem& problem, TensorId tensor, std::size_t rank) {
  if (problem.roles.has_several_makers(tensor)) return true;
  const std::vector<EinsumId> users = problem.roles.users(tensor);
  return std::all_of(users.begin(), users.end(), [&](EinsumId user) {
    if (problem.workload[user].is_copy_operation) return true;
    const BoundEinsum& bound = problem[user];
    return std::any_of(bound.accesses.begin(), bound.accesses.end(),
                       [&](const BoundAccess& access) {
                         if (bound.tensors[static_cast<std::size_t>(access.tensor)] != tensor)
                           return false;
                         const std::vector<BoundTerm>& terms = access.index[rank].terms;
                         return std::any_of(terms.begin(), terms.end(), [&](const BoundTerm& term) {
                           return access.relevance[static_cast<std::size_t>(term.variable)] ==
                                  Relevance::kRelevant;
                         });
                       });
  });
}

/// Per variable of an access: whether a loop over it that stands above the tensor's first node can
/// be shared by all others that use the tensor.
std::vector<char> shared_variables(const BoundProblem& problem, TensorId tensor,
                                   const BoundAccess& access) {
  std::vector<char> result(access.relevance.size(), 0);
  for (std::size_t r = 0; r < access.index.size(); ++r)
    for (const BoundTerm& term : access.index[r].terms) {
      const auto v = static_cast<std::size_t>(term.variable);
      if (access.relevance[v] == Relevance::kRelevant && all_may_share(problem, tensor, r))
        result[v] = 1;
    }
  return result;
}

}  // namespace

ChainTensors::ChainTensors(const BoundProblem& problem, EinsumId id, const BoundCompute& compute,
                           Counted counted, std::size_t most_spreads)
    : memories(memories_of(problem, compute)),
      spreads(std::make_shared<Spreads>(problem, id, compute, memories, most_spreads)),
      points(iteration_points(problem.workload[id]) * instances_of(problem, id)) {
  const BoundEinsum& bound = problem[id];
  for (const VariableRange& range : problem.workload[id].iteration_space)
    sizes.push_back(range.size);
  for (const std::size_t place : memories) {
    size_bits.push_back(bound.components[compute.path[place].index()].size_bits);
    forces_order.push_back(
        problem.arch[compute.path[place]].tensor_policy()->force_memory_hierarchy_order);
    instances.push_back(bound.components[compute.path[place].index()].instances);
    separate_ports.push_back(has_separate_ports(problem, id, compute.path[place]));
  }
  for (const BoundAccess& access : bound.accesses) {
    if (!is_known(problem, id, access)) {
      knows_all = false;
      continue;
    }
    ChainTensor own;
    own.access = &access;
    own.tensor = bound.tensors[static_cast<std::size_t>(access.tensor)];
    own.values = values_of(problem, id, access);
    own.has_windows = has_windows(access);
    if (counted == Counted::kPart)
      own.share = 1.0 / static_cast<double>(problem.roles.users(own.tensor).size());
    for (std::size_t m = 0; m < memories.size(); ++m) {
      const ComponentId memory = compute.path[memories[m]];
      const Hold hold = hold_of(problem, id, memory, own.tensor);
      if (!hold.must && !hold.may) continue;
      own.memories.push_back(m);
      own.must.push_back(hold.must);
      own.bits.push_back(
          bound.components[memory.index()].bits_per_value[static_cast<std::size_t>(access.tensor)]);
      const ValueCost read = read_cost(problem, id, memory, access.tensor);
      const ValueCost write = write_cost(problem, id, memory, access.tensor);
      own.read_j.push_back(read.energy_j);
      own.write_j.push_back(write.energy_j);
      own.read_s.push_back(read.seconds);
      own.write_s.push_back(write.seconds);
      own.whole_read.push_back(read.whole);
      own.whole_write.push_back(write.whole);
      const bool drains =
          std::get<Memory>(problem.arch[memory].kind).draining_reads == DrainingReads::kCounted;
      own.drain_j.push_back(drains ? read.energy_j : 0);
      std::vector<TileLimit>& limits = own.limits.emplace_back();
      for (const TileLimit& limit : bound.components[memory.index()].tile_limits)
        if ((limit.tensors >> access.tensor & 1) != 0) limits.push_back(limit);
    }
    const auto must_be_first = [&](std::size_t m) {
      return must_hold_first(problem, id, compute, compute.path[memories[m]], own.tensor);
    };
    while (own.last_backing + 1 < own.memories.size() && !own.must[own.last_backing] &&
           !must_be_first(own.memories[own.last_backing]))
      ++own.last_backing;
    // Other loops above the first node would compute values again, but for rows that are passed on.
    if (counted == Counted::kPart || problem.roles.has_several_makers(own.tensor)) {
      for (const Relevance seen : access.relevance)
        own.may_be_cut.push_back(seen != Relevance::kIrrelevant ||
                                 problem.roles.has_several_makers(own.tensor));
      own.may_be_spread.assign(access.relevance.size(), 1);
    } else {
      own.may_be_cut = own.may_be_spread = shared_variables(problem, own.tensor, access);
    }
    const bool must_be_outermost =
        !own.memories.empty() && own.memories.front() == 0 && own.must.front();
    if (counted == Counted::kPart && must_be_outermost &&
        is_compulsory(problem.roles, own.tensor, access.is_output))
      own.compulsory = own.values;
    // The room of one will do for all of them.
    if (std::any_of(tensors.begin(), tensors.end(), [&](const ChainTensor& other) {
          return are_copies(problem.workload, own.tensor, other.tensor);
        }))
      own.bits.assign(own.bits.size(), 0);
    own.is_backed_first = must_be_outermost;
    own.is_above_all = problem.workload[own.tensor].persistent;
    own.has_nodes = must_be_outermost || !own.is_above_all;
    for (const std::vector<GapFactors>& gap : spreads->factors()) {
      own.most_same.push_back(1);
      for (const GapFactors& factors : gap)
        own.most_same.back() = std::max(own.most_same.back(), own.same_in(factors.all));
    }
    tensors.push_back(std::move(own));
  }
  spreads->set_kinds([&](const Factors64& factors) {
    std::vector<double> key = {product_of(factors)};
    for (const ChainTensor& tensor : tensors) key.push_back(tensor.same_in(factors));
    return key;
  });
}

bool ChainTensor::equals(const ChainTensor& other) const {
  const auto same_term = [](const BoundTerm& a, const BoundTerm& b) {
    return a.variable == b.variable && a.coefficient == b.coefficient;
  };
  const auto same_index = [&](const BoundIndex& a, const BoundIndex& b) {
    return a.slack == b.slack &&
           std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(), same_term);
  };
  const auto same_limit = [](const TileLimit& a, const TileLimit& b) {
    return a.variable == b.variable && a.minimum == b.minimum && a.maximum == b.maximum;
  };
  return access->is_output == other.access->is_output &&
         access->relevance == other.access->relevance &&
         std::equal(access->index.begin(), access->index.end(), other.access->index.begin(),
                    other.access->index.end(), same_index) &&
         std::equal(limits.begin(), limits.end(), other.limits.begin(), other.limits.end(),
                    [&](const auto& a, const auto& b) {
                      return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_limit);
                    }) &&
         memories == other.memories && must == other.must && bits == other.bits &&
         read_j == other.read_j && write_j == other.write_j && read_s == other.read_s &&
         write_s == other.write_s && whole_read == other.whole_read &&
         whole_write == other.whole_write && drain_j == other.drain_j && values == other.values &&
         compulsory == other.compulsory && share == other.share &&
         is_backed_first == other.is_backed_first && last_backing == other.last_backing &&
         may_be_cut == other.may_be_cut && may_be_spread == other.may_be_spread &&
         is_above_all == other.is_above_all && has_nodes == other.has_nodes;
}

bool ChainTensors::equals(const ChainTensors& other) const {
  return spreads->equals(*other.spreads) && memories == other.memories &&
         size_bits == other.size_bits && forces_order == other.forces_order &&
         sizes == other.sizes && points == other.points &&
         std::equal(tensors.begin(), tensors.end(), other.tensors.begin(), other.tensors.end(),
                    [](const ChainTensor& a, const ChainTensor& b) { return a.equals(b); });
}

void ChainTensors::charge_for_time(std::size_t memory, double j_per_s) {
  const double of_one = j_per_s / instances[memory];
  for (ChainTensor& tensor : tensors)
    for (std::size_t i = 0; i < tensor.memories.size(); ++i) {
      if (tensor.memories[i] != memory) continue;
      tensor.read_j[i] += tensor.read_s[i] * of_one;
      tensor.write_j[i] += tensor.write_s[i] * of_one;
      if (tensor.drain_j[i] > 0) tensor.drain_j[i] = tensor.read_j[i];
    }
}

void ChainTensors::discount(std::size_t n_memories, double share) {
  for (ChainTensor& tensor : tensors)
    for (std::size_t i = 0; i < tensor.memories.size() && tensor.memories[i] < n_memories; ++i) {
      tensor.read_j[i] *= share;
      tensor.write_j[i] *= share;
      tensor.drain_j[i] *= share;
    }
}

double ChainTensors::n_states(const Spread& spread) const {
  double n = 1;
  for (std::size_t v = 0; v < sizes.size(); ++v)
    n *= static_cast<double>(divisors_of(sizes[v] / spread.all[v]).size());
  for (const ChainTensor& tensor : tensors)
    if (tensor.has_nodes) n *= static_cast<double>(tensor.memories.size() + 1);
  for (std::size_t g = spread.gaps.size(); g < spreads->gaps().size(); ++g)
    n *= static_cast<double>(spreads->factors()[g].size());
  return n;
}

bool ChainTensors::have_windows() const {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const ChainTensor& tensor) { return tensor.slides(); });
}

double ChainTensor::same_in(const Factors64& factors) const {
  double instances = 1;
  for (std::size_t v = 0; v < factors.size(); ++v)
    if (access->relevance[v] == Relevance::kIrrelevant)
      instances *= static_cast<double>(factors[v]);
  return instances;
}

bool ChainTensor::is_between(const SpatialGap& gap, std::size_t outer, std::size_t inner) const {
  const bool is_outside = gap.memory <= outer && !(is_above_all && outer == 0);
  return !is_outside && gap.memory <= inner && (gap.may_reuse >> access->tensor & 1) != 0;
}

double ChainTensors::spread_between(const ChainTensor& tensor, std::size_t outer, std::size_t inner,
                                    const Spread& spread) const {
  double product = 1;
  for (std::size_t g = 0; g < spread.gaps.size(); ++g)
    if (tensor.is_between(spreads->gaps()[g], outer, inner))
      product *= tensor.same_in(spread.gaps[g]->all);
  return product;
}

/// The same in gaps that a group of spreads leaves open, at most.
double ChainTensors::open_same_in(const ChainTensor& tensor, std::size_t outer, std::size_t inner,
                                  const Spread& spread) const {
  double product = 1, room = 1;
  if (!spreads->is_group(spread)) return product;
  for (std::size_t g = spread.gaps.size(); g < spreads->gaps().size(); ++g)
    if (tensor.is_between(spreads->gaps()[g], outer, inner)) product *= tensor.most_same[g];
  for (std::size_t v = 0; v < sizes.size(); ++v)
    if (tensor.access->relevance[v] == Relevance::kIrrelevant)
      room *= static_cast<double>(sizes[v] / spread.all[v]);
  return std::min(product, room);
}

ChainTensors::Moves ChainTensors::operand_moves(const ChainTensor& tensor, std::size_t i,
                                                const Spread& spread) const {
  // Where it may stand above all loops in any memory, as if it stood in the first one.
  const std::size_t outer = tensor.has_nodes ? tensor.memories[i] : 0;
  const double served = spread_between(tensor, outer, memories.size(), spread) *
                        open_same_in(tensor, outer, memories.size(), spread);
  Moves moves{points / served, 0};
  if (!tensor.access->is_output || tensor.has_windows) return moves;
  // The first sums, on any instance, are not there to be read yet.
  double first_sums = tensor.values * tensor.same_in(spread.all);
  for (std::size_t g = spread.gaps.size(); g < spreads->gaps().size(); ++g)
    first_sums *= tensor.most_same[g];
  moves.returned = std::max(0.0, points - first_sums) / served;
  return moves;
}

ChainTensors::WholeActions ChainTensors::whole_actions(const ChainTensor& tensor, std::size_t i,
                                                       const Spread& spread) const {
  const bool is_outermost = tensor.is_backed_first && i == 0;
  if (!tensor.has_nodes || tensor.share < 1 || (tensor.access->is_output && !is_outermost))
    return {};
  double in_use = 1;
  const bool is_outside = tensor.is_above_all && i == 0;
  for (std::size_t g = 0; g < spread.gaps.size() && !is_outside; ++g)
    if (spreads->gaps()[g].memory <= tensor.memories[i])
      in_use *= static_cast<double>(product_of(spread.gaps[g]->all));
  return {in_use * tensor.whole_read[i], in_use * tensor.whole_write[i]};
}

double ChainTensors::operand_energy(const ChainTensor& tensor, std::size_t i,
                                    const Spread& spread) const {
  const Moves moves = operand_moves(tensor, i, spread);
  const WholeActions whole = whole_actions(tensor, i, spread);
  const bool is_output = tensor.access->is_output;
  const double compulsory = i == 0 ? tensor.compulsory : 0;
  const double moved = in_whole_actions(moves.moved, is_output ? whole.write : whole.read);
  return std::max(0.0, moved - compulsory) * (is_output ? tensor.write_j[i] : tensor.read_j[i]) +
         in_whole_actions(moves.returned, whole.read) * tensor.read_j[i];
}

double ChainTensors::least_operand_energy(const ChainTensor& tensor, const Spread& spread) const {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = tensor.memories.size(); i-- > 0;) {
    least = std::min(least, operand_energy(tensor, i, spread));
    if (tensor.must[i] && tensor.has_nodes) break;
  }
  return least;
}

/// Of all ways down to the operands: the least sum of what nodes and operands cost.
/// `node(from, i)`: of the i-th memory's node, which gets its tiles from memory `from`.
template <class Node, class Operand>
double ChainTensors::least_way(const ChainTensor& tensor, const Node& node,
                               const Operand& operand) const {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  std::vector<double> down_to(tensor.memories.size(), kNone);  // nodes as far in as each memory
  double least = kNone;
  for (std::size_t i = 0; i < down_to.size(); ++i) {
    if (tensor.is_backed_first ? i == 0 : i <= tensor.last_backing) down_to[i] = 0;
    for (std::size_t from = i; from-- > 0;) {
      down_to[i] = std::min(down_to[i], down_to[from] + node(from, i));
      if (tensor.must[from] != 0) break;
    }
    if (std::find(tensor.must.begin() + static_cast<std::ptrdiff_t>(i) + 1, tensor.must.end(), 1) ==
        tensor.must.end())
      least = std::min(least, down_to[i] + operand(i));
  }
  return least;
}

ChainTensors::Filled ChainTensors::least_filled(const ChainTensor& tensor, std::size_t from,
                                                std::size_t i, const Spread& spread) const {
  double values = tensor.values;  // on each of the instances that have the same
  for (std::size_t g = 0; g < spread.gaps.size(); ++g)
    if (spreads->gaps()[g].memory <= tensor.memories[i])
      values *= tensor.same_in(spread.gaps[g]->all);
  return {values,
          values / spread_between(tensor, tensor.memories[from], tensor.memories[i], spread)};
}

double ChainTensors::least_energy(const ChainTensor& tensor, const Spread& spread) const {
  if (!tensor.has_nodes) return least_operand_energy(tensor, spread);
  const bool is_output = tensor.access->is_output;
  const auto node = [&](std::size_t from, std::size_t i) {
    const Filled filled = least_filled(tensor, from, i, spread);
    const double compulsory = from == 0 ? tensor.compulsory : 0;
    return tensor.share * (filled.inside * (is_output ? tensor.drain_j[i] : tensor.write_j[i]) +
                           std::max(0.0, filled.outside - compulsory) *
                               (is_output ? tensor.write_j[from] : tensor.read_j[from]));
  };
  return least_way(tensor, node, [&](std::size_t i) { return operand_energy(tensor, i, spread); });
}

double ChainTensors::least_energy(const Spread& spread) const {
  double sum = 0;
  for (const ChainTensor& tensor : tensors) sum += least_energy(tensor, spread);
  return sum;
}

double ChainTensors::least_busy_seconds(const ChainTensor& tensor, std::size_t memory, bool reads,
                                        bool writes, const Spread& spread) const {
  if (!tensor.has_nodes) return 0;
  const bool is_output = tensor.access->is_output;
  const auto read = [&](std::size_t i, double values) {
    return reads && values > 0 && tensor.memories[i] == memory ? values * tensor.read_s[i] : 0;
  };
  const auto write = [&](std::size_t i, double values) {
    return writes && values > 0 && tensor.memories[i] == memory ? values * tensor.write_s[i] : 0;
  };
  const auto node = [&](std::size_t from, std::size_t i) {
    if (tensor.share < 1) return 0.0;  // it may be another Einsum that waits
    const Filled filled = least_filled(tensor, from, i, spread);
    if (!is_output) return write(i, filled.inside) + read(from, filled.outside);
    return write(from, filled.outside) + (tensor.drain_j[i] > 0 ? read(i, filled.inside) : 0);
  };
  return least_way(tensor, node, [&](std::size_t i) {
    const Moves moves = operand_moves(tensor, i, spread);
    return (is_output ? write(i, moves.moved) : read(i, moves.moved)) + read(i, moves.returned);
  });
}

double ChainTensors::least_busy_seconds(const Spread& spread) const {
  double longest = 0;
  for (std::size_t m = 0; m < memories.size(); ++m) {
    double active = 1;
    for (std::size_t g = 0; g < spreads->gaps().size(); ++g)
      if (spreads->gaps()[g].memory <= m)
        active *= g < spread.gaps.size() ? product_of(spread.gaps[g]->all) : spreads->most_lanes(g);
    const auto busy = [&](bool reads, bool writes) {
      double seconds = 0;
      for (const ChainTensor& tensor : tensors)
        seconds += least_busy_seconds(tensor, m, reads, writes, spread);
      return seconds / std::min(instances[m], active);
    };
    longest =
        std::max(longest, separate_ports[m] != 0 ? std::max(busy(true, false), busy(false, true))
                                                 : busy(true, true));
  }
  return longest;
}

}  // namespace sluice
