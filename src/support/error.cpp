#include "sluice/support/error.h"

namespace sluice {

void fail_internal_check(const char* condition, const char* file, int line,
                         const std::string& message) {
  throw InternalError(std::string(file) + ":" + std::to_string(line) + ": internal check `" +
                      condition + "` failed: " + message);
}

}  // namespace sluice
