#pragma once

#include <string_view>

namespace sluice {

/// Version of this build as "major.minor.patch", the same as in CMake's find_package(sluice).
std::string_view version();

}  // namespace sluice
