#include "model/price/charges.h"

namespace sluice {

bool is_second_of_copy(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                       std::uint32_t storage) {
  if (!problem.workload[nest.einsum].is_copy_operation) return false;
  const auto is_backing = [&](std::uint32_t s) {
    return tree.entries[tree.storages[s].entry].backing;
  };
  for (std::uint32_t s = nest.storages_begin; s < nest.storages_end; ++s) {
    if (s == storage || tree.storages[s].component != tree.storages[storage].component) continue;
    if (is_backing(s) == is_backing(storage) ? s < storage : is_backing(s)) return true;
  }
  return false;
}

}  // namespace sluice
