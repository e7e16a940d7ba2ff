#pragma once

#include <optional>

#include "frontend/import/accelforge/arch_variables.h"
#include "frontend/import/reading/energy_table.h"
#include "frontend/import/reading/import_context.h"

namespace sluice {

/// An AccelForge architecture with its forms that Sluice has not written as those it has:
/// variables and fanouts in expressions; what a component says of all its actions, at each of them;
/// `latency` of an action as throughput; `values_per_action` as a number; a toll with several
/// directions as one for each; networks by their `hop`; `component_class: Dummy` as no energy, no
/// area, no time; `usage_scale` in the fanout; scales of energies, throughputs, areas and leakage
/// in these. `bits`: of every value of the workload, where they are all alike. `energies` (may be
/// null) go before what the architecture says.
YamlPointer with_own_forms(ImportContext& context, const YamlPointer& arch,
                           const ArchVariables& variables, std::optional<double> bits,
                           const timeloop::EnergyTable* energies);

}  // namespace sluice
