#include "frontend/workload/iteration_space.h"

#include <algorithm>

#include "sluice/support/error.h"

namespace sluice {
namespace {

__extension__ using Wide = __int128;

constexpr int kMostRounds = 64;
constexpr std::int64_t kLargestIndex = std::int64_t{1} << 53U;

std::int64_t clamped(Wide value) {
  return static_cast<std::int64_t>(
      std::clamp<Wide>(value, -Wide{kLargestIndex}, Wide{kLargestIndex}));
}

Wide floor_divide(Wide a, Wide b) {
  const Wide quotient = a / b;
  return quotient * b > a ? quotient - 1 : quotient;
}

/// Largest value of coefficient · variable, or nothing.
std::optional<Wide> largest(const AffineTerm& term, const Box& box) {
  const Interval& interval = box[term.variable];
  const auto& end = term.coefficient > 0 ? interval.high : interval.low;
  if (!end) return std::nullopt;
  return Wide{term.coefficient} * *end;
}

/// Applies constraint >= 0 to one of its variables: coefficient · x >= -(largest of the rest).
bool tighten_one(const AffineExpression& constraint, std::size_t subject, Box& box) {
  Wide rest = constraint.constant;
  for (std::size_t i = 0; i < constraint.terms.size(); ++i) {
    if (i == subject) continue;
    const auto part = largest(constraint.terms[i], box);
    if (!part) return false;
    rest += *part;
  }
  const AffineTerm& term = constraint.terms[subject];
  Interval& interval = box[term.variable];
  if (term.coefficient > 0) {
    const std::int64_t low = clamped(-floor_divide(rest, term.coefficient));
    if (interval.low && *interval.low >= low) return false;
    interval.low = low;
  } else {
    const std::int64_t high = clamped(floor_divide(rest, -Wide{term.coefficient}));
    if (interval.high && *interval.high <= high) return false;
    interval.high = high;
  }
  return true;
}

}  // namespace

const Interval& Box::operator[](RankVariableId variable) const {
  const auto found = std::find_if(intervals_.begin(), intervals_.end(),
                                  [&](const auto& entry) { return entry.first == variable; });
  SLUICE_CHECK(found != intervals_.end(), "a variable that the box does not have");
  return found->second;
}

Interval& Box::operator[](RankVariableId variable) {
  return const_cast<Interval&>(std::as_const(*this)[variable]);
}

std::optional<IndexExtent> extent_of(const AffineExpression& index, const Box& box) {
  Wide low = index.constant;
  Wide high = index.constant;
  for (const AffineTerm& term : index.terms) {
    const Interval& interval = box[term.variable];
    if (!interval.is_bounded()) return std::nullopt;
    const Wide a = Wide{term.coefficient} * *interval.low;
    const Wide b = Wide{term.coefficient} * *interval.high;
    low += std::min(a, b);
    high += std::max(a, b);
  }
  return IndexExtent{clamped(low), clamped(high)};
}

std::optional<RankVariableId> tighten(const std::vector<AffineExpression>& constraints, Box& box) {
  bool changed = true;
  for (int round = 0; changed && round < kMostRounds; ++round) {
    changed = false;
    for (const AffineExpression& constraint : constraints) {
      for (std::size_t subject = 0; subject < constraint.terms.size(); ++subject) {
        if (!tighten_one(constraint, subject, box)) continue;
        changed = true;
        const RankVariableId variable = constraint.terms[subject].variable;
        if (box[variable].is_empty()) return variable;
      }
    }
  }
  return std::nullopt;
}

}  // namespace sluice
