#pragma once

#include <string>

#include "sluice/sweep/sweep.h"

namespace sluice::python {

// What processes of a cluster tell each other, as JSON. Numbers come back to the last bit.

/// The inputs of a search: canonical YAML of its specs, its options, and the key of all that.
std::string inputs_text(const SweepInputs& inputs);
/// The same inputs. Throws cli::Failure where this Sluice makes another key of them: it is of
/// another version.
SweepInputs inputs_from(const std::string& text);

std::string run_text(const SweepRun& run);
SweepRun run_from(const std::string& text);

}  // namespace sluice::python
