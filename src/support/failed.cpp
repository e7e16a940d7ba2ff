#include "sluice/support/failed.h"

namespace sluice {

Diagnostic error_without_place(const std::string& message, const std::string& hint,
                               DiagnosticCause cause) {
  Diagnostic diagnostic;
  diagnostic.message = message;
  diagnostic.hint = hint;
  diagnostic.cause = cause;
  return diagnostic;
}

tl::unexpected<Diagnostics> failed(const std::string& message, const std::string& hint,
                                   DiagnosticCause cause) {
  return tl::unexpected(Diagnostics{error_without_place(message, hint, cause)});
}

}  // namespace sluice
