#pragma once

#include <vector>

#include "sluice/report/explanation.h"

namespace sluice::cli {

/// What each Einsum costs and waits for. `alone` is not answered yet.
std::vector<EinsumAccount> einsum_accounts(const BoundProblem& problem, const Cost& cost,
                                           Objective objective);

/// The choice for each tensor that one Einsum makes for others. `other` is not answered yet. Left
/// out: tensors that some Einsums have on chip and others not.
std::vector<ExchangeChoice> exchange_choices(const BoundProblem& problem, const Mapping& mapping);

/// The constraint that asks for the other choice.
FusionConstraint other_choice(const ExchangeChoice& choice);

}  // namespace sluice::cli
