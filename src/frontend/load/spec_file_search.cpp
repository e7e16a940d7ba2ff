#include <algorithm>
#include <filesystem>

#include "sluice/frontend/load.h"

namespace sluice {
namespace fs = std::filesystem;
namespace {

/// A library folder and the folders directly inside it.
std::vector<fs::path> folders(const std::string& library_dir) {
  std::vector<fs::path> result = {library_dir};
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(library_dir, error))
    if (entry.is_directory(error)) result.push_back(entry.path());
  std::sort(result.begin() + 1, result.end());
  return result;
}

/// Specs are YAML, networks are tables.
constexpr const char* kEndings[] = {".yaml", ".csv"};

bool is_spec_file(const fs::path& file) {
  return std::find(std::begin(kEndings), std::end(kEndings), file.extension()) !=
         std::end(kEndings);
}

}  // namespace

std::optional<std::string> find_spec_file(const std::string& name, const LoadOptions& options) {
  std::error_code error;
  if (fs::exists(name, error)) return name;
  if (name.find('/') != std::string::npos) return std::nullopt;
  for (const std::string& dir : options.library_dirs) {
    for (const fs::path& folder : folders(dir)) {
      for (const char* ending : {kEndings[0], kEndings[1], ""})
        if (const fs::path file = folder / (name + ending); fs::is_regular_file(file, error))
          return file.string();
    }
  }
  return std::nullopt;
}

std::vector<std::string> library_names(const LoadOptions& options) {
  std::vector<std::string> names;
  std::error_code error;
  for (const std::string& dir : options.library_dirs)
    for (const fs::path& folder : folders(dir))
      for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
        if (is_spec_file(entry.path())) names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace sluice
