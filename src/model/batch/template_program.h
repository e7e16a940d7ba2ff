#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/batch/symbols.h"
#include "model/price/charges.h"
#include "sluice/model/template_evaluator.h"

namespace sluice {

/// Variants that a program works on at once.
inline constexpr std::size_t kLanes = 32;

/// Where the tile outside a loop comes from: another loop's tile shape, or a variable's size.
struct OuterTile {
  int loop = -1;  ///< index into a variant's tile shapes; -1: `size`
  std::int64_t size = 1;
};

/// What pricing one nest takes, in the order of NestPricer, so that sums have the same bits.
struct NestPricing {
  struct Action {
    std::uint32_t values = 0, unit_values = 0;  ///< steps of the program
    Rate rate;                                  ///< to calls of the action
    double energy_j = 0;
    std::uint32_t calls = 0;  ///< index into the nest's calls
    /// step: where parts of actions cost as much as whole ones, as in ActionCharge
    std::optional<std::uint32_t> instances = std::nullopt;
  };
  /// Busy time of a component: the maximum over rows of Σ calls × (or ÷) factor.
  struct Busy {
    struct Term {
      std::uint32_t calls = 0;
      double factor = 1;
    };
    std::vector<std::vector<Term>> rows;
    bool divide = true;  ///< factors are throughputs
  };
  double instances = 1;
  std::uint32_t n_calls = 0;
  std::vector<Action> actions;
  std::vector<Busy> busy;
  struct Leak {
    double instances = 1, power_w = 0;
  };
  std::vector<Leak> leaks;
};

/// Live bits of one memory during one nest: Σ over reservations of the largest of their tiles.
struct LiveSum {
  struct Tile {
    std::uint32_t volume = 0;  ///< step of the program
    double bits_per_value = 1, multiple = 1;
  };
  std::vector<std::vector<Tile>> reservations;
  double capacity_bits = 0;
};

/// Prices variants of one template in which the same loops have one trip.
class TemplateProgram {
 public:
  /// From a representative variant; nothing where its kind cannot be written as a program or the
  /// representative itself is illegal (but for capacities). `loops`: the template's loop nodes.
  static std::optional<TemplateProgram> build(const BoundProblem& problem, const Mapping& variant,
                                              const std::vector<const Node*>& loops);

  struct Workspace {
    std::vector<std::int64_t> values;  ///< kLanes per step
    std::vector<double> calls;
  };
  /// Prices up to kLanes variants, `rows[i]` their tile shapes. A lane whose tiles do not divide is
  /// left out: its bit in the result is set.
  std::uint32_t run(const std::int64_t* const* rows, std::size_t n, Workspace& workspace,
                    VariantCost* results) const;

 private:
  class Builder;
  template <std::size_t kWidth>
  class Run;

  struct Product {  ///< trips · tile = enclosing tile
    std::uint32_t trips, tile, enclosing;
  };
  struct Limit {  ///< Π trips over one dimension ≤ fanout
    std::uint32_t product;
    std::int64_t fanout;
  };
  std::vector<SymbolStep> steps_;
  std::vector<Product> divisions_;
  std::vector<std::uint32_t> ones_;  ///< tiles that must be 1: those at the computes
  std::vector<Limit> fanouts_;
  std::vector<NestPricing> nests_;
  std::vector<LiveSum> live_;
};

}  // namespace sluice
