#include "support/folders.h"

#include <cstdlib>

namespace sluice::testing {
namespace fs = std::filesystem;

fs::path repository_dir() { return SLUICE_REPO_DIR; }
std::string sluice_program() { return SLUICE_PROGRAM; }

std::optional<fs::path> reference_data_dir() {
  const char* chosen = std::getenv("SLUICE_GOLDEN_DIR");
  const fs::path folder = chosen ? fs::path(chosen) : repository_dir() / "../shared/golden";
  if (!fs::is_directory(folder)) return std::nullopt;
  return fs::canonical(folder);
}

}  // namespace sluice::testing
