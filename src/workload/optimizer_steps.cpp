#include "workload/optimizer_steps.h"

namespace sluice {
namespace {

constexpr double kRate = 0.001, kFirstDecay = 0.9, kSecondDecay = 0.999, kSmall = 1e-8;

/// decay · old + (1 − decay) · value
ScalarTree moving_average(double decay, const ScalarTree& old, const ScalarTree& value) {
  return sum_of(product_of(constant_of(decay), old), product_of(constant_of(1 - decay), value));
}

}  // namespace

std::vector<OptimizerStep> optimizer_steps(
    Optimizer optimizer, const ScalarTree& weight, const ScalarTree& gradient,
    const std::function<TensorAccess(const std::string& suffix)>& like) {
  std::vector<OptimizerStep> steps;
  ScalarTree direction = gradient;
  if (optimizer == Optimizer::kNone) return steps;
  if (optimizer == Optimizer::kAdam) {
    const ScalarTree m = moving_average(kFirstDecay, operand_of(like("_m")), gradient);
    const ScalarTree v = moving_average(kSecondDecay, operand_of(like("_v")),
                                        applied(OperationKind::kSquare, gradient));
    steps.push_back({like("_m_next"), m});
    steps.push_back({like("_v_next"), v});
    // Not read back: both are results, which must reach the outermost memory.
    direction = quotient_of(m, sum_of(applied(OperationKind::kSqrt, v), constant_of(kSmall)));
  }
  steps.push_back(
      {like("_next"), difference_of(weight, product_of(constant_of(kRate), direction))});
  return steps;
}

}  // namespace sluice
