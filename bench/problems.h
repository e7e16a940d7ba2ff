#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "sluice/frontend/load.h"
#include "sluice/model/binding.h"

namespace sluice::bench {

/// A library workload on a library architecture; `unbounded`: with memories as large as any mapping
/// needs.
inline BoundProblem load_problem(const std::string& workload, const std::string& arch,
                                 bool unbounded = true) {
  const std::string library = std::string(SLUICE_REPO_DIR) + "/library/";
  LoadOptions options;
  options.library_dirs = {library};
  auto specs = load_specs(
      {library + "workloads/" + workload + ".yaml", library + "architectures/" + arch + ".yaml"},
      options);
  if (!specs) {
    for (const Diagnostic& diagnostic : specs.error())
      std::fputs(to_string(diagnostic).c_str(), stderr);
    std::exit(1);
  }
  for (Component& component : specs->arch->components)
    if (Memory* memory = std::get_if<Memory>(&component.kind); memory && unbounded)
      memory->size_bits = Expression::literal(kUnbounded);
  auto problem = bind(*specs->workload, *specs->arch);
  if (!problem) {
    for (const Diagnostic& diagnostic : problem.error())
      std::fputs(to_string(diagnostic).c_str(), stderr);
    std::exit(1);
  }
  return std::move(*problem);
}

inline std::int64_t random_divisor(std::int64_t n, std::mt19937& random) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t d = 1; d * d <= n; ++d)
    if (n % d == 0) {
      divisors.push_back(d);
      divisors.push_back(n / d);
    }
  return divisors[random() % divisors.size()];
}

}  // namespace sluice::bench
