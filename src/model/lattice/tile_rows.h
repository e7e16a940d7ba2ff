#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "spreads.h"

namespace sluice {

/// Indices of divisors, one for each of some variables.
using DivisorIndices = std::vector<std::size_t>;

/// For each tile shape (one of the `divisors` of each variable, those of the first variable
/// fastest): makes `combine(number, value)` of its number in the row. `of` says the value for these
/// `variables`, once for each combination of their divisors.
template <class Combine>
void combine_with(const std::vector<Factors64>& divisors, const std::vector<std::size_t>& variables,
                  const std::function<double(const DivisorIndices&)>& of, const Combine& combine,
                  std::vector<double>* row) {
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

}  // namespace sluice
