#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "sluice/workload/workload.h"

namespace sluice::referee {

/// The value of an Einsum's right-hand side; `operand(i)` is the value of accesses[i].
double expression_value(const ScalarExpression& expression,
                        const std::function<double(std::uint32_t access)>& operand);

/// What an operation makes of its arguments; those of fewer leave the others alone.
double operation_value(OperationKind kind, double first, double second, double third);

/// The same right-hand side for many points, one after the other.
class RepeatedExpression {
 public:
  RepeatedExpression(const ScalarExpression& expression, std::size_t n_accesses);

  /// The value of accesses[access] from now on.
  void set(std::uint32_t access, double value) { values_[access] = value; }
  double value() {
    for (const Operation& step : operations_) {
      const double first = values_[step.first], second = values_[step.second];
      values_[step.result] = step.kind == OperationKind::kMul
                                 ? first * second
                                 : operation_value(step.kind, first, second, values_[step.third]);
    }
    return values_[result_];
  }

 private:
  struct Operation {
    OperationKind kind;
    std::size_t first, second, third, result;  ///< places in `values_`; of fewer: the last again
  };
  std::vector<double> values_;  ///< of the accesses, then of the other parts
  std::vector<Operation> operations_;
  std::size_t result_ = 0;
};

/// Two values that meet in one element. Without a reduction the later one stands.
inline double combined(Reduction reduction, double a, double b) {
  switch (reduction) {
    case Reduction::kNone:
      return b;
    case Reduction::kSum:
      return a + b;
    case Reduction::kProduct:
      return a * b;
    case Reduction::kMin:
      return std::min(a, b);
    case Reduction::kMax:
      return std::max(a, b);
  }
  return b;
}

}  // namespace sluice::referee
