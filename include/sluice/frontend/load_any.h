#pragma once

#include <string>
#include <vector>

#include "sluice/frontend/import.h"
#include "sluice/frontend/load.h"

namespace sluice {

/// As load_specs, for files of any tool: those of Timeloop and AccelForge are translated as
/// import_specs does (together, as one job), and merged with those of Sluice. What has no
/// counterpart stands among the warnings as notes. Places are those in the user's files.
/// `energy_file`: energies per action for the translated ones, empty: none.
Result<Specs> load_any_specs(const std::vector<std::string>& files, const LoadOptions& options,
                             const std::string& energy_file = {});

/// What was noted of the specs about places in files, which may be why something failed, and after
/// it the mistakes.
Diagnostics after_notes(const Diagnostics& notes, Diagnostics mistakes);

}  // namespace sluice
