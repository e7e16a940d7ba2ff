#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "cost_program.h"
#include "mapper/fused/states/state_tables.h"

namespace sluice::fused {

/// A cost program with its factors tabulated: every monomial is a product of one column per class,
/// every distinct column is stored once, constants are folded and equal monomials are one.
struct SimpleProgram {
  struct Product {
    std::vector<std::int32_t> column;  ///< per class: index into columns[class], or -1: factor 1
    bool any_positive = false, any_negative = false;  ///< signs of its coefficients in `rows`
  };
  enum class RowKind : std::uint8_t { kEnergy, kLatency, kLimit, kSegment, kPersistent };
  struct SimpleRow {
    RowKind kind;
    double constant = 0;
    double limit = 0;              ///< kLimit
    std::uint32_t tracked = 0;     ///< kSegment, kPersistent
    std::uint32_t gap = 0;         ///< kSegment
    std::vector<RowTerm> terms;    ///< into `products`
    std::int32_t sunk_below = -1;  ///< kSegment
    std::uint64_t carried_by = 0;  ///< kSegment
  };
  std::vector<std::vector<const Column*>> columns;  ///< per class; owned by its StateTable
  std::vector<Product> products;
  std::vector<SimpleRow> rows;  ///< energy first
  double leak_w = 0;
  std::vector<EnergyCut> cuts;  ///< as in CostProgram
  double least_energy = 0;      ///< lower bounds over all states, leakage included
  double least_latency = 0;
  bool monotone = true;
  bool fixes_trips = false;  ///< some product is 0 but for fixed trips of a loop
  bool feasible = true;      ///< false: some limit cannot be met by any state
  ComponentId infeasible_component{};
  double smallest_excess = 0;  ///< of that limit, where infeasible

  double cut(double energy_j) const { return fused::cut(cuts, energy_j); }
  /// What the program computes of the columns, whatever the order of products and rows.
  std::vector<std::int64_t> signature() const;
  /// Which signs the coefficients of each product have in the rows.
  void find_signs();
  bool depends_on(const Product& product, std::size_t cls) const {
    return product.column[cls] >= 0;
  }
};

/// Once `cancel` is set, numbers are left out.
SimpleProgram tabulate(const BoundEinsum& bound, const EinsumShape& shape, const Template& templ,
                       const std::vector<VariableClass>& classes,
                       const std::vector<std::shared_ptr<StateTable>>& tables,
                       const CostProgram& program, const std::atomic<bool>* cancel);

}  // namespace sluice::fused
