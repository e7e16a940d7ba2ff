#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "sluice/model/binding.h"

namespace sluice {

struct ChainNode {
  TensorId tensor;
  ComponentId memory;
  bool sliding = false;
};
struct ChainLoop {
  std::size_t variable = 0;  ///< of the iteration space
  std::int64_t trips = 1;
  std::optional<std::pair<ComponentId, std::uint32_t>> spatial = std::nullopt;  ///< its dimension
};
/// Storage nodes and loops, outermost first.
using ChainSteps = std::vector<std::variant<ChainNode, ChainLoop>>;
/// One Einsum's.
struct Chain {
  ChainSteps steps;
  ComponentId compute;
};

/// What bounds count of an Einsum among others.
enum class Counted : std::uint8_t {
  /// Its part of what no mapping of the workload spends less than: a node that several Einsums may
  /// share in equal parts, and nothing of the compulsory traffic of the outermost memory.
  kPart,
  /// All that it moves in mappings whose Einsums share no node of a tensor but the first.
  kWhole,
};

/// Whether something on the way to a compute costs energy or room that chains do not know of.
bool has_unknown_costs(const BoundProblem& problem, const BoundCompute& compute);

/// What an Einsum costs at least if its points are spread over the computes in one way, or in one
/// of a group of ways.
struct SpreadBound {
  double seconds = 0;  ///< of the computes, or of a memory that is busy for longer
  /// Of the compute and what it and the memories on its way move (J), as far as it is counted.
  /// Networks and leakage are left out.
  double energy_j = 0;
  double price = 0;         ///< refine(): of no chain less
  bool is_refined = false;  ///< it knows no more
  std::size_t n_steps = 0;  ///< of refine(): those that are over
  bool is_group = false;    ///< to be split before it is refined
};

/// Ways to spread an Einsum in one list; more are groups at first.
inline constexpr std::size_t kMostSpreads = 20'000;

/// Lower bounds of one Einsum among the others, with perfect factors and no incremental nodes: one
/// for each way to spread its points over the computes. First what the operands cost, then, on
/// demand, the cheapest chain of nodes and loops: a shortest path through the lattice of tile
/// shapes, which goes from all of the Einsum to one point, and whose states also say in which
/// memory the innermost node of each tensor is. Then the cheapest one whose nodes fit together (A*,
/// with the former as what is left to come). A window that slides fetches what is new in the steps
/// of the loop directly above.
class EinsumChains {
 public:
  /// What memories down to `memory` move costs this share of its energy.
  struct Discount {
    ComponentId memory;
    double share = 1;
  };
  EinsumChains(const BoundProblem& problem, EinsumId einsum, Counted counted = Counted::kPart,
               const std::optional<Discount>& discount = std::nullopt,
               std::size_t most_spreads = kMostSpreads);
  EinsumChains(EinsumChains&&) noexcept;
  EinsumChains& operator=(EinsumChains&&) noexcept;
  ~EinsumChains();

  /// Empty for copies, and where there are too many ways.
  const std::vector<SpreadBound>& spreads() const { return spreads_; }
  /// Adds the parts of a group at the end of the list: some spreads, or smaller groups. Its own
  /// bound is infinite then. Of equal Einsums split alike, equal places mean the same.
  void split(std::size_t group);
  /// Whether there is room in the list; without, groups stay what they are.
  bool may_split() const { return spreads_.size() < kMostListed; }
  /// Whether they know all that the Einsum accesses, where its points are spread, and all that
  /// costs energy or room on the way to its computes.
  bool know_all() const;
  /// Calls its argument once for each index below a number, in any order or at the same time.
  using Parallel = std::function<void(std::size_t, const std::function<void(std::size_t)>&)>;
  /// The least energy of all spreads (J), or `limit`, if that is less. `cancel` ends it, with a
  /// bound that may be lower; may be null. None where it takes lattices of more than so many
  /// states.
  std::optional<double> least_energy(double limit, const Parallel& parallel,
                                     const std::atomic<bool>* cancel,
                                     double most_states = std::numeric_limits<double>::infinity());
  /// What an objective makes of an energy (J) and a time (s) of the Einsum: grows with both.
  using Price = std::function<double(double energy_j, double seconds)>;
  /// Raises the price of the spread towards that of its cheapest chain, a step at a time, each
  /// dearer than the one before, until it is refined; at most to `limit`, which leaves room for
  /// more later. Its energy, too, as far as it is known; infinite where none fits. Prices of one
  /// spread are to be the same in all steps. Different spreads may be refined at the same time.
  /// `cancel` ends it; may be null.
  /// `beyond`: whether a lattice ends at the limit, or says all that it knows: then only the next,
  /// dearer one is left out.
  enum class Beyond { kCut, kKnown };
  void refine(std::size_t spread, const Price& price, double limit, const std::atomic<bool>* cancel,
              Beyond beyond = Beyond::kCut);
  /// What energy and time are worth.
  struct Worth {
    double per_j = 1, per_s = 0;
    double operator()(double energy_j, double seconds) const {
      return per_j * energy_j + per_s * seconds;
    }
  };
  /// Chains of the spread that are likely to be good, soon: the best of them may cost some percent
  /// more than the cheapest one. `outermost`: steps that they take, with nodes of other tensors in
  /// between: the first node of each tensor that is not in the outermost of its memories, and
  /// loops. `cancel` ends it; may be null.
  std::vector<Chain> good_chains(std::size_t spread, const Worth& worth,
                                 const ChainSteps& outermost,
                                 const std::atomic<bool>* cancel) const;
  /// Whether a spread's loops outside of the nodes among these steps are those that they have, and
  /// what it leaves of each variable is a multiple of their temporal loops; of a group, whether
  /// they may be.
  bool begins_with(std::size_t spread, const ChainSteps& outermost) const;
  /// Which part of the instances that `min_usage` asks for a spread uses: 1 where it is enough; of
  /// a group, at most.
  double demanded_use(std::size_t spread) const;
  /// Over how many instances of a memory on the way, or of those around it, a spread goes; a group,
  /// at least.
  double instances_of(std::size_t spread, ComponentId memory) const;
  /// States of all lattices whose spreads may cost less than `limit` (J): a tile shape, and the
  /// memory of each tensor's innermost node.
  double n_states(double limit = std::numeric_limits<double>::infinity()) const;
  /// Whether all bounds of another Einsum are the same as these.
  bool equals(const EinsumChains& other) const;
  /// The cheapest chain of a refined spread, or a good one before; nothing where none was found.
  std::optional<Chain> chain_of(std::size_t spread) const;
  bool has_chain(std::size_t spread) const { return chains_[spread] != nullptr; }

 private:
  struct Way;
  static constexpr std::size_t kMostListed = 200'000;
  void list(std::size_t way, std::size_t from);
  double n_states_of(std::size_t spread) const;
  std::vector<SpreadBound> spreads_;
  bool know_costs_ = true;
  std::vector<std::unique_ptr<Way>> ways_;  ///< one for each compute that accepts the Einsum
  std::vector<std::size_t> way_of_, index_in_way_;  ///< per spread
  std::vector<std::unique_ptr<Chain>> chains_;      ///< per spread, once found
};

}  // namespace sluice
