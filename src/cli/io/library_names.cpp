#include "library_names.h"

#include <algorithm>
#include <fstream>
#include <system_error>

#include "sluice/support/library_dir.h"

namespace sluice::cli {
namespace fs = std::filesystem;
namespace {

const char* ending_in(const std::string& folder) {
  return folder == kNetworkFolder ? ".csv" : ".yaml";
}

/// The comment that a file begins with, up to its first empty line, on one line.
std::string leading_comment(const fs::path& file) {
  std::ifstream in(file);
  std::string text;
  for (std::string line; std::getline(in, line) && !line.empty() && line[0] == '#';) {
    const std::size_t start = line.find_first_not_of("# ");
    if (start == std::string::npos) break;
    text += (text.empty() ? "" : " ") + line.substr(start);
  }
  return text;
}

/// Up to the first full stop that a capital follows, without it ("et al. 2017" goes on).
std::string first_sentence(const std::string& text) {
  for (std::size_t at = text.find(". "); at != std::string::npos; at = text.find(". ", at + 1))
    if (at + 2 < text.size() && text[at + 2] >= 'A' && text[at + 2] <= 'Z')
      return text.substr(0, at);
  return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}

}  // namespace

std::vector<LibraryEntry> library_entries(const std::string& folder) {
  std::vector<LibraryEntry> entries;
  std::error_code error;
  for (const fs::directory_entry& file : fs::directory_iterator(library_dir() / folder, error)) {
    if (file.path().extension() != ending_in(folder)) continue;
    entries.push_back(
        {file.path().stem().string(), first_sentence(leading_comment(file.path())), file.path()});
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
    const fs::path path = library_dir() / folder / (name + ending_in(folder));
    if (fs::is_regular_file(path, error)) return path;
  }
  return std::nullopt;
}

}  // namespace sluice::cli
