#pragma once

#include "frontend/import/timeloop.h"

namespace sluice::timeloop {

/// Reads energies per action, in pJ where no unit is given. Forms: Accelergy's `ERT: {tables: […]}`
/// and `ERT_summary`, a map `COMPONENT: {ACTION: energy}`, and the levels of a Timeloop run.
EnergyTable read_energy_table(ImportContext& context, const YamlNode& document);

}  // namespace sluice::timeloop
