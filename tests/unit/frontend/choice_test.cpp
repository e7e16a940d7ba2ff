// `select` on a compute with and without an action of that name.
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>

#include "sluice/frontend/load.h"
#include "sluice/model/binding.h"

namespace sluice {
namespace {

std::map<std::string, std::int64_t> calls_on(const std::string& actions) {
  const std::string text = R"yaml(workload:
  rank_sizes: {M: 4}
  bits_per_value: {All: 8}
  einsums: ["Z[m] = select(C[m], A[m] * B[m], B[m])"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: Vector, actions: [)yaml" +
                           actions + "]}\n";
  const Result<Specs> specs = load_specs_from_text({{"specs.yaml", text}}, {});
  if (!specs) throw std::runtime_error(to_string(specs.error()));
  const auto problem = bind(*specs->workload, *specs->arch);
  std::map<std::string, std::int64_t> calls;
  if (!problem) return calls;
  for (const auto& [action, n] : problem->einsums.front().computes.front().calls_per_point)
    calls[specs->arch->components.back().actions[action].name] += n;
  return calls;
}

using Calls = std::map<std::string, std::int64_t>;

TEST(Choice, IsOneOperationWhereAComputeKnowsIt) {
  EXPECT_EQ(
      calls_on("{name: mul, energy: 1, throughput: 1}, {name: select, energy: 1, throughput: 1}"),
      (Calls{{"mul", 1}, {"select", 1}}));
}

TEST(Choice, IsProductsASumAndADifferenceElsewhere) {
  EXPECT_EQ(calls_on("{name: mul, energy: 1, throughput: 1}, {name: sub, energy: 1, throughput: "
                     "1}, {name: add, energy: 1, throughput: 1}"),
            (Calls{{"mul", 3}, {"sub", 1}, {"add", 1}}));
  EXPECT_EQ(calls_on("{name: mul, energy: 1, throughput: 1}"), Calls{});
}

}  // namespace
}  // namespace sluice
