#include "leftovers.h"

#include <memory>

namespace sluice::cli {

// Freed where leaks are looked for: TBB's vectors have their segments where no pointer leads.
Leftovers& leftovers() {
#ifdef __SANITIZE_ADDRESS__
  static Leftovers tables;
#else
  static auto& tables = *std::make_unique<Leftovers>().release();
#endif
  return tables;
}

}  // namespace sluice::cli
