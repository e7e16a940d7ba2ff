#pragma once

#include "scheme_fields.h"
#include "sluice/kapla/scheme.h"

namespace sluice::kapla {

/// The `directives` of a scheme. Throws SchemeMistake.
SchemeDirectives read_directives(const SchemeFields& fields);

}  // namespace sluice::kapla
