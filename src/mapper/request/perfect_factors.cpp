#include "mapper/request/perfect_factors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "mapper/request/refusal.h"
#include "model/bind/compute_bound.h"
#include "model/bind/divisors.h"
#include "model/bind/fanout_use.h"

namespace sluice {
namespace {

constexpr double kHalf = 0.5;

/// What part of the time that all computes take at least they would take with other factors; 1
/// where that is more than half for each Einsum.
double share_of_time(const BoundProblem& problem) {
  std::vector<double> shares;
  for (const BoundEinsum& einsum : problem.einsums) {
    double& share = shares.emplace_back(0);
    for (const BoundCompute& compute : einsum.computes)
      share = std::max(share, use_by_perfect_factors(problem, einsum.einsum, compute));
  }
  if (std::all_of(shares.begin(), shares.end(), [](double share) { return share > kHalf; }))
    return 1;
  double perfect_s = 0, any_s = 0;
  for (std::size_t e = 0; e < shares.size(); ++e) {
    const double seconds =
        compute_bound(problem, EinsumId(e), Factors::kPerfect, std::nullopt).seconds;
    perfect_s += seconds;
    any_s += shares[e] * seconds;
  }
  return perfect_s > 0 && std::isfinite(perfect_s) ? any_s / perfect_s : 1;
}

/// `M = 1009`, the ranges that have few divisors, each once; of many the first ones.
std::vector<std::string> awkward_sizes(const Workload& workload) {
  constexpr std::int64_t kAwkward = 11;  // a prime factor
  constexpr std::size_t kMost = 4;
  std::vector<std::string> result;
  for (const Einsum& einsum : workload.einsums)
    for (const VariableRange& range : einsum.iteration_space) {
      const std::vector<std::int64_t> primes = primes_of(range.size);
      if (primes.empty() || primes.back() < kAwkward) continue;
      std::string text = fmt::format("{} = {}", workload[range.variable].name, range.size);
      if (result.size() < kMost && std::find(result.begin(), result.end(), text) == result.end())
        result.push_back(std::move(text));
    }
  return result;
}

}  // namespace

std::optional<Diagnostic> note_of_perfect_factors(const Mapper& mapper, const BoundProblem& problem,
                                                  const MapperOptions& options) {
  if (options.imperfect_factors != ImperfectFactors::kNone) return std::nullopt;
  MapperOptions uneven = options;
  uneven.imperfect_factors = ImperfectFactors::kUnfused;
  if (refused_alone(mapper, problem, uneven)) return std::nullopt;
  const double share = share_of_time(problem);
  if (share > kHalf) return std::nullopt;
  const std::vector<std::string> sizes = awkward_sizes(problem.workload);
  return Diagnostic{
      Severity::kNote,
      {},
      fmt::format("with tiles that divide the sizes ({}) the computes do {:.2g} % of "
                  "what they could, at most",
                  sizes.empty() ? "perfect factors" : fmt::to_string(fmt::join(sizes, ", ")),
                  100 * share),
      "",
      "--imperfect-factors unfused tries other tiles as well; or search with sizes "
      "rounded up, and `evaluate` that mapping with the true ones"};
}

}  // namespace sluice
