#include "operand_energy.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "compute_bound.h"
#include "iteration_counts.h"

namespace sluice {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// A memory that an operand may come from (or go to).
struct Source {
  double energy_j = 0;     ///< of a value
  double most_served = 1;  ///< points at the same time below one instance
  double compulsory = 0;   ///< values that are left out
  ComponentId memory;
};

struct Operand {
  std::vector<Source> sources;
  /// Per index that tells values apart: its variables.
  std::vector<std::vector<int>> indices;
};

/// Variables by index; of indices that share some, one.
std::vector<std::vector<int>> separate_indices(const BoundAccess& access) {
  std::vector<std::vector<int>> indices;
  std::vector<int> used;
  for (const BoundIndex& index : access.index) {
    std::vector<int> own;
    for (const BoundTerm& term : index.terms) own.push_back(term.variable);
    if (std::find_first_of(own.begin(), own.end(), used.begin(), used.end()) != own.end()) continue;
    used.insert(used.end(), own.begin(), own.end());
    if (!own.empty()) indices.push_back(std::move(own));
  }
  return indices;
}

class OperandPrices {
 public:
  OperandPrices(const BoundProblem& problem, EinsumId id, const BoundCompute& compute,
                const OperandQuestion& question)
      : problem_(problem),
        einsum_(problem.workload[id]),
        bound_(problem[id]),
        id_(id),
        compute_(compute),
        question_(question),
        use_(largest_use_inside(problem, id, compute, question.factors)),
        points_(iteration_points(einsum_) * instances_of(problem, id)) {}

  /// Touched in one way, within its ranks.
  bool is_known(const BoundAccess& access) const {
    return !access.leaves_ranks && std::count_if(einsum_.accesses.begin(), einsum_.accesses.end(),
                                                 [&](const TensorAccess& other) {
                                                   return other.tensor == tensor_of(access);
                                                 }) == 1;
  }

  /// Nothing where no memory holds it.
  std::optional<Operand> operand_of(const BoundAccess& access) const {
    Operand operand;
    for (std::size_t p = compute_.path.size(); p-- > 0;) {
      const ComponentId memory = compute_.path[p];
      if (!problem_.arch[memory].is_memory()) continue;
      if (question_.inside != nullptr && !is_inside(p)) break;
      const Hold hold = hold_of(problem_, id_, memory, tensor_of(access));
      if (!hold.may) continue;
      operand.sources.push_back(source(access, p));
      if (hold.must) break;  // or a memory further in is
    }
    if (operand.sources.empty()) return std::nullopt;
    operand.indices = separate_indices(access);
    return operand;
  }

  double energy(const Source& source, double served) const {
    const double moved = points_ / std::min(served, source.most_served);
    return std::max(0.0, moved - source.compulsory) * source.energy_j;
  }

  double all_instances() const {
    return bound_.components[compute_.component.index()].instances * use_.front();
  }

  /// Factors of the spatial loops over each variable, all together: at most so large.
  std::vector<double> widest() const { return widest_spread(problem_, id_, compute_); }

 private:
  /// Whether a place of the path is further in than the cut.
  bool is_inside(std::size_t place) const {
    return static_cast<int>(place) > compute_.depth[question_.cut.index()];
  }

  Source source(const BoundAccess& access, std::size_t place) const {
    const ComponentId memory = compute_.path[place];
    const BoundComponent& bound = bound_.components[memory.index()];
    Source result;
    const bool persistent = problem_.workload[tensor_of(access)].persistent;  // above any loops
    result.most_served =
        std::max(1.0, persistent ? all_instances()
                                 : bound_.components[compute_.component.index()].instances /
                                       bound.instances * use_[place + 1]);
    result.memory = memory;
    if (memory == question_.outermost) result.compulsory = compulsory(access);
    const int action = access.is_output ? bound.write_action : bound.read_action;
    if (action < 0) return result;
    const Action& found = problem_.arch[memory].actions[static_cast<std::size_t>(action)];
    const double bits = bound.bits_per_value[static_cast<std::size_t>(access.tensor)];
    result.energy_j = bits / bits_moved_by(found, bits) * found.energy_j;
    return result;
  }

  TensorId tensor_of(const BoundAccess& access) const {
    return bound_.tensors[static_cast<std::size_t>(access.tensor)];
  }

  double compulsory(const BoundAccess& access) const {
    const auto own =
        std::find_if(einsum_.accesses.begin(), einsum_.accesses.end(),
                     [&](const TensorAccess& other) { return other.tensor == tensor_of(access); });
    return touched_values(problem_.workload, einsum_, *own) * instances_of(problem_, id_);
  }

  const BoundProblem& problem_;
  const Einsum& einsum_;
  const BoundEinsum& bound_;
  EinsumId id_;
  const BoundCompute& compute_;
  OperandQuestion question_;
  std::vector<double> use_;
  double points_;
};

/// Goes through the spatial factors of all variables together, with what each operand costs then.
class SpatialFactors {
 public:
  SpatialFactors(const Einsum& einsum, double instances, const OperandPrices& prices,
                 const std::vector<Operand>& operands)
      : instances_(instances),
        prices_(prices),
        operands_(operands),
        factors_(einsum.iteration_space.size(), 1) {
    const std::vector<double> widest = prices.widest();
    for (std::size_t v = 0; v < factors_.size(); ++v) {
      const std::int64_t size = einsum.iteration_space[v].size;
      const double most = std::min(instances, widest[v]);
      std::vector<double>& own = divisors_.emplace_back();
      for (std::int64_t f = 1; f <= size && static_cast<double>(f) <= most; ++f)
        if (size % f == 0) own.push_back(static_cast<double>(f));
    }
  }

  /// Nothing where there are too many of them.
  std::optional<double> least_energy() {
    extend(0, 1);
    return n_seen_ < kMost ? std::optional(least_) : std::nullopt;
  }

 private:
  static constexpr std::size_t kMost = 20000;

  void extend(std::size_t v, double product) {
    if (n_seen_ >= kMost) return;
    if (v == factors_.size()) {
      ++n_seen_;
      least_ = std::min(least_, energy(product));
      return;
    }
    for (const double factor : divisors_[v]) {
      if (product * factor > instances_) break;
      factors_[v] = factor;
      extend(v + 1, product * factor);
    }
    factors_[v] = 1;
  }

  /// At one time the instances touch so many values at least: of an index over several variables
  /// as many as the largest of their factors.
  double touched(const Operand& operand) const {
    double values = 1;
    for (const std::vector<int>& index : operand.indices) {
      double most = 1;
      for (const int v : index) most = std::max(most, factors_[static_cast<std::size_t>(v)]);
      values *= most;
    }
    return values;
  }

  double energy(double product) const {
    double sum = 0;
    for (const Operand& operand : operands_) {
      const double served = product / touched(operand);
      double least = kInfinite;
      for (const Source& source : operand.sources)
        least = std::min(least, prices_.energy(source, served));
      sum += least;
    }
    return sum;
  }

  double instances_;
  const OperandPrices& prices_;
  const std::vector<Operand>& operands_;
  std::vector<double> factors_;
  std::vector<std::vector<double>> divisors_;
  std::size_t n_seen_ = 0;
  double least_ = kInfinite;
};

}  // namespace

Hold hold_of(const BoundProblem& problem, EinsumId einsum, ComponentId memory, TensorId tensor) {
  const BoundComponent& rules = problem[einsum].components[memory.index()];
  if (!rules.enabled) return {.may = false};
  const TensorMask bit = TensorMask{1} << problem[einsum].local_tensor[tensor.index()];
  if ((rules.forbidden & bit) != 0) return {.may = false};
  if ((rules.asked & bit) != 0) return {.must = true};
  const auto sets = keep_sets(problem, einsum, memory,
                              std::vector<TensorMask>(problem.arch.components.size(), 0));
  if (!sets || !rules.keep.depends_on.empty() || !rules.back.depends_on.empty()) return {};
  const bool must = (sets->must & bit) != 0;
  return {must, must || (sets->may & bit) != 0 || !rules.may_keep.depends_on.empty()};
}

double operand_energy(const BoundProblem& problem, EinsumId id, const BoundCompute& compute,
                      const OperandQuestion& question, TensorMask tensors) {
  const OperandPrices prices(problem, id, compute, question);
  std::vector<Operand> operands;
  for (const BoundAccess& access : problem[id].accesses) {
    if ((tensors >> access.tensor & 1) == 0) continue;
    if (question.inside != nullptr && (*question.inside >> access.tensor & 1) == 0) continue;
    if (!prices.is_known(access)) continue;
    if (auto operand = prices.operand_of(access)) operands.push_back(std::move(*operand));
  }
  if (question.factors == Factors::kPerfect) {
    SpatialFactors factors(problem.workload[id], prices.all_instances(), prices, operands);
    if (const auto energy = factors.least_energy()) return *energy;
  }
  double energy_j = 0;
  for (const Operand& operand : operands) {
    double least = kInfinite;
    for (const Source& source : operand.sources)
      least = std::min(least, prices.energy(source, kInfinite));
    energy_j += least;
  }
  return energy_j;
}

double direct_energy(const BoundProblem& problem, EinsumId id, int tensor, ComponentId outermost,
                     ComponentId cut) {
  if (problem.workload[id].is_copy_operation) return 0;
  const OperandQuestion all{.factors = Factors::kPerfect, .outermost = outermost};
  const TensorMask others = ~(TensorMask{1} << tensor);
  double least = kInfinite;
  for (const BoundCompute& compute : problem[id].computes) {
    const OperandPrices prices(problem, id, compute, all);
    double direct = kInfinite;
    for (const BoundAccess& access : problem[id].accesses) {
      if (access.tensor != tensor) continue;
      if (!prices.is_known(access)) return 0;
      const auto operand = prices.operand_of(access);
      if (!operand) continue;
      for (const Source& source : operand->sources)
        if (compute.depth[source.memory.index()] <= compute.depth[cut.index()])
          direct = std::min(direct, prices.energy(source, kInfinite));
    }
    least = std::min(least, compute_energy(problem, id, compute) + direct +
                                operand_energy(problem, id, compute, all, others));
  }
  return least - compute_bound(problem, id, Factors::kPerfect, all).energy_j;
}

}  // namespace sluice
