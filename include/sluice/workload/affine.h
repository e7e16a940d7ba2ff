#pragma once

#include <cstdint>
#include <vector>

#include "sluice/support/strong_id.h"

namespace sluice {

struct AffineTerm {
  RankVariableId variable;
  std::int64_t coefficient = 1;
  friend bool operator==(const AffineTerm&, const AffineTerm&) = default;
};

/// constant + Σ coefficient · variable: which index of a rank an iteration point touches.
struct AffineExpression {
  std::vector<AffineTerm> terms;  ///< ascending by variable, no zero coefficient, no repetition
  std::int64_t constant = 0;
  friend bool operator==(const AffineExpression&, const AffineExpression&) = default;

  /// True for `x` alone: coefficient 1, no constant.
  bool is_plain_variable() const {
    return terms.size() == 1 && terms[0].coefficient == 1 && constant == 0;
  }
  /// True for `x` and `x+1`: one variable at coefficient 1, whatever the constant. Each of its
  /// steps touches one value of its own. Anything else with variables is a window (`2*x`, `x+r`).
  bool goes_one_by_one() const { return terms.size() == 1 && terms[0].coefficient == 1; }
  bool is_window() const { return !terms.empty() && !goes_one_by_one(); }
  /// Coefficient of a variable, 0 where it does not occur.
  std::int64_t coefficient_of(RankVariableId variable) const {
    for (const AffineTerm& term : terms)
      if (term.variable == variable) return term.coefficient;
    return 0;
  }
};

}  // namespace sluice
