#include <array>

#include "model/collectives/algorithm.h"

namespace sluice {

std::span<const CollectiveAlgorithm* const> collective_algorithm_table() {
  static const std::array<const CollectiveAlgorithm*, 6> table = {
      &recursive_doubling(), &recursive_halving_doubling(), &ring(), &binomial_tree(), &direct(),
      &per_dimension()};
  return table;
}

}  // namespace sluice
