#include "frontend/source_files.h"

#include <utility>

#include "frontend/text_encoding.h"

namespace sluice {

std::size_t SourceFiles::add(std::string name, std::string text) {
  File file{.name = std::move(name), .text = utf8_of(std::move(text)), .line_starts = {0}};
  for (std::size_t i = 0; i < file.text.size(); ++i)
    if (file.text[i] == '\n') file.line_starts.push_back(i + 1);
  files_.push_back(std::move(file));
  return files_.size() - 1;
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
