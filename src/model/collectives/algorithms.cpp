#include "sluice/model/collective_algorithm.h"

namespace sluice {

// One file each, named like the function.
const CollectiveAlgorithm& recursive_doubling();
const CollectiveAlgorithm& recursive_halving_doubling();
const CollectiveAlgorithm& ring();
const CollectiveAlgorithm& binomial_tree();
const CollectiveAlgorithm& direct();
const CollectiveAlgorithm& per_dimension();
const CollectiveAlgorithm& greedy_tree_collective();  // greedy_tree.cpp

const CollectiveAlgorithms& standard_collective_algorithms() {
  static const CollectiveAlgorithms table = [] {
    CollectiveAlgorithms algorithms;
    for (const auto function : {recursive_doubling, recursive_halving_doubling, ring, binomial_tree,
                                direct, per_dimension, greedy_tree_collective})
      algorithms.add_static(function());
    return algorithms;
  }();
  return table;
}

}  // namespace sluice
