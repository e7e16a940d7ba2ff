#pragma once

#include <string>
#include <vector>

#include "sluice/frontend/spec_schema.h"

namespace sluice {

/// The schema of spec files as their readers know it: learnt by watching them read specs that use
/// every key.
SpecSchema spec_schema();

/// Those specs, as YAML.
std::vector<std::string> specs_that_use_everything();

}  // namespace sluice
