#include "library_names.h"

#include <algorithm>
#include <fstream>
#include <system_error>

#include "sluice/support/library_dir.h"

namespace sluice::cli {
namespace fs = std::filesystem;
namespace {

std::string first_comment(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line) || line.empty() || line[0] != '#') return "";
  const std::size_t start = line.find_first_not_of("# ");
  return start == std::string::npos ? "" : line.substr(start);
}

}  // namespace

std::vector<LibraryEntry> library_entries(const std::string& folder) {
  std::vector<LibraryEntry> entries;
  std::error_code error;
  for (const fs::directory_entry& file : fs::directory_iterator(library_dir() / folder, error)) {
    if (file.path().extension() != ".yaml") continue;
    entries.push_back({file.path().stem().string(), first_comment(file.path()), file.path()});
  }
  std::sort(entries.begin(), entries.end(),
            [](const LibraryEntry& a, const LibraryEntry& b) { return a.name < b.name; });
  return entries;
}

std::optional<fs::path> find_in_library(const std::string& name,
                                        const std::vector<std::string>& folders) {
  if (name.empty() || name.find('/') != std::string::npos) return std::nullopt;
  for (const std::string& folder : folders) {
    std::error_code error;
    const fs::path path = library_dir() / folder / (name + ".yaml");
    if (fs::is_regular_file(path, error)) return path;
  }
  return std::nullopt;
}

}  // namespace sluice::cli
