#pragma once

#include <string>

namespace sluice::cli {

/// The whole file. Throws Failure(kFileTrouble) where it cannot be read, or is a folder.
std::string text_of_file(const std::string& path);

}  // namespace sluice::cli
