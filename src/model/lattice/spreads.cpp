#include "spreads.h"

#include <algorithm>
#include <map>

#include "model/bind/divisors.h"
#include "model/bind/fanout_use.h"

namespace sluice {
namespace {

constexpr std::size_t kMostFactors = 300'000;   // of a gap
constexpr std::size_t kMostSteps = 20'000'000;  // to find them: a quarter of a second

/// What the loops over some dimensions come to together: all that the fanouts have room for.
class FactorsOfGap {
 public:
  FactorsOfGap(const BoundEinsum& bound, const SpatialGap& gap, const Factors64& sizes)
      : sizes_(sizes), current_(sizes.size(), 1) {
    for (const auto& [component, d] : gap.dimensions) {
      const BoundSpatial& own = bound.components[component.index()].spatial[d];
      Dimension& dimension = dimensions_.emplace_back();
      dimension.fanout = own.fanout;
      for (std::size_t v = 0; v < sizes.size(); ++v)
        dimension.may_spread.push_back(may_spread(bound, own, v));
    }
    extend(0, gap.fanout);
  }

  /// Nothing where there are too many.
  std::vector<GapFactors> take() {
    if (found_.size() > kMostFactors || n_steps_ > kMostSteps) found_.clear();
    return std::move(found_);
  }

 private:
  struct Dimension {
    std::int64_t fanout = 1;
    std::vector<char> may_spread;  // per variable
  };

  bool may_spread_any(std::size_t v) const {
    return std::any_of(dimensions_.begin(), dimensions_.end(),
                       [&](const Dimension& own) { return own.may_spread[v] != 0; });
  }

  void extend(std::size_t v, double room) {
    if (found_.size() > kMostFactors || n_steps_ > kMostSteps) return;
    if (v == sizes_.size()) {
      std::vector<Factors64> by_dimension(dimensions_.size());
      if (divide(current_, dimensions_.size(), &by_dimension))
        found_.push_back({current_, std::move(by_dimension), 0});
      return;
    }
    for (const std::int64_t factor :
         may_spread_any(v) ? divisors_.of(sizes_[v]) : divisors_.of(1)) {
      if (static_cast<double>(factor) > room) break;
      current_[v] = factor;
      extend(v + 1, room / static_cast<double>(factor));
    }
    current_[v] = 1;
  }

  static bool fits(const Factors64& factors, const Dimension& dimension) {
    for (std::size_t v = 0; v < factors.size(); ++v)
      if (factors[v] > 1 && dimension.may_spread[v] == 0) return false;
    return product_of(factors) <= static_cast<double>(dimension.fanout);
  }

  /// Among the first `n` dimensions; the first ones get as little as they can.
  bool divide(const Factors64& factors, std::size_t n, std::vector<Factors64>* by_dimension) {
    if (n == 1) {
      by_dimension->front() = factors;
      return fits(factors, dimensions_.front());
    }
    Factors64 rest = factors;  // what the last of these dimensions gets
    double before = 1;         // room of the others
    for (std::size_t i = 0; i + 1 < n; ++i) before *= static_cast<double>(dimensions_[i].fanout);
    return divide_at(0, factors, n, {before, static_cast<double>(dimensions_[n - 1].fanout)}, &rest,
                     by_dimension);
  }

  /// What is left of the room of the first dimensions, and of the last one.
  struct Room {
    double before, rest;
  };

  bool divide_at(std::size_t v, const Factors64& factors, std::size_t n, Room room, Factors64* rest,
                 std::vector<Factors64>* by_dimension) {
    if (++n_steps_ > kMostSteps) return false;
    if (v == factors.size()) {
      if (!fits(*rest, dimensions_[n - 1])) return false;
      Factors64 before = factors;
      for (std::size_t i = 0; i < before.size(); ++i) before[i] /= (*rest)[i];
      (*by_dimension)[n - 1] = *rest;
      return divide(before, n - 1, by_dimension);
    }
    for (const std::int64_t before : divisors_.of(factors[v])) {
      (*rest)[v] = factors[v] / before;
      const Room left{room.before / static_cast<double>(before),
                      room.rest / static_cast<double>((*rest)[v])};
      if (left.before < 1) break;
      if (left.rest < 1 || ((*rest)[v] > 1 && dimensions_[n - 1].may_spread[v] == 0)) continue;
      if (divide_at(v + 1, factors, n, left, rest, by_dimension)) return true;
    }
    (*rest)[v] = factors[v];
    return false;
  }

  const Factors64& sizes_;
  std::vector<Dimension> dimensions_;
  DivisorMemo divisors_;
  Factors64 current_;
  std::vector<GapFactors> found_;
  std::size_t n_steps_ = 0;
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
                 const std::vector<std::size_t>& memories, std::size_t most) {
  for (const VariableRange& range : problem.workload[einsum].iteration_space)
    sizes_.push_back(range.size);
  find_gaps(problem[einsum], compute, memories);
  for (const SpatialGap& gap : gaps_) {
    factors_.push_back(FactorsOfGap(problem[einsum], gap, sizes_).take());
    if (factors_.back().empty()) return;
    most_lanes_.push_back(1);
    for (const GapFactors& factors : factors_.back())
      most_lanes_.back() = std::max(most_lanes_.back(), product_of(factors.all));
  }
  double ways = 1;
  for (const auto& factors : factors_) ways *= static_cast<double>(factors.size());
  std::size_t n_gaps = gaps_.size();
  for (; n_gaps > 1 && ways > static_cast<double>(most); --n_gaps)
    ways /= static_cast<double>(factors_[n_gaps - 1].size());
  Spread first;
  first.all.assign(sizes_.size(), 1);
  combine(n_gaps, &first);
}

void Spreads::find_gaps(const BoundEinsum& bound, const BoundCompute& compute,
                        const std::vector<std::size_t>& memories) {
  std::size_t memory = 0;
  for (std::size_t p = 0; p < compute.path.size(); ++p) {
    while (memory < memories.size() && memories[memory] < p) ++memory;
    const std::vector<BoundSpatial>& spatial = bound.components[compute.path[p].index()].spatial;
    for (std::uint32_t d = 0; d < spatial.size(); ++d) {
      if (spatial[d].fanout < 2) continue;
      if (gaps_.empty() || gaps_.back().memory != memory ||
          gaps_.back().may_reuse != spatial[d].may_reuse)
        gaps_.push_back({memory, spatial[d].may_reuse, 1, {}});
      gaps_.back().fanout *= static_cast<double>(spatial[d].fanout);
      gaps_.back().dimensions.emplace_back(compute.path[p], d);
    }
  }
}

/// Ways that differ in the first gaps, so many of them.
void Spreads::combine(std::size_t n_gaps, Spread* spread) {
  const std::size_t gap = spread->gaps.size();
  if (gap == n_gaps) {
    add(*spread);
    return;
  }
  const Factors64 before = spread->all;
  for (const GapFactors& factors : factors_[gap]) {
    spread->all = before;
    if (!multiply(factors.all, sizes_, &spread->all)) continue;
    spread->gaps.push_back(&factors);
    combine(n_gaps, spread);
    spread->gaps.pop_back();
  }
  spread->all = before;
}

void Spreads::add(const Spread& spread) {
  Spread& added = all_.emplace_back(spread);
  added.lanes = product_of(added.all);
  for (std::size_t g = added.gaps.size(); g < gaps_.size(); ++g) added.lanes *= most_lanes_[g];
}

void Spreads::split(std::size_t group) {
  Spread part = all_[group];
  combine(part.gaps.size() + 1, &part);
}

void Spreads::set_kinds(const std::function<std::vector<double>(const Factors64&)>& key) {
  for (std::vector<GapFactors>& gap : factors_) {
    std::map<std::vector<double>, std::size_t> known;
    for (GapFactors& factors : gap)
      factors.kind = known.try_emplace(key(factors.all), known.size()).first->second;
    n_kinds_.push_back(known.size());
  }
}

std::size_t Spreads::kind_of(const Spread& spread) const {
  std::size_t kind = 0;  // a digit for each gap, 0 where it is open
  for (std::size_t g = 0; g < gaps_.size(); ++g)
    kind = kind * (n_kinds_[g] + 1) + (g < spread.gaps.size() ? spread.gaps[g]->kind + 1 : 0);
  return kind;
}

bool Spreads::equals(const Spreads& other) const {
  const auto same_gap = [](const SpatialGap& a, const SpatialGap& b) {
    return a.memory == b.memory && a.may_reuse == b.may_reuse && a.dimensions == b.dimensions;
  };
  const auto same_factors = [](const auto& a, const auto& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const GapFactors& x, const GapFactors& y) { return x.all == y.all; });
  };
  return std::equal(gaps_.begin(), gaps_.end(), other.gaps_.begin(), other.gaps_.end(), same_gap) &&
         std::equal(factors_.begin(), factors_.end(), other.factors_.begin(), other.factors_.end(),
                    same_factors);
}

}  // namespace sluice
