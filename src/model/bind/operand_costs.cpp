#include "operand_costs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "compute_bound.h"
#include "divisors.h"
#include "iteration_counts.h"

namespace sluice {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// A memory that an operand may come from (or go to).
struct Source {
  ValueCost moved;         ///< a value that is read, or of an output written
  ValueCost returned;      ///< a partial sum that is read again
  double most_served = 1;  ///< points at the same time below one instance
  double compulsory = 0;   ///< values whose energy is left out
  double instances = 1;    ///< that work at the same time
  bool separate_ports = false;
  ComponentId memory;
};

struct Operand {
  std::vector<Source> sources;
  /// Per index that tells values apart: its variables.
  std::vector<std::vector<int>> indices;
  bool is_output = false;
  std::optional<double> sums;  ///< of an output whose partial sums are read again: its values
};

/// How many points share what one instance of a memory moves of an operand, at most, and over how
/// many computes the points of one value of it are spread.
struct Sharing {
  double served = kInfinite, spread = kInfinite;
};

/// What all points move of an operand.
struct Moves {
  double moved = 0, returned = 0;
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

/// Of a value in a memory.
ValueCost cost_of(const BoundProblem& problem, EinsumId id, ComponentId memory, int tensor,
                  int action) {
  if (action < 0) return {};
  const Component& component = problem.arch[memory];
  const Action& found = component.actions[static_cast<std::size_t>(action)];
  const double bits =
      problem[id].components[memory.index()].bits_per_value[static_cast<std::size_t>(tensor)];
  const double calls = bits / bits_moved_by(found, bits);
  return {calls * found.energy_j,
          seconds_of(calls, problem, id, memory, static_cast<std::size_t>(action)),
          component.has_whole_actions() && calls > 0 ? 1 / calls : 0};
}

bool is_asked(const OperandQuestion& question, int tensor) {
  return question.inside == nullptr || (*question.inside >> tensor & 1) != 0;
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
        points_(iteration_points(einsum_) * instances_of(problem, id)),
        seconds_per_point_(sluice::seconds_per_point(problem, id, compute)) {}

  /// Nothing where no memory holds it.
  std::optional<Operand> operand_of(const BoundAccess& access) const {
    Operand operand;
    for (const std::size_t place : places_of(access))
      operand.sources.push_back(source(access, place));
    if (operand.sources.empty()) return std::nullopt;
    operand.indices = separate_indices(access);
    operand.is_output = access.is_output;
    if (access.is_output && !has_windows(access)) operand.sums = values_of(problem_, id_, access);
    return operand;
  }

  /// Of the memories that may be the innermost one, from the inside out.
  std::vector<std::size_t> places_of(const BoundAccess& access) const {
    const auto only = question_.places.empty()
                          ? std::nullopt
                          : question_.places[static_cast<std::size_t>(access.tensor)];
    std::vector<std::size_t> places;
    for (const std::size_t p :
         holders_before(problem_, id_, compute_, tensor_of(access), compute_.path.size()).places) {
      if (p < first_inside()) break;
      const bool is_far =
          question_.direct != access.tensor || p <= question_.place_of_cut(compute_);
      if (is_far && (!only || *only == p)) places.push_back(p);
    }
    return places;
  }

  /// The first sum of each value on each of the memory's instances is not there to be read yet.
  Moves moves(const Operand& operand, const Source& source, const Sharing& sharing) const {
    const double served = std::min(sharing.served, source.most_served);
    const double spread = std::min(sharing.spread, all_instances() * served);
    Moves moves{points_ / served, 0};
    if (operand.sums) moves.returned = std::max(0.0, points_ - *operand.sums * spread) / served;
    return moves;
  }

  double energy(const Operand& operand, const Source& source, const Sharing& sharing) const {
    const auto [moved, returned] = moves(operand, source, sharing);
    return std::max(0.0, moved - source.compulsory) * source.moved.energy_j +
           returned * source.returned.energy_j;
  }

  /// Of the computes, where so many of them work at the same time (s).
  double compute_seconds(double instances) const {
    return points_ * seconds_per_point_ / instances;
  }

  /// A whole number, of shares that are none.
  double all_instances() const {
    return std::round(bound_.components[compute_.component.index()].instances * use_.front());
  }

  /// Computes that work at the same time, where all outside of what is asked for does.
  double working_instances() const {
    return bound_.components[compute_.component.index()].instances * use_[first_inside()];
  }

  /// Whether there is one instance outside of what is asked for.
  bool has_one_cut() const {
    return question_.inside == nullptr || bound_.components[question_.cut.index()].instances == 1;
  }

  /// Factors of the spatial loops over each variable, all together: at most so large.
  std::vector<double> widest() const { return widest_spread(problem_, id_, compute_); }

 private:
  std::size_t first_inside() const { return question_.first_inside(compute_); }

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
    result.instances = bound.instances * use_[first_inside()] / use_[place + 1];
    result.separate_ports = has_separate_ports(problem_, id_, memory);
    if (memory == question_.outermost) result.compulsory = values_of(problem_, id_, access);
    const ValueCost read = read_cost(problem_, id_, memory, access.tensor);
    result.moved = access.is_output ? write_cost(problem_, id_, memory, access.tensor) : read;
    if (access.is_output) result.returned = read;
    return result;
  }

  TensorId tensor_of(const BoundAccess& access) const {
    return bound_.tensors[static_cast<std::size_t>(access.tensor)];
  }

  const BoundProblem& problem_;
  const Einsum& einsum_;
  const BoundEinsum& bound_;
  EinsumId id_;
  const BoundCompute& compute_;
  OperandQuestion question_;
  std::vector<double> use_;
  double points_;
  double seconds_per_point_;
};

/// How long the memories that hand over operands are busy at least: each operand comes from one of
/// its sources.
class BusyMemories {
 public:
  BusyMemories(const OperandPrices& prices, const std::vector<Operand>& operands)
      : prices_(prices), operands_(operands) {
    double choices = 1;
    for (const Operand& operand : operands) choices *= static_cast<double>(operand.sources.size());
    may_choose_ = choices <= kMostChoices;
  }

  /// `sharing`: per operand.
  double seconds(const std::vector<Sharing>& sharing) {
    sharing_ = &sharing;
    busy_.clear();
    return choose(0);
  }

 private:
  static constexpr double kMostChoices = 32;
  struct Busy {
    ComponentId memory;
    double read_s = 0, write_s = 0;
    bool separate_ports = false;
    double seconds() const { return separate_ports ? std::max(read_s, write_s) : read_s + write_s; }
  };

  double choose(std::size_t o) {
    if (o == operands_.size()) {
      double most = 0;
      for (const Busy& busy : busy_) most = std::max(most, busy.seconds());
      return most;
    }
    // Of too many choices together those alone that are none.
    const Operand& operand = operands_[o];
    if (!may_choose_ && operand.sources.size() > 1) return choose(o + 1);
    double least = kInfinite;
    for (const Source& source : operand.sources) {
      const std::vector<Busy> saved = busy_;
      add(operand, source, (*sharing_)[o]);
      least = std::min(least, choose(o + 1));
      busy_ = saved;
    }
    return least;
  }

  void add(const Operand& operand, const Source& source, const Sharing& sharing) {
    auto at = std::find_if(busy_.begin(), busy_.end(),
                           [&](const Busy& busy) { return busy.memory == source.memory; });
    if (at == busy_.end()) at = busy_.insert(at, {source.memory, 0, 0, source.separate_ports});
    const auto [moved, returned] = prices_.moves(operand, source, sharing);
    const double own_s = moved * source.moved.seconds / source.instances;
    (operand.is_output ? at->write_s : at->read_s) += own_s;
    at->read_s += returned * source.returned.seconds / source.instances;
  }

  const OperandPrices& prices_;
  const std::vector<Operand>& operands_;
  const std::vector<Sharing>* sharing_ = nullptr;
  std::vector<Busy> busy_;
  bool may_choose_ = false;
};

/// Goes through the spatial factors of all variables together, with what each operand costs then.
class SpatialFactors {
 public:
  SpatialFactors(const Einsum& einsum, double instances, const OperandPrices& prices,
                 const std::vector<Operand>& operands)
      : instances_(instances),
        prices_(prices),
        operands_(operands),
        busy_(prices, operands),
        sharing_(operands.size()),
        factors_(einsum.iteration_space.size(), 1) {
    const std::vector<double> widest = prices.widest();
    for (std::size_t v = 0; v < factors_.size(); ++v) {
      const std::int64_t size = einsum.iteration_space[v].size;
      const double most = std::min(instances, widest[v]);
      std::vector<double>& own = divisors_.emplace_back();
      for (const std::int64_t factor : divisors_of(size))
        if (static_cast<double>(factor) <= most) own.push_back(static_cast<double>(factor));
    }
  }

  /// Nothing where there are too many of them.
  std::optional<OperandCosts> least() {
    extend(0, 1);
    return n_seen_ < kMost ? std::optional(least_) : std::nullopt;
  }

 private:
  static constexpr std::size_t kMost = 20000;

  void extend(std::size_t v, double product) {
    if (n_seen_ >= kMost) return;
    if (v == factors_.size()) {
      ++n_seen_;
      share(product);
      least_.energy_j = std::min(least_.energy_j, energy());
      const double compute_s = prices_.compute_seconds(product);
      if (compute_s < least_.seconds)
        least_.seconds = std::min(least_.seconds, std::max(compute_s, busy_.seconds(sharing_)));
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

  void share(double product) {
    for (std::size_t o = 0; o < operands_.size(); ++o) {
      const double served = product / touched(operands_[o]);
      sharing_[o] = {served, served};
    }
  }

  double energy() const {
    double sum = 0;
    for (std::size_t o = 0; o < operands_.size(); ++o) {
      double least = kInfinite;
      for (const Source& source : operands_[o].sources)
        least = std::min(least, prices_.energy(operands_[o], source, sharing_[o]));
      sum += least;
    }
    return sum;
  }

  double instances_;
  const OperandPrices& prices_;
  const std::vector<Operand>& operands_;
  BusyMemories busy_;
  std::vector<Sharing> sharing_;  // per operand
  std::vector<double> factors_;
  std::vector<std::vector<double>> divisors_;
  std::size_t n_seen_ = 0;
  OperandCosts least_{kInfinite, kInfinite};
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

bool has_windows(const BoundAccess& access) {
  return std::find(access.relevance.begin(), access.relevance.end(), Relevance::kPartial) !=
         access.relevance.end();
}

bool must_hold_first(const BoundProblem& problem, EinsumId einsum, const BoundCompute& compute,
                     ComponentId memory, TensorId tensor) {
  const BoundEinsum& bound = problem[einsum];
  const BoundComponent& rules = bound.components[memory.index()];
  const TensorMask bit = TensorMask{1} << bound.local_tensor[tensor.index()];
  const std::size_t n_tensors = bound.tensors.size();
  if (!rules.enabled || (rules.forbidden & bit) != 0) return false;
  const auto is_further_out = [&](ComponentId other) {
    return problem.arch[other].is_memory() && compute.depth[other.index()] >= 0 &&
           compute.depth[other.index()] < compute.depth[memory.index()];
  };
  const auto asks = [&](const KeepRule& rule) {
    if (rule.table.empty() ||
        !std::all_of(rule.depends_on.begin(), rule.depends_on.end(), is_further_out))
      return false;
    TensorMask in_all = bit;
    for (std::size_t entry = 0; entry < rule.table.size(); ++entry) {
      bool is_held = false;
      for (std::size_t i = 0; i < rule.depends_on.size(); ++i)
        is_held = is_held || (entry >> (i * n_tensors) & bit) != 0;
      if (!is_held) in_all &= rule.table[entry];
    }
    return in_all != 0;
  };
  return asks(rules.keep) || asks(rules.back);
}

Holders holders_before(const BoundProblem& problem, EinsumId einsum, const BoundCompute& compute,
                       TensorId tensor, std::size_t end) {
  Holders holders;
  for (std::size_t p = end; p-- > 0 && !holders.has_must;) {
    if (!problem.arch[compute.path[p]].is_memory()) continue;
    const Hold hold = hold_of(problem, einsum, compute.path[p], tensor);
    if (!hold.may) continue;
    holders.places.push_back(p);
    holders.has_must = hold.must;
  }
  return holders;
}

bool is_only_access(const BoundProblem& problem, EinsumId id, const BoundAccess& access) {
  const std::vector<TensorAccess>& all = problem.workload[id].accesses;
  const TensorId tensor = problem[id].tensors[static_cast<std::size_t>(access.tensor)];
  return std::count_if(all.begin(), all.end(),
                       [&](const TensorAccess& other) { return other.tensor == tensor; }) == 1;
}

bool is_touched_once(const BoundProblem& problem, EinsumId id, const BoundAccess& access) {
  return !access.leaves_ranks && is_only_access(problem, id, access);
}

double values_of(const BoundProblem& problem, EinsumId id, const BoundAccess& access) {
  const Einsum& einsum = problem.workload[id];
  const TensorId tensor = problem[id].tensors[static_cast<std::size_t>(access.tensor)];
  const auto own = std::find_if(einsum.accesses.begin(), einsum.accesses.end(),
                                [&](const TensorAccess& other) { return other.tensor == tensor; });
  return touched_values(problem.workload, einsum, *own) * instances_of(problem, id);
}

ValueCost read_cost(const BoundProblem& problem, EinsumId id, ComponentId memory, int tensor) {
  return cost_of(problem, id, memory, tensor, problem[id].components[memory.index()].read_action);
}

ValueCost write_cost(const BoundProblem& problem, EinsumId id, ComponentId memory, int tensor) {
  return cost_of(problem, id, memory, tensor, problem[id].components[memory.index()].write_action);
}

std::vector<std::vector<std::size_t>> operand_places(const BoundProblem& problem, EinsumId id,
                                                     const BoundCompute& compute,
                                                     const OperandQuestion& question) {
  const OperandPrices prices(problem, id, compute, question);
  std::vector<std::vector<std::size_t>> places(problem[id].tensors.size());
  for (const BoundAccess& access : problem[id].accesses)
    if (is_asked(question, access.tensor) && is_touched_once(problem, id, access))
      places[static_cast<std::size_t>(access.tensor)] = prices.places_of(access);
  return places;
}

OperandCosts operand_costs(const BoundProblem& problem, EinsumId id, const BoundCompute& compute,
                           const OperandQuestion& question) {
  const OperandPrices prices(problem, id, compute, question);
  std::vector<Operand> operands;
  for (const BoundAccess& access : problem[id].accesses) {
    if (!is_asked(question, access.tensor) || !is_touched_once(problem, id, access)) continue;
    if (auto operand = prices.operand_of(access))
      operands.push_back(std::move(*operand));
    else if (question.direct == access.tensor)
      return {kInfinite, kInfinite};
  }
  OperandCosts costs;
  costs.seconds =
      std::max(prices.compute_seconds(prices.working_instances()),
               BusyMemories(prices, operands).seconds(std::vector<Sharing>(operands.size())));
  if (question.factors == Factors::kPerfect) {
    SpatialFactors factors(problem.workload[id], prices.all_instances(), prices, operands);
    if (const auto least = factors.least())
      // Below several instances of a cut, loops further out may use fewer of them.
      return {least->energy_j, prices.has_one_cut() ? least->seconds : costs.seconds};
  }
  for (const Operand& operand : operands) {
    double least = kInfinite;
    for (const Source& source : operand.sources)
      least = std::min(least, prices.energy(operand, source, {}));
    costs.energy_j += least;
  }
  return costs;
}

}  // namespace sluice
