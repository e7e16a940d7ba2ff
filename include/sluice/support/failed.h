#pragma once

#include <string>

#include "sluice/support/diagnostic.h"

namespace sluice {

/// An error that belongs to no place in a file.
Diagnostic error_without_place(const std::string& message, const std::string& hint = "",
                               DiagnosticCause cause = DiagnosticCause::kContent);

/// The same as the outcome of a call.
tl::unexpected<Diagnostics> failed(const std::string& message, const std::string& hint = "",
                                   DiagnosticCause cause = DiagnosticCause::kContent);

}  // namespace sluice
