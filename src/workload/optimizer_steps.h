#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sluice/workload/backward.h"
#include "workload/scalar_tree.h"

namespace sluice {

/// One element-wise Einsum of an optimizer.
struct OptimizerStep {
  TensorAccess output;
  ScalarTree value;
};

/// What an optimizer makes of a weight and its gradient. `like` gives a new tensor of the weight's
/// shape, whose name is the weight's and a suffix.
/// - SGD: W − η g.
/// - Adam (Kingma and Ba, 2015, Algorithm 1): m ← β₁ m + (1−β₁) g, v ← β₂ v + (1−β₂) g²,
///   W − η m / (√v + ε), with the step's bias corrections in η.
std::vector<OptimizerStep> optimizer_steps(
    Optimizer optimizer, const ScalarTree& weight, const ScalarTree& gradient,
    const std::function<TensorAccess(const std::string& suffix)>& like);

}  // namespace sluice
