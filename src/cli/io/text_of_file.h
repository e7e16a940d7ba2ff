#pragma once

#include <fstream>
#include <string>

namespace sluice::cli {

/// A file to read. Throws Failure(kFileTrouble) where it cannot be opened, or is a folder.
std::ifstream open_file(const std::string& path);

/// The whole file. Throws Failure(kFileTrouble) where it cannot be read, or is a folder.
std::string text_of_file(const std::string& path);

}  // namespace sluice::cli
