#pragma once

#include <filesystem>
#include <string>

namespace sluice::cli {

/// Makes the folder `-o` names (and its parents). Throws Failure(kFileTrouble).
void make_output_folder(const std::filesystem::path& folder);

/// Writes a file so that a reader sees the old or the new contents, never a part: a temporary file
/// beside it, then a rename. Throws Failure(kFileTrouble).
void write_atomically(const std::filesystem::path& file, const std::string& text);

}  // namespace sluice::cli
