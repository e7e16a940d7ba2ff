#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sluice::cli {

/// One file of the shipped library.
struct LibraryEntry {
  std::string name;         ///< what a user writes: the file's stem
  std::string description;  ///< the first sentence of its leading comment
  std::filesystem::path path;
};

/// The folders of the library.
inline constexpr const char* kWorkloadFolder = "workloads";
inline constexpr const char* kArchitectureFolder = "architectures";
inline constexpr const char* kComponentFolder = "components";  ///< classes of components
inline constexpr const char* kNetworkFolder = "networks";      ///< tables, not YAML
inline constexpr const char* kShapeFolder = "shapes";  ///< named values of a workload's variables

/// All entries of a folder, by name. Empty where the folder does not exist.
std::vector<LibraryEntry> library_entries(const std::string& folder);

/// The file of that name in one of the folders (the first that has it).
std::optional<std::filesystem::path> find_in_library(const std::string& name,
                                                     const std::vector<std::string>& folders);

}  // namespace sluice::cli
