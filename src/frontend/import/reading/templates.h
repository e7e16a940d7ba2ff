#pragma once

#include <string>
#include <vector>

#include "frontend/import/reading/import_context.h"
#include "sluice/frontend/import.h"

namespace sluice {

/// Documents of a file. A file with Jinja in it is rendered by the Jinja2 of the system's Python;
/// what it includes and what it merges (`<<<`) is put in place.
std::vector<YamlPointer> documents_of(ImportContext& context, const ImportOptions& options,
                                      const std::string& path, const std::string& text);

}  // namespace sluice
