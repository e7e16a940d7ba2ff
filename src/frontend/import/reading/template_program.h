#pragma once

#include <optional>
#include <string>

#include "sluice/frontend/import.h"

namespace sluice {

/// What Jinja2 makes of a template, run by the system's Python with the variables of the options:
/// a JSON object with `text`, `includes` (texts that `include` named: the text has
/// `__include_0.key` in their place, and `__include_0_2.key` for three at once), `files` (all that
/// were read; lines begin with marks `\x02file:line\x03` where these change nothing) and `names`
/// (variables that the templates ask for), or with `error` and `line`. Nothing where Python could
/// not be run.
std::optional<std::string> rendered_as_json(const ImportOptions& options, const std::string& path);

}  // namespace sluice
