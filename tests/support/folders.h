#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace sluice::testing {

/// Root of the source tree that the test was built from.
std::filesystem::path repository_dir();

/// The program `sluice` of the same build.
std::string sluice_program();

/// Folder of the reference data that is not part of the repository: $SLUICE_GOLDEN_DIR, or else
/// `../shared/golden` beside the repository. Nothing where it does not exist.
std::optional<std::filesystem::path> reference_data_dir();

}  // namespace sluice::testing
