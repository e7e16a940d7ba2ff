#pragma once

#include <optional>
#include <string>

#include "frontend/yaml/read_context.h"

namespace sluice {

/// The text of a file within the limits of the load; what keeps it from being read is reported.
std::optional<std::string> file_text(ReadContext& context, const std::string& path);

}  // namespace sluice
