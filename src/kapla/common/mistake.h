#pragma once

#include <string>
#include <utility>

#include "sluice/support/diagnostic.h"

namespace sluice::kapla {

/// One mistake at a place.
inline tl::unexpected<Diagnostics> mistake_at(const SourceLocation& place, std::string message,
                                              std::string hint = "") {
  Diagnostic diagnostic;
  diagnostic.location = place;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  return tl::unexpected(Diagnostics{std::move(diagnostic)});
}

}  // namespace sluice::kapla
