#pragma once

#include <filesystem>

namespace sluice {

/// Folder of the shipped workloads and architectures.
///
/// A shared object (the Python package) finds `share/sluice/library` beside itself.
/// An installed program finds `../share/sluice/library` beside its own `bin` folder; a program of
/// the build tree finds `library/` of the source tree. Where neither exists the first is returned,
/// so that the error of whoever opens a file in it names the place that was looked at.
std::filesystem::path library_dir();

}  // namespace sluice
