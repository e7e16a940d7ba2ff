#pragma once

#include <string>
#include <vector>

#include "sluice/model/binding.h"
#include "sluice/model/cost.h"

namespace sluice {

/// Whether how long an action takes is not known (`throughput: null`, a NaN).
bool has_unknown_time(const Component& component, const Action& action);

/// Actions whose time is not known: `read of DRAM`.
std::vector<std::string> unknown_times(const Arch& arch);

/// The architecture with no limit where a time is not known: what takes it for known sees times
/// that are at most too short.
Arch with_unlimited_times(Arch arch);

/// Takes back every number of a cost that depends on such a time: latencies, and energies where
/// something leaks.
void forget_unknown_times(const BoundProblem& problem, Cost* cost);

/// Whether the energy of some action is not known (`energy: null`, a NaN).
bool has_unknown_energies(const Arch& arch);

/// The architecture with none where an energy is not known: for whoever compares times alone.
Arch without_unknown_energies(Arch arch);

/// Whether a time or an energy is not known.
bool has_unknown_prices(const Arch& arch);

/// The problem as searches see it that do not ask for what is not known: no limit and no energy
/// there. What they find is to be priced again with the problem as it was.
BoundProblem without_unknown_prices(BoundProblem problem);

}  // namespace sluice
