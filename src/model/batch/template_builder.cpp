#include <algorithm>
#include <unordered_map>

#include "model/batch/template_program.h"
#include "model/legality/legality.h"
#include "model/occupancy/reservations.h"
#include "model/price/nest_pricer.h"
#include "model/traffic/access_counter.h"
#include "model/tree/finish_nests.h"
#include "model/tree/flatten.h"

namespace sluice {

/// Writes the program of one representative variant.
class TemplateProgram::Builder {
 public:
  Builder(const BoundProblem& problem, const FlatTree& tree, const std::vector<const Node*>& loops)
      : problem_(problem), tree_(tree), used_(problem.arch.components.size()) {
    for (std::size_t l = 0; l < loops.size(); ++l)
      input_of_.emplace(loops[l], static_cast<std::int64_t>(l));
    symbols_.trips_of_loop.resize(tree.loops.size());
    symbols_.tile_sizes.resize(tree.tile_sizes.size());
  }

  std::optional<TemplateProgram> build() {
    for (const Nest& nest : tree_.nests) {
      if (!nest.perfect || could_overflow(nest)) return std::nullopt;
      name_tiles(nest);
      limit_fanouts(nest);
    }
    for (const Nest& nest : tree_.nests)
      if (!price(nest)) return std::nullopt;
    hold_tiles();
    for (std::size_t n = 0; n < tree_.nests.size(); ++n) limit_memories(n);
    program_.steps_ = symbols_.steps();
    return std::move(program_);
  }

 private:
  /// Every count is a sum of few products, each no larger than a nest's points times what affine
  /// extents add.
  bool could_overflow(const Nest& nest) const {
    constexpr double kLimit = 0x1p60, kLargestTile = 0x1p50;
    double points = 1, widening = 1;
    for (const VariableRange& range : problem_.workload[nest.einsum].iteration_space) {
      if (static_cast<double>(range.size) > kLargestTile) return true;
      points *= static_cast<double>(range.size);
    }
    for (const BoundAccess& access : problem_[nest.einsum].accesses) {
      double ranks = 1;
      for (const BoundIndex& index : access.index) {
        double sum = 1 + static_cast<double>(index.slack);
        for (const BoundTerm& term : index.terms)
          sum += static_cast<double>(std::abs(term.coefficient));
        ranks *= sum;
      }
      widening = std::max(widening, ranks);
    }
    return points * widening > kLimit;
  }

  /// Symbols of every tile and trip count on the way to a compute.
  void name_tiles(const Nest& nest) {
    const Einsum& einsum = problem_.workload[nest.einsum];
    std::vector<Symbols::Value> tiles;
    for (const VariableRange& range : einsum.iteration_space)
      tiles.push_back(symbols_.constant(range.size));
    auto storage = nest.storages_begin;
    const auto note_storages = [&](int loops_above) {
      for (; storage < nest.storages_end && tree_.storages[storage].loops_above <= loops_above;
           ++storage)
        std::copy(tiles.begin(), tiles.end(),
                  symbols_.tile_sizes.begin() +
                      static_cast<std::ptrdiff_t>(tree_.storages[storage].tiles));
    };
    int n_loops = 0;
    for (auto l = nest.loops_begin; l < nest.loops_end; ++l, ++n_loops) {
      note_storages(n_loops);
      const NestLoop& loop = tree_.loops[l];
      Symbols::Value& current = tiles[static_cast<std::size_t>(loop.variable)];
      const Symbols::Value tile = symbols_.input(input_of_.at(loop.node));
      const Symbols::Value trips =
          loop.trips == 1 ? symbols_.constant(1) : symbols_.divide(current, tile);
      program_.divisions_.push_back({trips, tile, current});
      symbols_.trips_of_loop[l] = trips;
      if (loop.trips > 1) current = tile;
    }
    note_storages(n_loops);
    if (!einsum.is_copy_operation)
      program_.ones_.insert(program_.ones_.end(), tiles.begin(), tiles.end());
  }

  void limit_fanouts(const Nest& nest) {
    for (ComponentId id : nest.compute->path) {
      const auto& spatial = problem_[nest.einsum].components[id.index()].spatial;
      for (std::uint32_t d = 0; d < spatial.size(); ++d) {
        Symbols::Value used = symbols_.constant(1);
        for (auto l = nest.loops_begin; l < nest.loops_end; ++l) {
          const NestLoop& loop = tree_.loops[l];
          if (loop.spatial && loop.component == id && loop.dimension == d)
            used = symbols_.multiply(used, symbols_.trips_of_loop[l]);
        }
        program_.fanouts_.push_back({used, spatial[d].fanout});
      }
    }
  }

  // --- prices
  // -------------------------------------------------------------------------------------

  bool price(const Nest& nest) {
    BasicNestTraffic<Symbols::Value> traffic;
    count_nest(symbols_, problem_, tree_, nest, nullptr, traffic);
    if (symbols_.refused()) return false;
    pricing_ = &program_.nests_.emplace_back();
    pricing_->instances = static_cast<double>(problem_.workload.n_instances *
                                              problem_.workload[nest.einsum].n_instances);
    calls_of_.assign(problem_.arch.components.size(), {});
    used_.clear();
    charge(problem_, tree_, nest, traffic, *this);
    for (std::size_t c = 0; c < calls_of_.size(); ++c)
      if (used_[c] && !time(nest, c)) return false;
    leak(nest);
    return true;
  }

  friend class Charges<Symbols::Value, Builder>;
  void uses(ComponentId component) { used_.add(component); }
  void action(const ActionCharge<Symbols::Value>& charge) {
    NestPricing::Action& action = pricing_->actions.emplace_back(
        NestPricing::Action{charge.all, charge.busiest, charge.rate, charge.energy_j,
                            calls_of(charge.component, charge.action)});
    if (charge.instances) action.instances = *charge.instances;
  }
  void merges_for_free(Symbols::Value) {}
  Symbols::Value sum(Symbols::Value a, Symbols::Value b) { return symbols_.add(a, b); }
  // Routes are no program: nothing has crossed a network.
  void hops(const HopCharge<Symbols::Value>&) { symbols_.refuse(); }
  NetworkLoad<Symbols::Value>& load_of(ComponentId) { return no_load_; }
  void add(Symbols::Value, Symbols::Value, const Rate&) { symbols_.refuse(); }

  /// Index of an action's calls; components that are called have one for each of their actions.
  std::uint32_t calls_of(ComponentId component, std::size_t action) {
    std::vector<std::uint32_t>& calls = calls_of_[component.index()];
    for (std::size_t a = calls.size(); a < problem_.arch[component].actions.size(); ++a)
      calls.push_back(pricing_->n_calls++);
    return calls[action];
  }

  bool time(const Nest& nest, std::size_t c) {
    const Component& component = problem_.arch.components[c];
    if (calls_of_[c].empty()) return !component.total_latency;
    NestPricing::Busy& busy = pricing_->busy.emplace_back();
    return visit_time_terms(component, problem_[nest.einsum].components[c],
                            [&](std::size_t row, std::size_t action, const ActionTime& time) {
                              busy.divide = time.divides;
                              busy.rows.resize(row + 1);
                              busy.rows.back().push_back({calls_of_[c][action], time.factor});
                            });
  }

  void leak(const Nest& nest) {
    for (std::size_t c = 0; c < problem_.arch.components.size(); ++c) {
      const double power_w = problem_.arch.components[c].leak_power_w;
      const double instances = leaking_instances(problem_, nest.einsum, used_, c);
      if (power_w != 0 && instances != 0) pricing_->leaks.push_back({instances, power_w});
    }
  }

  // --- capacities
  // ---------------------------------------------------------------------------------

  /// The tiles that each entry of the tree holds for the nests that it serves (see finish_nests).
  void hold_tiles() {
    tiles_of_.resize(tree_.entries.size());
    for (const Nest& nest : tree_.nests) {
      const BoundEinsum& einsum = problem_[nest.einsum];
      for (auto s = nest.storages_begin; s < reserved_end(problem_, tree_, nest); ++s) {
        const NestStorage& storage = tree_.storages[s];
        Symbols::Value volume = symbols_.constant(0);
        for (const BoundAccess& access : einsum.held)
          if (access.tensor == storage.tensor)
            volume = symbols_.add(volume, symbols_.volume(tree_, storage, access));
        tiles_of_[storage.entry].push_back(
            {volume,
             einsum.components[storage.component.index()]
                 .bits_per_value[static_cast<std::size_t>(storage.tensor)],
             1});
      }
    }
  }

  void limit_memories(std::size_t n) {
    const BoundEinsum& einsum = problem_[tree_.nests[n].einsum];
    Reservations reservations(problem_, tree_);
    const std::vector<std::uint32_t> live = reservations.live_at(n);
    for (std::size_t c = 0; c < problem_.arch.components.size(); ++c) {
      const double capacity = einsum.components[c].size_bits;
      if (!problem_.arch.components[c].is_memory() || capacity == kUnbounded) continue;
      LiveSum sum;
      sum.capacity_bits = capacity;
      for (std::uint32_t reservation : live) {
        if (reservations.entry_of(reservation).component.index() != c) continue;
        auto& tiles = sum.reservations.emplace_back();
        for (std::uint32_t entry : reservations.entries_of(reservation))
          for (LiveSum::Tile tile : tiles_of_[entry]) {
            tile.multiple = reservations.multiple(reservation);
            tiles.push_back(tile);
          }
      }
      if (!sum.reservations.empty()) program_.live_.push_back(std::move(sum));
    }
  }

  const BoundProblem& problem_;
  const FlatTree& tree_;
  std::unordered_map<const Node*, std::int64_t> input_of_;
  Symbols symbols_;
  TemplateProgram program_;
  NestPricing* pricing_ = nullptr;
  std::vector<std::vector<std::uint32_t>> calls_of_;  ///< per component; empty: none called
  NetworkLoad<Symbols::Value> no_load_;
  UsedComponents used_;                               ///< in the current nest
  std::vector<std::vector<LiveSum::Tile>> tiles_of_;  ///< per entry of the tree
};

std::optional<TemplateProgram> TemplateProgram::build(const BoundProblem& problem,
                                                      const Mapping& variant,
                                                      const std::vector<const Node*>& loops) {
  ViolationReport report(problem, variant);
  FlatTree tree = flatten(problem, variant, report);
  finish_nests(problem, tree, report);
  check_legality(problem, tree, report);
  if (!report.empty() || !tree.collectives.empty()) return std::nullopt;
  return Builder(problem, tree, loops).build();
}

}  // namespace sluice
