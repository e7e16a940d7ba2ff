#include "frontend/yaml/source_files.h"

#include <algorithm>
#include <utility>

#include "frontend/yaml/text_encoding.h"

namespace sluice {

std::size_t SourceFiles::add(std::string name, std::string text) {
  File file{
      .name = std::move(name), .text = utf8_of(std::move(text)), .line_starts = {0}, .origins = {}};
  for (std::size_t i = 0; i < file.text.size(); ++i)
    if (file.text[i] == '\n') file.line_starts.push_back(i + 1);
  files_.push_back(std::move(file));
  return files_.size() - 1;
}

std::size_t SourceFiles::add(std::string name, std::string text,
                             std::vector<SourcePosition> origins) {
  const std::size_t file = add(std::move(name), std::move(text));
  files_[file].origins = std::move(origins);
  return file;
}

/// The column stays where the line was taken over as it is.
SourcePosition SourceFiles::origin(const SourcePosition& position) const {
  if (position.file >= files_.size() || files_[position.file].origins.empty()) return position;
  const std::vector<SourcePosition>& origins = files_[position.file].origins;
  const auto index = static_cast<std::size_t>(std::max(position.line, 1)) - 1;
  SourcePosition origin = origins[std::min(index, origins.size() - 1)];
  if (line(origin) == line(position)) origin.column = position.column;
  return origin;
}

std::string SourceFiles::line(const SourcePosition& position) const {
  if (position.line <= 0 || position.file >= files_.size()) return {};
  const File& file = files_[position.file];
  const auto index = static_cast<std::size_t>(position.line) - 1;
  if (index >= file.line_starts.size()) return {};
  const std::size_t start = file.line_starts[index];
  std::size_t end = file.text.find('\n', start);
  if (end == std::string::npos) end = file.text.size();
  if (end > start && file.text[end - 1] == '\r') --end;
  return file.text.substr(start, end - start);
}

}  // namespace sluice
