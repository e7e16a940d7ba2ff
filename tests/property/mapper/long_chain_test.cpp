// Chains of equal Einsums: what one more of them costs does not depend on how many there are.
#include <gtest/gtest.h>

#include "sluice/frontend/load.h"
#include "sluice/mapper/registry.h"

namespace sluice {
namespace {

Cost best_of_chain(int n) {
  const std::string text = R"(
workload:
  rank_sizes: {M: 4, N: 4, K: 4}
  bits_per_value: {All: 8}
  persistent_tensors: All - Intermediates - T0
  einsums:
  - for: {i: 0..)" + std::to_string(n - 1) +
                           R"(}
    items:
    - "T{i+1}[m,N:n{i+1}] = T{i}[m,N:n{i}] * W{i}[N:n{i},K:n{i+1}]"
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All},
             actions: [{name: read, energy: 64, throughput: 4}, {name: write, energy: 32, throughput: 8}]}
  - !Memory {name: Buffer, size: 160, tensors: {keep: ~Main, may_keep: All},
             actions: [{name: read, energy: 4, throughput: 16}, {name: write, energy: 2, throughput: 16}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)";
  const auto specs = load_specs_from_text({{"chain.yaml", text}}, {});
  if (!specs) throw std::runtime_error(to_string(specs.error()[0]));
  const auto problem = bind(*specs->workload, *specs->arch);
  MapperOptions options;
  options.objectives = {Objective::kEnergy};
  const auto found = standard_mappers().find("fused")->map(*problem, options, {});
  if (!found) throw std::runtime_error(found.error().reason);
  return found->mappings.front().cost;
}

TEST(LongChain, CostsTheSameForEachFurtherEinsum) {
  const double step = best_of_chain(5).energy_j - best_of_chain(4).energy_j;
  EXPECT_GT(step, 0);
  // Around 64 equal Einsums, ends aside: as many as a set of bits has room for.
  for (int n = 62; n < 70; ++n)
    EXPECT_EQ(best_of_chain(n + 1).energy_j - best_of_chain(n).energy_j, step) << n;
}

}  // namespace
}  // namespace sluice
