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

/// Which memories hold which tensors of the only Einsum, where they may or may not. Nothing of
/// several Einsums: their choices are exchanges. `other` is not answered yet.
std::vector<HoldingChoice> holding_choices(const BoundProblem& problem, const Mapping& mapping);

/// The constraint that asks for the other choice.
FusionConstraint other_choice(const ExchangeChoice& choice);
StorageConstraint other_choice(const HoldingChoice& choice);

}  // namespace sluice::cli
