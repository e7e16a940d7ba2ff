#pragma once

#include <map>
#include <string>

#include "frontend/import/reading/import_context.h"

namespace sluice {

/// Puts what `--set` gives in the place of what `variables`, and those of an AccelForge
/// architecture, say. Their names are among those that `--set` may give. Reported are values that
/// are no expressions, or name what is not there, where the file has an expression.
void give_variables(ImportContext& context, Sections& sections,
                    const std::map<std::string, std::string>& given);

}  // namespace sluice
