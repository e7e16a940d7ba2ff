#include "iteration_counts.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace sluice {
namespace {

/// Distinct values of one index, at least; exactly as many where the steps of each term fit into
/// those of smaller ones without a gap, or leave them all apart.
double index_values(const Einsum& einsum, const AffineExpression& index) {
  std::vector<std::pair<std::int64_t, std::int64_t>> terms;  // step, number of steps
  for (const AffineTerm& term : index.terms)
    terms.emplace_back(std::abs(term.coefficient), variable_size(einsum, term.variable));
  std::sort(terms.begin(), terms.end());
  double values = 1, reach = 0;
  for (const auto& [step, size] : terms) {
    const auto width = static_cast<double>(step), steps = static_cast<double>(size - 1);
    const bool dense = values == reach + 1;
    if (width > reach)
      values *= steps + 1;
    else
      values += dense ? width * steps : steps;  // |A + B| >= |A| + |B| - 1
    reach += width * steps;
  }
  return values;
}

}  // namespace

double iteration_points(const Einsum& einsum) {
  double points = 1;
  for (const VariableRange& range : einsum.iteration_space)
    points *= static_cast<double>(range.size);
  return points;
}

/// Of ranks that share a variable only one tells values apart: the longest.
double touched_values(const Workload& workload, const Einsum& einsum, const TensorAccess& access) {
  std::vector<std::pair<double, std::size_t>> ranks;
  for (std::size_t r = 0; r < access.projection.size(); ++r) {
    const auto size = static_cast<double>(workload[workload[access.tensor].ranks[r]].size);
    const double touched = index_values(einsum, access.projection[r]);
    ranks.emplace_back(access.is_output ? std::min(touched, size) : touched, r);
  }
  std::sort(ranks.rbegin(), ranks.rend());
  double values = 1;
  std::vector<RankVariableId> used;
  for (const auto& [rank_values, r] : ranks) {
    const std::vector<AffineTerm>& terms = access.projection[r].terms;
    const bool shared = std::any_of(terms.begin(), terms.end(), [&](const AffineTerm& term) {
      return std::find(used.begin(), used.end(), term.variable) != used.end();
    });
    if (shared) continue;
    for (const AffineTerm& term : terms) used.push_back(term.variable);
    values *= rank_values;
  }
  return values;
}

double instances_of(const BoundProblem& problem, EinsumId id) {
  return static_cast<double>(problem.workload[id].n_instances) *
         static_cast<double>(problem.workload.n_instances);
}

}  // namespace sluice
