#include "fill_energy.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "divisors.h"
#include "index_extent.h"
#include "iteration_counts.h"

namespace sluice {
namespace {

/// A tensor's node in its innermost memory.
struct InnerNode {
  const BoundAccess* access = nullptr;
  std::size_t place = 0;       ///< of the memory on the way to the compute
  double bits = 0;             ///< of a value
  double own_j = 0;            ///< of a value, at the memory
  double feeder_j = 0;         ///< at the memory further out
  double returned_j = 0;       ///< of a partial sum that comes back, at both
  double compulsory = 0;       ///< values whose energy at the memory further out is left out
  double multicast = 1;        ///< instances that one value at the memory further out is for
  std::optional<double> sums;  ///< of an output: partial sums that are not there to come back
  bool costs_nothing() const { return own_j == 0 && feeder_j == 0 && returned_j == 0; }
};

class Nodes {
 public:
  Nodes(const BoundProblem& problem, EinsumId id, const BoundCompute& compute,
        const OperandQuestion& question)
      : problem_(problem),
        bound_(problem[id]),
        id_(id),
        compute_(compute),
        question_(question),
        widest_(widest_spread(problem, id, compute)) {}

  std::vector<InnerNode> find() const {
    std::vector<InnerNode> nodes;
    for (const BoundAccess& access : bound_.accesses)
      if (auto node = node_of(access)) nodes.push_back(*node);
    return nodes;
  }

 private:
  std::optional<InnerNode> node_of(const BoundAccess& access) const {
    const TensorId tensor = tensor_of(access);
    const auto innermost = question_.places[static_cast<std::size_t>(access.tensor)];
    if (!innermost || problem_.workload[tensor].persistent ||
        instances_at(*innermost) != bound_.components[compute_.component.index()].instances)
      return std::nullopt;
    InnerNode node;
    node.access = &access;
    node.place = *innermost;
    node.bits = component_at(*innermost).bits_per_value[static_cast<std::size_t>(access.tensor)];
    if (problem_.roles.users(tensor).size() == 1) price(access, &node);
    return node;
  }

  void price(const BoundAccess& access, InnerNode* node) const {
    const std::optional<Feeder> feeder = feeder_of(access, node->place);
    if (!feeder) return;
    const double all = values_of(problem_, id_, access);
    const ComponentId memory = compute_.path[node->place];
    bool has_windows = false;
    double spread = 1;
    for (std::size_t v = 0; v < widest_.size(); ++v) {
      has_windows = has_windows || access.relevance[v] == Relevance::kPartial;
      if (access.relevance[v] == Relevance::kIrrelevant) spread *= std::min(widest_[v], size(v));
    }
    spread = std::min(spread, instances_at(node->place));
    node->multicast = std::max(1.0, std::min(feeder->instances, spread));
    if (feeder->may_be_outermost) node->compulsory = all;
    const double write_j = write_cost(problem_, id_, memory, access.tensor).energy_j;
    if (!access.is_output) {
      node->own_j = write_j;
      node->feeder_j = feeder->read_j;
      return;
    }
    if (std::get<Memory>(problem_.arch[memory].kind).draining_reads == DrainingReads::kCounted)
      node->own_j = read_cost(problem_, id_, memory, access.tensor).energy_j;
    node->feeder_j = feeder->write_j;
    if (has_windows) return;  // then other sums are there for the first time
    node->sums = all * spread;
    node->returned_j = write_j + feeder->read_j / node->multicast;
  }

  /// The next memory further out, of those that may be it the cheapest.
  struct Feeder {
    double read_j = std::numeric_limits<double>::infinity(), write_j = read_j;
    double instances = 1;  ///< of the inner memory, below one of its own
    bool may_be_outermost = false;
  };

  /// Nothing where the tensor may be backed in the inner memory. What a machine keeps is priced
  /// there.
  std::optional<Feeder> feeder_of(const BoundAccess& access, std::size_t inner) const {
    const Holders holders = holders_before(problem_, id_, compute_, tensor_of(access), inner);
    if (!holders.has_must) return std::nullopt;
    Feeder feeder;
    for (const std::size_t place : holders.places) {
      const ComponentId memory = compute_.path[place];
      const bool is_inside = place >= question_.first_inside(compute_);
      const auto price = [&](double energy_j) { return is_inside ? energy_j : 0; };
      feeder.read_j =
          std::min(feeder.read_j, price(read_cost(problem_, id_, memory, access.tensor).energy_j));
      feeder.write_j = std::min(feeder.write_j,
                                price(write_cost(problem_, id_, memory, access.tensor).energy_j));
      feeder.instances = std::max(feeder.instances, instances_at(inner) / instances_at(place));
      feeder.may_be_outermost = feeder.may_be_outermost || memory == question_.outermost;
    }
    return feeder;
  }

  TensorId tensor_of(const BoundAccess& access) const {
    return bound_.tensors[static_cast<std::size_t>(access.tensor)];
  }

  const BoundComponent& component_at(std::size_t place) const {
    return bound_.components[compute_.path[place].index()];
  }
  double instances_at(std::size_t place) const { return component_at(place).instances; }
  double size(std::size_t v) const {
    return static_cast<double>(problem_.workload[id_].iteration_space[v].size);
  }

  const BoundProblem& problem_;
  const BoundEinsum& bound_;
  EinsumId id_;
  const BoundCompute& compute_;
  const OperandQuestion& question_;
  std::vector<double> widest_;
};

/// All orders of the nodes, outermost first, and the loops below each of them, from the inside out.
/// Below a node stand loops that do not index its tensor, or move a window of it; others may as
/// well stand above.
class TileShapes {
 public:
  TileShapes(const BoundProblem& problem, EinsumId id, const BoundCompute& compute,
             std::vector<InnerNode> nodes, std::size_t* steps)
      : problem_(problem),
        bound_(problem[id]),
        compute_(compute),
        nodes_(std::move(nodes)),
        steps_(*steps),
        used_bits_(compute.path.size(), 0),
        points_(iteration_points(problem.workload[id]) * instances_of(problem, id)) {
    for (const VariableRange& range : problem.workload[id].iteration_space)
      divisors_.push_back(divisors_of(range.size));
    tile_.assign(divisors_.size(), 1);
    std::sort(nodes_.begin(), nodes_.end(), comes_first);
  }

  /// Infinite where not even the smallest tiles fit; 0 where the steps do not suffice.
  double least() {
    if (std::all_of(nodes_.begin(), nodes_.end(),
                    [](const InnerNode& n) { return n.costs_nothing(); }))
      return 0;
    do {
      if (is_order()) place(nodes_.size(), 0);
    } while (std::next_permutation(nodes_.begin(), nodes_.end(), comes_first));
    return steps_ > 0 ? least_ : 0;
  }

 private:
  static bool comes_first(const InnerNode& a, const InnerNode& b) { return a.access < b.access; }

  /// Nodes of a memory stand above those of the ones further in, where both ask for that.
  bool is_order() const {
    for (std::size_t i = 1; i < nodes_.size(); ++i)
      if (nodes_[i].place < nodes_[i - 1].place && forces_order(nodes_[i]) &&
          forces_order(nodes_[i - 1]))
        return false;
    return true;
  }

  bool forces_order(const InnerNode& node) const {
    return problem_.arch[compute_.path[node.place]].tensor_policy()->force_memory_hierarchy_order;
  }

  /// The loops below the last of the first `n` nodes, and what it and those above it cost.
  void place(std::size_t n, double cost) {
    if (cost >= least_ || steps_ == 0) return;
    --steps_;
    if (n == 0) {
      least_ = cost;
      return;
    }
    choose(n, 0, cost);
  }

  void choose(std::size_t n, std::size_t v, double cost) {
    const InnerNode& node = nodes_[n - 1];
    if (v == divisors_.size()) {
      const double bits = volume(node) * node.bits;
      double& used = used_bits_[node.place];
      used += bits;
      place(n - 1, cost + energy(node));
      used -= bits;
      return;
    }
    const std::int64_t before = tile_[v];
    for (const std::int64_t tile : divisors_[v]) {
      if (tile % before != 0) continue;
      tile_[v] = tile;
      if (volume(node) * node.bits + used_bits_[node.place] > size_of(node)) break;
      choose(n, v + 1, cost);
      if (node.access->relevance[v] == Relevance::kRelevant) break;
    }
    tile_[v] = before;
  }

  double size_of(const InnerNode& node) const {
    return bound_.components[compute_.path[node.place].index()].size_bits;
  }

  double extent(const BoundIndex& index) const {
    return static_cast<double>(
        extent_of(index, [&](int v) { return tile_[static_cast<std::size_t>(v)]; }));
  }

  double volume(const InnerNode& node) const {
    return volume_of(*node.access, [&](int v) { return tile_[static_cast<std::size_t>(v)]; });
  }

  /// Values that a visit moves: of an input whose window slides over one loop, the new ones.
  double moved(const InnerNode& node) const {
    double values = 1, least_share = 1;
    for (const BoundIndex& index : node.access->index) {
      const double all = extent(index);
      values *= all;
      if (node.access->is_output || index.terms.size() < 2) continue;
      for (const BoundTerm& term : index.terms) {
        const auto v = static_cast<std::size_t>(term.variable);
        const auto step = static_cast<double>(std::abs(term.coefficient) * tile_[v]);
        least_share = std::min(least_share, step / all);
      }
    }
    return values * least_share;
  }

  double energy(const InnerNode& node) const {
    if (node.costs_nothing()) return 0;
    double visits = points_;
    for (const std::int64_t tile : tile_) visits /= static_cast<double>(tile);
    const double values = visits * moved(node);
    double energy_j = values * node.own_j +
                      std::max(0.0, values / node.multicast - node.compulsory) * node.feeder_j;
    if (node.sums) energy_j += std::max(0.0, values - *node.sums) * node.returned_j;
    return energy_j;
  }

  const BoundProblem& problem_;
  const BoundEinsum& bound_;
  const BoundCompute& compute_;
  std::vector<InnerNode> nodes_;
  std::size_t& steps_;                               // that are left
  std::vector<std::vector<std::int64_t>> divisors_;  // per variable
  std::vector<std::int64_t> tile_;                   // per variable
  std::vector<double> used_bits_;                    // per place of the path
  double points_;
  double least_ = std::numeric_limits<double>::infinity();
};

/// Every choice of a place for each tensor.
void choose_places(const std::vector<std::vector<std::size_t>>& places, std::size_t tensor,
                   OperandQuestion* question, std::vector<OperandQuestion>* choices) {
  if (tensor == places.size()) {
    choices->push_back(*question);
    return;
  }
  question->places[tensor].reset();
  if (places[tensor].empty()) return choose_places(places, tensor + 1, question, choices);
  for (const std::size_t place : places[tensor]) {
    question->places[tensor] = place;
    choose_places(places, tensor + 1, question, choices);
  }
}

}  // namespace

double filled_operand_energy(const BoundProblem& problem, EinsumId id, const BoundCompute& compute,
                             const OperandQuestion& question, double operands_j) {
  constexpr double kMostChoices = 64;
  constexpr std::size_t kMostEinsums = 64;
  std::size_t steps = 50'000;
  const std::vector<std::vector<std::size_t>> places =
      operand_places(problem, id, compute, question);
  double n_choices = 1;
  for (const auto& own : places) n_choices *= std::max<double>(1, static_cast<double>(own.size()));
  if (n_choices > kMostChoices || problem.einsums.size() > kMostEinsums ||
      !std::isfinite(operands_j))
    return operands_j;
  OperandQuestion chosen = question;
  chosen.places.assign(places.size(), std::nullopt);
  std::vector<OperandQuestion> choices;
  choose_places(places, 0, &chosen, &choices);
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < choices.size(); ++i)
    order.emplace_back(operand_costs(problem, id, compute, choices[i]).energy_j, i);
  std::sort(order.begin(), order.end());
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [energy_j, i] : order) {
    if (energy_j >= least) break;
    const std::vector<InnerNode> nodes = Nodes(problem, id, compute, choices[i]).find();
    least = std::min(least, energy_j + TileShapes(problem, id, compute, nodes, &steps).least());
  }
  return std::isfinite(least) ? least : operands_j;
}

}  // namespace sluice
