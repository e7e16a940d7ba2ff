#include "spreads.h"

#include <map>
#include <set>

#include "model/bind/divisors.h"
#include "model/bind/fanout_use.h"

namespace sluice {
namespace {

/// The factors of loops over one dimension: all whose product its fanout has room for.
class DimensionFactors {
 public:
  DimensionFactors(const BoundEinsum& bound, const BoundSpatial& dimension, const Factors64& sizes)
      : current_(sizes.size(), 1) {
    for (std::size_t v = 0; v < sizes.size(); ++v) {
      divisors_.push_back({1});
      if (may_spread(bound, dimension, v)) divisors_.back() = divisors_of(sizes[v]);
    }
    extend(0, dimension.fanout);
  }

  const std::vector<Factors64>& all() const { return all_; }

 private:
  void extend(std::size_t v, std::int64_t room) {
    if (v == divisors_.size()) {
      all_.push_back(current_);
      return;
    }
    for (const std::int64_t factor : divisors_[v]) {
      if (factor > room) break;
      current_[v] = factor;
      extend(v + 1, room / factor);
    }
    current_[v] = 1;
  }

  std::vector<std::vector<std::int64_t>> divisors_;  // per variable
  Factors64 current_;
  std::vector<Factors64> all_;
};

/// Nothing where it does not divide.
bool multiply(const Factors64& factors, const Factors64& sizes, Factors64* product) {
  for (std::size_t v = 0; v < sizes.size(); ++v) {
    (*product)[v] *= factors[v];
    if (sizes[v] % (*product)[v] != 0) return false;
  }
  return true;
}

}  // namespace

double product_of(const Factors64& factors) {
  double product = 1;
  for (const std::int64_t factor : factors) product *= static_cast<double>(factor);
  return product;
}

Spreads::Spreads(const BoundProblem& problem, EinsumId einsum, const BoundCompute& compute,
                 const std::vector<std::size_t>& memories)
    : problem_(problem), id_(einsum), compute_(compute), memories_(memories) {
  for (const VariableRange& range : problem.workload[einsum].iteration_space)
    sizes_.push_back(range.size);
  find_gaps();
  find_factors();
  if (factors_.size() < gaps_.size()) return;
  double ways = 1;
  for (const auto& factors : factors_) ways *= static_cast<double>(factors.size());
  if (ways > kMost) {
    pool();
    return;
  }
  Spread first;
  first.all.assign(sizes_.size(), 1);
  combine(0, &first);
}

void Spreads::find_gaps() {
  std::size_t memory = 0;
  for (std::size_t p = 0; p < compute_.path.size(); ++p) {
    while (memory < memories_.size() && memories_[memory] < p) ++memory;
    const std::vector<BoundSpatial>& spatial =
        problem_[id_].components[compute_.path[p].index()].spatial;
    for (std::uint32_t d = 0; d < spatial.size(); ++d) {
      if (spatial[d].fanout < 2) continue;
      if (gaps_.empty() || gaps_.back().memory != memory ||
          gaps_.back().may_reuse != spatial[d].may_reuse)
        gaps_.push_back({memory, spatial[d].may_reuse, 1, {}});
      gaps_.back().fanout *= static_cast<double>(spatial[d].fanout);
      gaps_.back().dimensions.emplace_back(compute_.path[p], d);
    }
  }
}

void Spreads::find_factors() {
  for (const SpatialGap& gap : gaps_) {
    std::map<Factors64, GapFactors> found;
    found[Factors64(sizes_.size(), 1)] = {Factors64(sizes_.size(), 1), {}};
    for (const auto& [component, d] : gap.dimensions) {
      const BoundSpatial& dimension = problem_[id_].components[component.index()].spatial[d];
      const DimensionFactors own(problem_[id_], dimension, sizes_);
      if (static_cast<double>(found.size()) * static_cast<double>(own.all().size()) > 20.0 * kMost)
        return;
      std::map<Factors64, GapFactors> next;
      for (const auto& [before, factors] : found)
        for (const Factors64& added : own.all()) {
          Factors64 product = before;
          if (!multiply(added, sizes_, &product) || next.count(product) != 0) continue;
          GapFactors& made = next[product];
          made.all = product;
          made.by_dimension = factors.by_dimension;
          made.by_dimension.push_back(added);
        }
      found = std::move(next);
    }
    std::vector<GapFactors>& factors = factors_.emplace_back();
    for (auto& [product, made] : found) factors.push_back(std::move(made));
  }
}

void Spreads::combine(std::size_t gap, Spread* spread) {
  if (gap == gaps_.size()) {
    all_.push_back(*spread);
    all_.back().lanes = product_of(spread->all);
    return;
  }
  const Factors64 before = spread->all;
  for (const GapFactors& factors : factors_[gap]) {
    spread->all = before;
    if (!multiply(factors.all, sizes_, &spread->all)) continue;
    spread->gaps.push_back(&factors);
    combine(gap + 1, spread);
    spread->gaps.pop_back();
  }
  spread->all = before;
}

void Spreads::pool() {
  std::set<Factors64> found = {Factors64(sizes_.size(), 1)};
  for (const auto& factors : factors_) {
    if (static_cast<double>(found.size()) * static_cast<double>(factors.size()) > 100.0 * kMost)
      return;
    std::set<Factors64> next;
    for (const Factors64& before : found)
      for (const GapFactors& added : factors) {
        Factors64 product = before;
        if (multiply(added.all, sizes_, &product)) next.insert(std::move(product));
      }
    if (next.size() > kMost) return;
    found = std::move(next);
  }
  for (const Factors64& product : found) all_.push_back({product, {}, product_of(product)});
}

}  // namespace sluice
