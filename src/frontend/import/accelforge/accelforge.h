#pragma once

#include <map>
#include <string>

#include "frontend/import/reading/energy_table.h"
#include "frontend/import/reading/placed_text.h"
#include "sluice/frontend/import.h"

namespace sluice {

/// Which places of the user's files the texts of ImportedSpecs stand for.
struct ImportedPlaces {
  PlacedText workload, arch, mapping, constraints;
};

/// Sections of AccelForge files: `arch`, `workload`, `renames`, `mapping`, `variables`. Their
/// vocabulary is Sluice's; what Sluice does not know is noted and left out. Numbers that AccelForge
/// takes from its component models are null (energies) or noted.
/// `places`: where the texts come from.
void translate_accelforge(ImportContext& context,
                          const std::map<std::string, YamlPointer>& sections,
                          const timeloop::EnergyTable* energies, ImportedSpecs& result,
                          ImportedPlaces& places);

}  // namespace sluice
