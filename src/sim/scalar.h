#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sluice/workload/workload.h"

namespace sluice::sim {

/// The value of an Einsum's right-hand side; `operand(i)` is the value of accesses[i].
double expression_value(const ScalarExpression& expression,
                        const std::function<double(std::uint32_t access)>& operand);

/// The same of operands that are there already; `scratch` keeps its room from call to call.
double expression_value(const ScalarExpression& expression, const double* operands,
                        std::vector<double>& scratch);

/// Two values that meet in one element. Without a reduction the later one stands.
double combined(Reduction reduction, double a, double b);

}  // namespace sluice::sim
