#include "sluice/kapla/run.h"

namespace sluice::kapla {

bool is_exhaustive(const Run& run) { return run.solver.rfind("exhaustive", 0) == 0; }

Compatibility kapla_compatibility(const std::string& solver) {
  return {true, solver == "KAPLA", true, true, true, true};
}

}  // namespace sluice::kapla
