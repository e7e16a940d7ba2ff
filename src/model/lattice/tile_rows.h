#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "spreads.h"

namespace sluice {

/// Indices of divisors, one for each of some variables.
using DivisorIndices = std::vector<std::size_t>;

/// For each tile shape (one of the `divisors` of each variable, those of the first variable
/// fastest): makes `combine(number, value)` of its number in the row. `of` says the value for these
/// `variables`, once for each combination of their divisors.
template <class Combine, class Row>
void combine_with(const std::vector<Factors64>& divisors, const std::vector<std::size_t>& variables,
                  const std::function<double(const DivisorIndices&)>& of, const Combine& combine,
                  Row* row) {
  std::vector<double> values;
  std::vector<std::size_t> steps(divisors.size(), 0);  // in `values`, per variable
  std::size_t n_values = 1;
  for (const std::size_t v : variables) {
    steps[v] = n_values;
    n_values *= divisors[v].size();
  }
  DivisorIndices at(variables.size(), 0);
  while (values.size() < n_values) {
    values.push_back(of(at));
    for (std::size_t k = 0; k < at.size(); ++k) {
      if (++at[k] < divisors[variables[k]].size()) break;
      at[k] = 0;
    }
  }
  std::size_t fastest = 0;  // variable with more than one divisor
  while (fastest + 1 < divisors.size() && divisors[fastest].size() == 1) ++fastest;
  const std::size_t n_fastest = divisors.empty() ? 1 : divisors[fastest].size();
  const std::size_t step = divisors.empty() ? 0 : steps[fastest];
  DivisorIndices index(divisors.size(), 0);
  std::size_t value = 0;
  for (std::size_t x = 0; x < row->size(); x += n_fastest) {
    double* numbers = row->data() + x;
    const double* own = values.data() + value;
    if (step == 0)
      for (std::size_t i = 0; i < n_fastest; ++i) numbers[i] = combine(numbers[i], *own);
    else
      for (std::size_t i = 0; i < n_fastest; ++i) numbers[i] = combine(numbers[i], own[i * step]);
    for (std::size_t v = fastest + 1; v < divisors.size(); ++v) {
      value += steps[v];
      if (++index[v] < divisors[v].size()) break;
      value -= steps[v] * index[v];
      index[v] = 0;
    }
  }
}

/// What lattices do with whole rows, without branches, several numbers at a time.
namespace tile_rows {

/// Lowers the first `size` numbers of each block to those of another row.
void lower_blocks(const double* from, double* into, std::size_t n_blocks, std::size_t block,
                  std::size_t size);
/// Places of parts of a block: one, and another that is lowered to it.
using Parts = std::vector<std::pair<std::size_t, std::size_t>>;
/// In each block lowers parts of `size` numbers to others of it, in turn.
void lower_parts(double* row, std::size_t n_blocks, std::size_t block, std::size_t size,
                 const Parts& parts);
/// The sums of three rows.
void set_to_sums(const double* a, const double* b, const double* c, std::size_t count,
                 double* sums);
/// Each number of `least`, or the sum of the others, if that is less.
void lower_to_sums(const double* a, const double* b, const double* c, std::size_t count,
                   double* least);
/// `room` less `bits`.
void take_room(const double* bits, std::size_t count, double* room);
/// 0 where `bits` fit in `room`, else infinite; whether they fit anywhere.
bool bar(const double* bits, std::size_t count, double* room);

/// What a value costs that a node gets from one further out, or hands back to it.
struct FeedPrice {
  double share = 1;
  double own_j = 0, outer_j = 0;          ///< at the node, and at the other one
  double apart = 1;                       ///< values there, of one here
  double compulsory = 0;                  ///< values there that are not counted
  double own_whole = 0, outer_whole = 0;  ///< see in_whole_actions()
};
/// Of outputs: some come back for more to be added to them.
struct ReturnPrice {
  double first_sums = 0;  ///< values that do not come back; infinite: none does
  double own_j = 0, outer_j = 0;
  double outer_whole = 0;
};
/// From numbers of values to energies.
void price_inputs(std::size_t count, FeedPrice price, double* row);
void price_outputs(std::size_t count, FeedPrice price, ReturnPrice back, double* row);

}  // namespace tile_rows

}  // namespace sluice
